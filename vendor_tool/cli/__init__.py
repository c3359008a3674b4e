"""The command line: parse, call, render, exit. The only place that prints and the only broad `except`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from vendor_tool.errors import ExitCode, VendorError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never raises."""
    from vendor_tool.cli import output

    try:
        from vendor_tool.cli.arguments import parse

        arguments = parse(sys.argv[1:] if argv is None else argv)
        return int(arguments.call(arguments))
    except VendorError as error:
        output.error(error.message, error.hint)
        return int(error.code)
    except KeyboardInterrupt:
        output.error("interrupted", "run the same command again: nothing is half done")
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        output.abandon()
        return int(ExitCode.CLEAN)
    except Exception as error:  # noqa: BLE001 - a bug must not look like a finding
        output.bug(error)
        return int(ExitCode.BUG)
