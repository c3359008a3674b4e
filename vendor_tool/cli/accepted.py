"""`--baseline` and `--write-baseline`: findings that a project has accepted for now."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from vendor_tool import baseline
from vendor_tool.baseline import Accepted
from vendor_tool.cli import output
from vendor_tool.cli.output import Voice
from vendor_tool.errors import ExitCode, UsageError
from vendor_tool.findings import Finding
from vendor_tool.values import dataclass
from vendor_tool.words import command


@dataclass(frozen=True, slots=True)
class Scope:
    """What a run looked at: whatever else a baseline accepts is neither fixed nor given up by it."""

    command: str
    rules: Collection[str]
    upstreams: Collection[str | None] | None = None  # None among them: the project; None alone: all

    def holds(self, item: Accepted) -> bool:
        return item.rule in self.rules and (self.upstreams is None or item.upstream in self.upstreams)


def write(path: Path, found: Sequence[Finding], scope: Scope, speak: Voice) -> ExitCode:
    """Accept all of today's findings, in the place of those that a run of this scope had accepted before."""
    kept = [item for item in _read(path, scope) if not scope.holds(item)] if path.exists() else []
    output.document(baseline.render(found, kept), str(path), option="--write-baseline")
    output.say(speak, f"wrote {path}: {output.count(len(found), 'finding')} accepted")
    return ExitCode.CLEAN


def new(path: Path, found: Sequence[Finding], scope: Scope, speak: Voice) -> list[Finding]:
    """The findings that the file does not accept; says which of those that it does are fixed.

    Raises UsageError where the file is not there or is no baseline.
    """
    compared = baseline.compare(found, _read(path, scope))
    for item in compared.fixed:
        if scope.holds(item):
            output.say(speak, f"fixed, to be taken out of {path}: {item.message} [{item.rule}]")
    if compared.accepted:
        output.say(speak, f"{output.count(len(compared.accepted), 'finding')} accepted by {path}")
    return list(compared.new)


def _read(path: Path, scope: Scope) -> tuple[Accepted, ...]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        accept = command("vendor-tool", scope.command, "--write-baseline", str(path))
        raise UsageError(
            f"there is no baseline `{path}` that can be read",
            hint=f"accept today's findings with `{accept}`",
        ) from None
    return baseline.parse(text, name=path.name)
