"""Findings for programs; `findings.schema.json` beside this module describes the document."""

from collections.abc import Mapping, Sequence
from typing import Final

from vendor_tool import __version__
from vendor_tool.baseline import fingerprints
from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.reports.wording import LEVELS, dumped, ordered

VERSION: Final = 1


def render(findings: Sequence[Finding], rules: Mapping[str, RuleInfo], *, lock: str, root: str, **_: object) -> str:
    """One JSON object, keys in a fixed order, the rules that occur described once.

    Within one `version` keys are only ever added.
    """
    listed = ordered(findings)
    document = {
        "schema": "vendor-tool/findings",
        "version": VERSION,
        "tool": {"name": "vendor-tool", "version": __version__},
        "lock": lock,
        "root": root or ".",
        "summary": {level: sum(f.level == level for f in listed) for level in LEVELS},
        "findings": [_finding(f, mark) for f, mark in zip(listed, fingerprints(listed), strict=True)],
        "rules": [_rule(rules[name]) for name in sorted({f.rule for f in listed})],
    }
    return dumped(document)


def _finding(finding: Finding, mark: str) -> dict[str, object]:
    return {
        "rule": finding.rule,
        "level": finding.level,
        "message": finding.message,
        "path": finding.path,
        "line": finding.line,
        "lock_line": finding.lock_line,
        "upstream": finding.upstream,
        "side": finding.side,
        "fix": finding.fix,
        "revision": finding.revision,
        "fingerprint": mark,
    }


def _rule(rule: RuleInfo) -> dict[str, str]:
    return {"id": rule.id, "level": rule.level, "title": rule.title, "help": rule.help}
