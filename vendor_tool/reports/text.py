"""Findings for a terminal or a log: one `path:line: level: message [rule]` each, as compilers print them."""

from collections.abc import Mapping, Sequence
from typing import Final

from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.reports.wording import by_upstream, count, place, spot, tally, visible

# a continuation never starts with `::`, which GitHub's runner would obey even when it is indented
GUTTER: Final = "\n    | "
COLORS: Final = {"error": "31", "warning": "33", "note": "36"}
SIDES: Final = {
    "local": "the local file changed",
    "record": "the lock changed",
    "upstream": "upstream changed",
    "both": "both sides changed",
}


def render(
    findings: Sequence[Finding],
    rules: Mapping[str, RuleInfo],  # noqa: ARG001 - the signature of every report
    *,
    lock: str,
    root: str,
    width: int | None = None,
    color: bool = False,
) -> str:
    """Findings grouped by upstream, then a line with the counts.

    `width` wraps messages at that many columns; without it each message stays on one line, for editors to parse.
    """
    groups = list(by_upstream(findings))
    blocks = [
        "\n".join(
            [
                _paint(name, "1", color=color),
                *(_finding(f, lock=lock, root=root, width=width, color=color) for f in group),
            ]
        )
        for name, group in groups
    ]
    return "\n\n".join([*blocks, _summary(findings)]) + "\n"


def _finding(finding: Finding, *, lock: str, root: str, width: int | None, color: bool) -> str:
    path, line = place(finding, lock=lock, root=root)
    start = f"{visible(spot(path, line), kept='')}: "
    rest = f": {visible(finding.message)} [{finding.rule}]".replace("\n", GUTTER)
    if width is not None:
        rest = _wrap(rest, taken=len(start) + len(finding.level), width=width)
    lines = [f"{start}{_paint(finding.level, COLORS[finding.level], color=color)}{rest}"]
    if finding.path is not None and finding.lock_line is not None:
        lines.append(f"    lock: {visible(spot(lock, finding.lock_line), kept='')}")
    if finding.side is not None:
        lines.append(f"    side: {SIDES[finding.side]}")
    if finding.fix is not None:
        lines.append(f"    fix: {visible(finding.fix)}".replace("\n", GUTTER))
    return "\n".join(lines)


def _wrap(text: str, *, taken: int, width: int) -> str:
    """Break `text` between words so that no line passes `width` where words allow it."""
    lines, room = [""], width - taken
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > room:
            lines.append(word)
            room = width - 6
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return GUTTER.join(lines)


def _summary(findings: Sequence[Finding]) -> str:
    names = {f.upstream for f in findings if f.upstream is not None}
    return tally(findings) + (f" in {count(len(names), 'upstream')}" if names else "")


def _paint(text: str, code: str, *, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color else text
