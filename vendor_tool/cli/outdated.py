"""`outdated`, the plan of `sync --dry-run`, and `fence`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from vendor_tool import lockfile, vcs
from vendor_tool.cli import output, quick
from vendor_tool.cli.arguments import cache
from vendor_tool.cli.commands import access, voice
from vendor_tool.cli.output import Voice
from vendor_tool.errors import ExitCode, UpstreamError, UsageError

if TYPE_CHECKING:
    from vendor_tool.pipeline.outdated import Report

LOST: Final = "upstream-unreachable"


def outdated(arguments: argparse.Namespace) -> ExitCode:
    """Ask every upstream; an exit code of 3 where one gave no answer, after the findings of the others."""
    if arguments.offline:
        raise UsageError(
            "`outdated` asks upstreams, which `--offline` forbids", hint="`vendor-tool check` needs no network"
        )
    from vendor_tool.checks import drift
    from vendor_tool.outdated import RULES
    from vendor_tool.pipeline import outdated as pipeline

    lock = lockfile.load(arguments.lock, cache())
    speak = voice(arguments)
    with vcs.watched(quick.told(arguments)) as commands:
        found = pipeline.outdated(
            lock, arguments.names, access(arguments), wheels=arguments.wheels, hunks=speak.verbose
        )
    findings, rules = list(found.findings), {**drift.RULES, **RULES}
    if arguments.write_baseline or arguments.baseline:
        from vendor_tool.cli import accepted

        lost = {one.upstream for one in findings if one.rule == LOST}
        asked: set[str | None] = {name.partition("@")[0] for name in arguments.names} or {*lock.upstreams, None}
        scope = accepted.Scope("outdated", RULES, asked - lost)
        if arguments.write_baseline:
            # an upstream that is back does other things than it did when it gave no answer
            findings = [one for one in findings if one.rule != LOST]
            code = accepted.write(arguments.write_baseline, findings, scope, speak)
            return _lost(found.lost) or code
        findings = accepted.new(arguments.baseline, findings, scope, speak)
    text = output.report(findings, rules, arguments, speak)
    if speak.verbose:
        _show(found, speak)
    code = output.code(findings) if arguments.exit_code else ExitCode.CLEAN
    if not found.lost:
        quick.keep_told(arguments, lock, text, code=code, asked=commands)
    return _lost(found.lost) or code


def _show(found: Report, speak: Voice) -> None:
    """The hunks in which copies of one file differ."""
    from vendor_tool.outdated.siblings import show

    for pair in found.siblings:
        if pair.hunks:
            output.say(speak, show(pair.left, pair.right, pair.hunks))
    for missed in found.missed:
        output.say(speak, f"{missed.finding.message}\n{show(missed.copy, missed.changed, missed.hunks)}")


def _lost(problems: Sequence[UpstreamError]) -> ExitCode:
    for problem in problems:
        output.error(problem.message, problem.hint)
    return ExitCode.UPSTREAM if problems else ExitCode.CLEAN


def plan(arguments: argparse.Namespace) -> None:
    """Print what upgrades would do, for those of `NAME@REV` that move their entry."""
    from vendor_tool.pipeline import preview as pipeline
    from vendor_tool.reports.plan import FORMS

    lock = lockfile.load(arguments.lock, cache())
    plans = pipeline.plans(lock, arguments.names, access(arguments))
    for form, target in [*arguments.also, (arguments.format or "text", arguments.output)]:
        output.document(FORMS[form](plans), target)


def fence(arguments: argparse.Namespace) -> ExitCode:
    """Print the excludes, or write them into the configurations that are there."""
    from vendor_tool.pipeline import fencing as pipeline

    lock = lockfile.load(arguments.lock, cache())
    if not arguments.write:
        snippets = (f"# {name}\n{text}" for name, text in pipeline.snippets(lock).items())
        output.document("\n".join(snippets), None)
        return ExitCode.CLEAN
    speak = voice(arguments)
    written = pipeline.write_all(lock)
    for name in written:
        output.say(speak, f"wrote {name}")
    if not written:
        output.say(speak, "nothing to do: every tool that is configured here leaves vendored files alone")
    return ExitCode.CLEAN
