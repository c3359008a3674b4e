"""The daily commands: each calls the pipeline and renders what comes back."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from vendor_tool import lockfile
from vendor_tool.cli import output
from vendor_tool.cli.output import Voice
from vendor_tool.errors import ExitCode
from vendor_tool.model import Access


def voice(arguments: argparse.Namespace) -> Voice:
    """How to speak, from the options before the command."""
    return Voice(arguments.verbose, arguments.quiet, arguments.color)


def cache() -> Path:
    """The user's cache folder for this tool."""
    if named := os.environ.get("VENDOR_TOOL_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vendor-tool"


def access(arguments: argparse.Namespace) -> Access:
    """How upstreams may be reached."""
    offline = bool(getattr(arguments, "offline", False))
    return Access(cache(), offline, output.progress(voice(arguments)))


def sync(arguments: argparse.Namespace) -> ExitCode:
    from vendor_tool.pipeline import sync as pipeline

    done = pipeline.run(
        arguments.lock, arguments.names, access(arguments), force=arguments.force, dry_run=arguments.dry_run
    )
    speak = voice(arguments)
    for note in done.notes:
        output.say(speak, f"{note.path}:{note.line}: {note.level}: {note.message}")
    for path in done.written:
        output.say(speak, f"{'would write' if arguments.dry_run else 'wrote'} {path}")
    for path in done.removed:
        output.say(speak, f"{'would remove' if arguments.dry_run else 'removed'} {path}")
    output.say(speak, _summary(done.written, done.removed, done.files, dry_run=arguments.dry_run))
    return ExitCode.CLEAN


def _summary(written: tuple[str, ...], removed: tuple[str, ...], files: int, *, dry_run: bool) -> str:
    if not written and not removed:
        return f"nothing to do: {output.count(files, 'file')} as the lock says"
    verb = "would be " if dry_run else ""
    parts = [f"{output.count(len(written), 'file')} {verb}written"]
    if removed:
        parts.append(f"{len(removed)} {verb}removed")
    return ", ".join(parts)


def check(arguments: argparse.Namespace) -> ExitCode:
    from vendor_tool.checks import drift
    from vendor_tool.pipeline import check as pipeline

    lock = lockfile.load(arguments.lock, cache())
    names = pipeline.known(lock, arguments.names)
    found = pipeline.check(lock, names, cache())
    if arguments.rebuild:
        found += pipeline.rebuild(lock, names, access(arguments))
    return output.findings(
        found,
        drift.RULES,
        lock=arguments.lock,
        form=arguments.format,
        target=arguments.output,
        voice=voice(arguments),
    )
