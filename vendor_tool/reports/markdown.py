"""Findings as GitHub-flavoured Markdown, for job summaries and the bodies of pull requests."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.patterns import pattern
from vendor_tool.reports.wording import by_upstream, place, spot, tally, visible

SPECIAL: Final = pattern(r"[\\`*_{}\[\]<>|~&]")
# names and numbers of strangers must not notify people or link issues of this repository
REFERENCE: Final = pattern(r"([@#])(?=\w)|([!$])(?=\d)")


def render(findings: Sequence[Finding], rules: Mapping[str, RuleInfo], *, lock: str, root: str, **_: object) -> str:
    """A heading with the counts, then a table an upstream; nothing in a finding can break out of its cell."""
    parts = (f"### vendor-tool: {tally(findings)}\n", tables(findings, rules, lock=lock, root=root))
    return "\n".join(part for part in parts if part)


def tables(findings: Sequence[Finding], rules: Mapping[str, RuleInfo], *, lock: str, root: str) -> str:
    """The report without its heading; nothing where there are no findings."""
    blocks = []
    for name, group in by_upstream(findings):
        rows = [_row(f, rules[f.rule], lock=lock, root=root) for f in group]
        blocks += [f"#### {_text(name)}", "\n".join(["| | where | what | fix |", "|---|---|---|---|", *rows])]
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _row(finding: Finding, rule: RuleInfo, *, lock: str, root: str) -> str:
    where = code(spot(*place(finding, lock=lock, root=root)))
    if finding.path is not None and finding.lock_line is not None:
        where += f"<br>{code(spot(lock, finding.lock_line))}"
    what = f"**{_text(rule.title)}**<br>{prose(finding.message)}<br>{code(rule.id)}"
    fix = code(finding.fix) if finding.fix is not None else ""
    return f"| {finding.level} | {where} | {what} | {fix} |"


def prose(text: str) -> str:
    """A message for a table cell: back-ticked parts stay code, all else is literal text, newlines are `<br>`."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _text(text)
    return "".join((code(part) if part else r"\`\`") if index % 2 else _text(part) for index, part in enumerate(parts))


def code(text: str) -> str:
    """A code span for a table cell, fenced by more back-ticks than its text holds in a row."""
    flat = visible(text).replace("\n", " ").replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", flat)), default=0) + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _text(text: str) -> str:
    escaped = SPECIAL.sub(r"\\\g<0>", visible(text))
    return REFERENCE.sub(r"\g<0>&#8203;", escaped).replace("\n", "<br>")
