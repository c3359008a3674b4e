"""`patch`: local changes as a series of patches."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import datetime, timezone
from pathlib import Path

from vendor_tool import lockfile
from vendor_tool.cli import output
from vendor_tool.cli.arguments import cache
from vendor_tool.cli.commands import access, say_done, voice
from vendor_tool.errors import ExitCode, UsageError
from vendor_tool.pipeline import listing, series


def patch(arguments: argparse.Namespace) -> ExitCode:
    """Run one of the commands below `patch`."""
    commands = {"new": _new, "refresh": _refresh, "list": _list, "drop": _drop, "show": _show, "export": _export}
    return commands[arguments.action](arguments)


def _new(arguments: argparse.Namespace) -> ExitCode:
    files = _local(arguments.files, arguments.lock.parent)
    found = series.edited(arguments.lock, arguments.name, files, access(arguments))
    head = _head(arguments, found)
    done = series.new(arguments.lock, arguments.name, head, access(arguments), files=files)
    say_done(voice(arguments), done, dry_run=False)
    return ExitCode.CLEAN


def _local(files: list[Path], root: Path) -> tuple[str, ...]:
    """Paths as they were typed, from the folder one stands in, as local paths."""
    here = Path(os.getcwd())  # noqa: PTH109 - keeps the spelling of a linked folder
    return tuple(Path(os.path.relpath(here / file, root.absolute())).as_posix() for file in files)


def _head(arguments: argparse.Namespace, files: tuple[str, ...]) -> dict[str, str]:
    """The DEP-3 fields: options first, then what a person answers on a terminal, then what can be told."""
    given = {
        "Description": arguments.title or arguments.message,
        "Origin": arguments.origin,
        "Bug": arguments.bug,
        "Forwarded": arguments.forwarded,
        "Author": arguments.author or author(arguments.lock.parent),
    }
    default = f"Change {', '.join(Path(file).name for file in files)}"
    if sys.stdin.isatty() and sys.stderr.isatty() and not arguments.quiet:
        given["Description"] = given["Description"] or _ask("what does it change, and why", default)
        if not given["Origin"]:
            given["Forwarded"] = given["Forwarded"] or _ask("forwarded to upstream (URL, no or not-needed)", "no")
        given["Bug"] = given["Bug"] or _ask("bug report (URL)", "")
    given["Description"] = (given["Description"] or default).strip()
    if not given["Origin"]:
        given["Forwarded"] = given["Forwarded"] or "no"
    return {**{name: value for name, value in given.items() if value}, "Last-Update": today()}


def _ask(question: str, default: str) -> str:
    shown = f" [{default}]" if default else ""
    print(f"{question}{shown}: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip() or default


def author(root: Path) -> str:
    """Whose a new patch is, from git. UsageError where git does not know."""
    name, address = (os.environ.get(f"GIT_AUTHOR_{key}") for key in ("NAME", "EMAIL"))
    found = f"{name} <{address}>" if name and address else series.author(root)
    if found is None:
        raise UsageError("git does not know who you are", hint="give `--author 'Name <address>'`, or set `user.name`")
    return found


def today() -> str:
    """The day that is written down; SOURCE_DATE_EPOCH sets it, as in other tools whose output shall not vary."""
    stamp = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.fromtimestamp(int(stamp), timezone.utc) if stamp and stamp.isdecimal() else datetime.now()
    return now.date().isoformat()


def _refresh(arguments: argparse.Namespace) -> ExitCode:
    done = series.refresh(arguments.lock, arguments.name, arguments.patch, today(), access(arguments))
    say_done(voice(arguments), done, dry_run=False)
    return ExitCode.CLEAN


def _drop(arguments: argparse.Namespace) -> ExitCode:
    say_done(
        voice(arguments),
        series.drop(arguments.lock, arguments.name, arguments.patch, access(arguments)),
        dry_run=False,
    )
    return ExitCode.CLEAN


def _list(arguments: argparse.Namespace) -> ExitCode:
    from vendor_tool.reports.series import FORMS

    lock = lockfile.load(arguments.lock, cache())
    chosen = [series.one(lock, arguments.name)] if arguments.name else list(lock.upstreams.values())
    found = [
        listing.listing(lock, upstream, access(arguments), arguments.against)
        for upstream in chosen
        if upstream.patches or arguments.name
    ]
    for form, target in [*arguments.also, (arguments.format, arguments.output)]:
        output.document(FORMS[form](found), target)
    return ExitCode.CLEAN


def _show(arguments: argparse.Namespace) -> ExitCode:
    lock = lockfile.load(arguments.lock, cache())
    output.raw(listing.show(lock, series.one(lock, arguments.name), arguments.patch))
    return ExitCode.CLEAN


def _export(arguments: argparse.Namespace) -> ExitCode:
    lock = lockfile.load(arguments.lock, cache())
    mails = listing.export(lock, series.one(lock, arguments.name), arguments.patch, access(arguments))
    if arguments.output is None:
        output.raw(b"".join(mails.values()))
        return ExitCode.CLEAN
    try:
        arguments.output.mkdir(parents=True, exist_ok=True)
        for name, mail in mails.items():
            (arguments.output / name).write_bytes(mail)
            output.say(voice(arguments), f"wrote {arguments.output / name}")
    except OSError as problem:
        raise UsageError(
            f"cannot write in `{arguments.output}`: {problem.strerror}", hint="name another folder with `-o`"
        ) from None
    return ExitCode.CLEAN
