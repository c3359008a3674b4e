"""The command line: parse, call, render, exit. The only place that prints and the only broad `except`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from vendor_tool.errors import ExitCode, VendorError


def run() -> int:
    """`main` as a process of its own."""
    import gc

    # most commands are over before their garbage is worth looking for; that would be a tenth of what they cost
    gc.set_threshold(50_000)
    code = main()
    gc.freeze()
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never raises."""
    try:
        code = _run(sys.argv[1:] if argv is None else list(argv))
        if sys.stdout is not None:  # closed by whoever called
            sys.stdout.flush()
        return code
    except (Exception, KeyboardInterrupt) as problem:  # a bug must not look like a finding
        return int(_failed(problem))


def _run(words: list[str]) -> int:
    from vendor_tool.cli import quick

    earlier = quick.earlier(words)
    if earlier is not None and earlier.answer is not None:
        sys.stdout.write(earlier.answer.out)
        return int(earlier.answer.code)
    from vendor_tool.cli.arguments import parse

    arguments = parse(words)
    arguments.earlier = earlier
    return int(arguments.call(arguments))


def _failed(problem: BaseException) -> ExitCode:
    # loaded only here: what a run without a failure says needs none of it
    from vendor_tool.cli import output

    match problem:
        case VendorError():
            output.error(problem.message, problem.hint)
            return problem.code
        case KeyboardInterrupt():
            output.error("interrupted", "run the same command again: nothing is half done")
            return ExitCode.INTERRUPTED
        case BrokenPipeError():
            output.abandon()
            return ExitCode.CLEAN
        case OSError():
            where = f": `{problem.filename}`" if problem.filename else ""
            output.error(f"the disk refuses: {problem.strerror or problem}{where}", "see who may read and write there")
            return ExitCode.USAGE
        case _:
            output.bug(problem)
            return ExitCode.BUG
