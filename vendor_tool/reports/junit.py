"""Findings as JUnit XML, the one test report that every CI service reads."""

from collections.abc import Mapping, Sequence
from typing import Final

from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.reports.wording import by_upstream, place, spot, visible

# a newline as itself would let the next line start with `::`, a command to GitHub where the report is printed
TEXT: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "&#10;"})
ATTRIBUTE: Final = {**TEXT, ord('"'): "&quot;"}


def render(findings: Sequence[Finding], rules: Mapping[str, RuleInfo], *, lock: str, root: str, **_: object) -> str:
    """A suite an upstream and a case a finding: errors and warnings are failures, notes pass with their text.

    Without findings there is one case that passes, since some services reject a report without cases.
    """
    groups = list(by_upstream(findings))
    suites = [_suite(name, [_case(f, rules[f.rule], lock, root) for f in group], group) for name, group in groups]
    if not suites:
        suites = [_suite("project", [f"    <testcase {_attributes(classname=lock, name='no findings')}/>"], [])]
    total = _attributes(name="vendor-tool", tests=str(max(len(findings), 1)), failures=str(_failures(findings)))
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {total}>", *suites, "</testsuites>", ""])


def _suite(name: str, cases: Sequence[str], findings: Sequence[Finding]) -> str:
    head = _attributes(name=name, tests=str(len(cases)), failures=str(_failures(findings)))
    return "\n".join([f"  <testsuite {head}>", *cases, "  </testsuite>"])


def _case(finding: Finding, rule: RuleInfo, lock: str, root: str) -> str:
    path, line = place(finding, lock=lock, root=root)
    where = {"classname": path, "name": f"{rule.title} [{rule.id}]", "file": path}
    head = _attributes(**where, **({} if line is None else {"line": str(line)}))
    body = _text(_body(finding, spot(path, line), lock))
    if finding.level == "note":
        return f"    <testcase {head}>\n      <system-out>{body}</system-out>\n    </testcase>"
    failure = _attributes(type=finding.level, message=finding.message)
    return f"    <testcase {head}>\n      <failure {failure}>{body}</failure>\n    </testcase>"


def _body(finding: Finding, where: str, lock: str) -> str:
    lines = [f"{where}: {finding.level}: {finding.message}"]
    if finding.path is not None and finding.lock_line is not None:
        lines.append(f"lock: {lock}:{finding.lock_line}")
    if finding.fix is not None:
        lines.append(f"fix: {finding.fix}")
    return "\n".join(lines)


def _failures(findings: Sequence[Finding]) -> int:
    return sum(f.level != "note" for f in findings)


def _attributes(**values: str) -> str:
    return " ".join(f'{key}="{visible(value).translate(ATTRIBUTE)}"' for key, value in values.items())


def _text(text: str) -> str:
    return visible(text).translate(TEXT)
