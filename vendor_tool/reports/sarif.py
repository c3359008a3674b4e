"""Findings as SARIF 2.1.0, for code scanning services and editors.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from collections.abc import Mapping, Sequence

from vendor_tool import __version__
from vendor_tool.baseline import fingerprints
from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.reports.wording import dumped, ordered, place

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(findings: Sequence[Finding], rules: Mapping[str, RuleInfo], *, lock: str, root: str, **_: object) -> str:
    """One SARIF log with one run: no times and no absolute paths, so that equal findings give equal bytes."""
    listed = ordered(findings)
    used = sorted({f.rule for f in listed})
    results = [
        _result(f, mark, index=used.index(f.rule), lock=lock, root=root)
        for f, mark in zip(listed, fingerprints(listed), strict=True)
    ]
    driver = {"name": "vendor-tool", "version": __version__, "rules": [_rule(rules[name]) for name in used]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return dumped({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: RuleInfo) -> dict[str, object]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.help},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": rule.level},
    }


def _result(finding: Finding, mark: str, *, index: int, lock: str, root: str) -> dict[str, object]:
    path, line = place(finding, lock=lock, root=root)
    # code scanning shows the message alone, so the command has to be in it
    text = finding.message if finding.fix is None else f"{finding.message}\nFix: `{finding.fix}`"
    result: dict[str, object] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.level,
        "message": {"text": text},
        "locations": [{"physicalLocation": _location(path, line or 1)}],
        # the first is the one key that GitHub reads, the second says whose it is
        "partialFingerprints": {"primaryLocationLineHash": mark, "vendorToolFinding/v1": mark},
    }
    if finding.path is not None and finding.lock_line is not None:
        related = {"id": 1, "physicalLocation": _location(lock, finding.lock_line), "message": {"text": "the lock"}}
        result["relatedLocations"] = [related]
    facts = {"upstream": finding.upstream, "side": finding.side, "fix": finding.fix}
    result["properties"] = {key: value for key, value in facts.items() if value is not None}
    return result


def _location(path: str, line: int) -> dict[str, object]:
    from urllib.parse import quote  # every `check` loads this module, and few write SARIF

    return {
        "artifactLocation": {"uri": quote(path, safe="/", errors="surrogateescape"), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": line},
    }
