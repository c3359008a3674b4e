"""`parity`: run the GPU tests of vendored kernels and record what was seen."""

from __future__ import annotations

import argparse

from vendor_tool import lockfile
from vendor_tool.cli import output
from vendor_tool.cli.arguments import cache
from vendor_tool.cli.commands import access, voice
from vendor_tool.errors import ExitCode, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vendor_tool.model import Lock
    from vendor_tool.parity.conclusion import Outcome
    from vendor_tool.parity.run import Step


def parity(arguments: argparse.Namespace) -> ExitCode:
    """Exit 0 where all passed or nothing could run, 6 where a test failed, 7 where a run was required and none was."""
    from vendor_tool.parity import run as pipeline

    lock = lockfile.load(arguments.lock, cache())
    if arguments.plan:
        steps = pipeline.plan(lock, arguments.names, gpus=arguments.gpus)
        output.document("".join(f"{line}\n" for step in steps for line in _plan(step)), None)
        return ExitCode.CLEAN
    if arguments.measured is not None:
        return _told(arguments, _read(arguments, lock))
    outcome = pipeline.run(
        lock,
        arguments.names,
        access=access(arguments),
        require=arguments.require,
        gpus=arguments.gpus,
        update=arguments.update_evidence,
        junit=arguments.junit,
        json=arguments.json,
        ray=arguments.ray,
        seed=arguments.seed,
        timeout=arguments.timeout,
    )
    return _told(arguments, outcome)


def _read(arguments: argparse.Namespace, lock: Lock) -> Outcome:
    """What the measurements of another machine come to."""
    from vendor_tool.parity import conclusion, report

    beside = [
        name for name in ("ray", "junit", "json", "gpus", "seed", "timeout") if getattr(arguments, name) is not None
    ]
    if beside:
        raise UsageError(f"`--{beside[0]}` has no meaning beside `--from`, which runs nothing", hint="leave one out")
    measured = report.read(arguments.measured)
    if measured.broken:
        raise UsageError(
            f"`{arguments.measured}` is of a run that could not collect `{measured.broken[0]}`", hint="run parity again"
        )
    return conclusion.conclude(
        lock, measured, arguments.names, require=arguments.require, update=arguments.update_evidence
    )


def _told(arguments: argparse.Namespace, outcome: Outcome) -> ExitCode:
    if outcome.table:
        output.document(outcome.table, None)
    for one in outcome.findings:
        output.say(voice(arguments), f"{one.path or one.upstream}: {one.level}: {one.message}")
    output.say(voice(arguments), f"parity: {outcome.status}: {outcome.reason}")
    if arguments.update_evidence:
        for line in _recorded(outcome):
            output.say(voice(arguments), line)
    if arguments.update_evidence and (outcome.evidence or outcome.removed):
        output.say(voice(arguments), "next: vendor-tool sync, which writes the evidence into PROVENANCE.md")
    return ExitCode.PARITY_FAILED if outcome.status == "failed" else ExitCode.CLEAN


def _recorded(outcome: Outcome) -> list[str]:
    if outcome.status == "not run":
        return ["no evidence recorded: nothing was run"]
    found = [(name, record["gpu"]) for name, records in sorted((outcome.evidence or {}).items()) for record in records]
    lines = [f"evidence recorded: {name} on {gpu}" for name, gpu in found]
    lines += [f"evidence removed: {one}, which failed now" for one in outcome.removed]
    return lines + [f"no evidence recorded: {why}" for why in outcome.unrecorded]


def _plan(step: Step) -> list[str]:
    lines = [f"{step.upstream}: {', '.join(step.kernels) or 'nothing to test'}"]
    lines += [f"  because {reason}" for reason in step.why]
    return lines + [f"  not here: {reason}" for reason in step.obstacles]
