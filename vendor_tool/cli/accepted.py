"""`check --baseline` and `--write-baseline`: findings that a project has accepted for now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vendor_tool import baseline
from vendor_tool.cli import output
from vendor_tool.cli.output import Voice
from vendor_tool.errors import ExitCode, UsageError
from vendor_tool.findings import Finding


def write(path: Path, found: Sequence[Finding], speak: Voice) -> ExitCode:
    """Accept all of today's findings."""
    output.document(baseline.render(found), str(path))
    output.say(speak, f"wrote {path}: {output.count(len(found), 'finding')} accepted")
    return ExitCode.CLEAN


def new(path: Path, found: Sequence[Finding], speak: Voice) -> list[Finding]:
    """The findings that the file does not accept; says which of those that it does are fixed.

    Raises UsageError where the file is not there or is no baseline.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(
            f"there is no baseline `{path}` that can be read",
            hint=f"accept today's findings with `vendor-tool check --write-baseline {path}`",
        ) from None
    compared = baseline.compare(found, baseline.parse(text, name=path.name))
    for item in compared.fixed:
        output.say(speak, f"fixed, to be taken out of {path}: {item.message} [{item.rule}]")
    if compared.accepted:
        output.say(speak, f"{output.count(len(compared.accepted), 'finding')} accepted by {path}")
    return list(compared.new)
