"""`report`: the whole lock as a page for people."""

from __future__ import annotations

import argparse

from vendor_tool import lockfile
from vendor_tool.cli import output
from vendor_tool.cli.arguments import cache
from vendor_tool.cli.commands import access, voice
from vendor_tool.errors import ExitCode


def report(arguments: argparse.Namespace) -> ExitCode:
    """Write the page. Findings are part of it, and no failure of the command."""
    from vendor_tool.pipeline import report as pipeline

    page, unread = pipeline.page(lockfile.load(arguments.lock, cache()), access(arguments))
    output.document(page, arguments.html, option="--html")
    speak = voice(arguments)
    if arguments.html != "-":
        output.say(speak, f"wrote {arguments.html}")
    if unread:
        files = output.count(unread, "file")
        output.say(
            speak, f"{files} of upstream's not in the cache, so not compared: `vendor-tool check --rebuild` fetches"
        )
    return ExitCode.CLEAN
