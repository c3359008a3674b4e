"""`diff`: what stands between two states of an entry's files, as git would show it."""

from __future__ import annotations

import argparse

from vendor_tool import lockfile
from vendor_tool.cli import output
from vendor_tool.cli.arguments import cache
from vendor_tool.cli.commands import access
from vendor_tool.errors import ExitCode
from vendor_tool.pipeline import difference, series


def diff(arguments: argparse.Namespace) -> ExitCode:
    """Print the difference; exit 0 whether there is one or not."""
    lock = lockfile.load(arguments.lock, cache())
    upstream = series.one(lock, arguments.name)
    output.raw(
        difference.difference(
            lock, upstream, access(arguments), old=arguments.old, new=arguments.new, state=arguments.state
        )
    )
    return ExitCode.CLEAN
