"""`completion`: the script that a shell needs to complete commands and options."""

from __future__ import annotations

import argparse

from vendor_tool.cli import output
from vendor_tool.cli.arguments import parser
from vendor_tool.errors import ExitCode


def completion(arguments: argparse.Namespace) -> ExitCode:
    """Print the script for one shell."""
    import shtab

    output.document(shtab.complete(parser(), arguments.shell) + "\n", None)
    return ExitCode.CLEAN
