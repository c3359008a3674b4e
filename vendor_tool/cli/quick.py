"""Commands that are answered from what was found before, where nothing has changed since: start-up is all they cost."""

from __future__ import annotations

import argparse
import os
import sys

from vendor_tool.cli.arguments import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vendor_tool.model import Lock


def answered(arguments: argparse.Namespace) -> bool:
    """Say once more that all is well, if it is for sure."""
    question = _question(arguments)
    if question is None:
        return False
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
    shown = sorted((key, str(value)) for key, value in options.items() if key not in ("lock", "lock_given", "call"))
    return repr((shown, sys.stdout.isatty(), "NO_COLOR" in os.environ))
