"""Commands that are answered from what was found before, where nothing has changed since: start-up is all they cost."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from vendor_tool.cli import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from vendor_tool.errors import ExitCode
    from vendor_tool.model import Lock
    from vendor_tool.pipeline.again import Earlier
    from vendor_tool.remote import Command
    from vendor_tool.vcs import Ran


def answered(arguments: argparse.Namespace) -> bool:
    """Say once more that all is well, if it is for sure."""
    question = _question(arguments)
    if question is None:
        return False
    from vendor_tool.cli.arguments import cache
    from vendor_tool.pipeline import verdict

    said = verdict.recall(arguments.lock, cache(), question=question)
    if said is None:
        return False
    sys.stdout.write(said[0])
    sys.stderr.write(said[1])
    return True


def keep(arguments: argparse.Namespace, lock: Lock, *, out: str = "", err: str = "") -> None:
    """Remember what was said when all was well."""
    question = _question(arguments)
    if question is not None:
        from vendor_tool.cli.arguments import cache
        from vendor_tool.pipeline import verdict

        verdict.remember(lock, cache(), question=question, out=out, err=err)


def _question(arguments: argparse.Namespace) -> str | None:
    """The command with its options and what else shapes the words; None for one that looks at more than files."""
    options = vars(arguments)
    further = {
        "check": ("rebuild", "codegen", "output", "also", "baseline", "write_baseline"),
        "sync": ("force", "dry_run", "resume", "abort", "format", "also"),
    }.get(arguments.command)
    if further is None or options["names"] or any(options[key] for key in further):
        return None
    left_out = ("lock", "lock_given", "call", "earlier")
    shown = sorted((key, str(value)) for key, value in options.items() if key not in left_out)
    return repr((shown, _around(str(arguments.lock))))


def _around(lock: str) -> tuple[object, ...]:
    """What else shapes a report: whether it is coloured, and from where it names its paths."""
    folder = os.path.realpath(os.path.dirname(lock))  # noqa: PTH120 - `pathlib` costs more
    terminal = sys.stdout is not None and sys.stdout.isatty()
    return terminal, "NO_COLOR" in os.environ, folder, places.top(folder)


# ---- outdated: upstreams are asked before anything else is loaded -----------------------------------------


def earlier(words: Sequence[str]) -> Earlier | None:
    """What `outdated` told when it was last asked in these words, and what upstreams list now.

    None for other commands, and where an option stands before the command, which may name another lock.
    """
    if words[:1] != ["outdated"] or sys.stdout is None:
        return None
    from vendor_tool.pipeline import again

    lock = places.lock()
    return again.recall(lock, places.cache(), repr((words, _around(lock))))


def told(arguments: argparse.Namespace) -> Mapping[Command, Ran]:
    """What upstreams list, as far as they were asked already."""
    return arguments.earlier.told if arguments.earlier is not None else {}


def keep_told(
    arguments: argparse.Namespace, lock: Lock, out: str, *, code: ExitCode, asked: Mapping[Command, Ran | None]
) -> None:
    """Remember a report for who asks in the same words, where it rests on nothing that is not looked at again."""
    elsewhere = (arguments.wheels, arguments.output, arguments.also, arguments.baseline, arguments.write_baseline)
    if arguments.earlier is not None and not any(elsewhere):
        from vendor_tool.pipeline import again
        from vendor_tool.urls import redacted

        again.keep(arguments.earlier, again.Answer(redacted(out), code), lock, asked=asked)
