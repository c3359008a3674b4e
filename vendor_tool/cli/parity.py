"""`parity`: run the GPU tests of vendored kernels and record what was seen."""

from __future__ import annotations

import argparse

from vendor_tool import lockfile
from vendor_tool.cli import output
from vendor_tool.cli.arguments import cache
from vendor_tool.cli.commands import access, voice
from vendor_tool.errors import ExitCode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vendor_tool.parity.run import Outcome, Step


def parity(arguments: argparse.Namespace) -> ExitCode:
    """Exit 0 where all passed or nothing could run, 6 where a test failed, 7 where a run was required and none was."""
    from vendor_tool.parity import run as pipeline

    lock = lockfile.load(arguments.lock, cache())
    if arguments.plan:
        steps = pipeline.plan(lock, arguments.names, gpus=arguments.gpus)
        output.document("".join(f"{line}\n" for step in steps for line in _plan(step)), None)
        return ExitCode.CLEAN
    if arguments.measured is not None:
        from vendor_tool.parity import report

        measured = report.read(arguments.measured)
        outcome = pipeline.conclude(lock, measured, require=arguments.require, update=arguments.update_evidence)
        return _told(arguments, outcome)
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
    )
    return _told(arguments, outcome)


def _told(arguments: argparse.Namespace, outcome: Outcome) -> ExitCode:
    if outcome.table:
        output.document(outcome.table, None)
    for one in outcome.findings:
        output.say(voice(arguments), f"{one.path or one.upstream}: {one.level}: {one.message}")
    output.say(voice(arguments), f"parity: {outcome.status}: {outcome.reason}")
    if arguments.update_evidence and outcome.evidence:
        output.say(voice(arguments), "next: vendor-tool sync, which writes the evidence into PROVENANCE.md")
    return ExitCode.PARITY_FAILED if outcome.status == "failed" else ExitCode.CLEAN


def _plan(step: Step) -> list[str]:
    lines = [f"{step.upstream}: {', '.join(step.kernels) or 'nothing to test'}"]
    lines += [f"  because {reason}" for reason in step.why]
    return lines + [f"  not here: {reason}" for reason in step.obstacles]
