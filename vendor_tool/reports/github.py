"""Findings as workflow commands, which GitHub's runner shows as annotations on the lines of a pull request."""

from collections.abc import Mapping, Sequence
from typing import Final

from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.reports.wording import LEVELS, ordered, place, tally, visible

COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}
DATA: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
PROPERTY: Final = {**DATA, ord(":"): "%3A", ord(","): "%2C"}


def render(findings: Sequence[Finding], rules: Mapping[str, RuleInfo], *, lock: str, root: str, **_: object) -> str:
    """One command a finding, most severe first: GitHub shows ten of each kind a step and drops the rest."""
    listed = sorted(ordered(findings), key=lambda f: LEVELS.index(f.level))
    lines = [_command(f, rules[f.rule], lock=lock, root=root) for f in listed]
    return "\n".join([*lines, tally(findings)]) + "\n"


def _command(finding: Finding, rule: RuleInfo, *, lock: str, root: str) -> str:
    path, line = place(finding, lock=lock, root=root)
    title = f"{rule.title} [{rule.id}]"
    properties = {"file": path, "line": str(line or 1), "title": title}
    listed = ",".join(f"{key}={visible(value).translate(PROPERTY)}" for key, value in properties.items())
    return f"::{COMMANDS[finding.level]} {listed}::{visible(_message(finding, lock)).translate(DATA)}"


def _message(finding: Finding, lock: str) -> str:
    lines = [finding.message]
    if finding.path is not None and finding.lock_line is not None:
        lines.append(f"lock: {lock}:{finding.lock_line}")
    if finding.fix is not None:
        lines.append(f"fix: {finding.fix}")
    return "\n".join(lines)
