"""What every report says alike: order, place, counts, and text of strangers made safe to show."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from vendor_tool.findings import Finding, Level
from vendor_tool.words import count as count
from vendor_tool.words import visible as visible

LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note")


def ordered(findings: Sequence[Finding]) -> list[Finding]:
    """Findings by upstream, path and line; those that belong to no upstream come last."""
    return sorted(
        findings,
        key=lambda f: (
            f.upstream is None,
            f.upstream or "",
            f.path or "",
            f.line or 0,
            f.lock_line or 0,
            f.rule,
            f.message,
        ),
    )


def by_upstream(findings: Sequence[Finding]) -> Iterator[tuple[str, list[Finding]]]:
    """Ordered findings, one group an upstream; `project` heads those that belong to none."""
    for name, group in groupby(ordered(findings), key=lambda f: f.upstream):
        yield (visible(name) if name is not None else "project"), list(group)


def place(finding: Finding, *, lock: str, root: str) -> tuple[str, int | None]:
    """Path and line to point at: the vendored file where there is one, else the lock."""
    if finding.path is None:
        return lock, finding.lock_line
    return join(root, finding.path), finding.line


def join(root: str, path: str) -> str:
    """A path of a finding, as seen from where the report is read."""
    return path if root in ("", ".") else f"{root.rstrip('/')}/{path}"


def spot(path: str, line: int | None) -> str:
    """`path:line`, or the path alone."""
    return path if line is None else f"{path}:{line}"


def dumped(document: object) -> str:
    """A document as JSON. `##[`, which a runner would obey wherever it stands, is written so that it reads the same."""
    text = json.dumps(document, indent=2) + "\n"
    return text.replace("##[", "##\\u005b").replace("##vso[", "##vso\\u005b")


def tally(findings: Sequence[Finding]) -> str:
    """Counts by level, most severe first, those that are zero left out: `1 error, 2 notes`."""
    if not findings:
        return "no findings"
    numbers = ((sum(f.level == level for f in findings), level) for level in LEVELS)
    return ", ".join(count(number, level) for number, level in numbers if number)
