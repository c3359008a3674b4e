"""Severities as a project sets them under `project: audit:`."""

from collections.abc import Iterable, Iterator, Mapping

from vendor_tool.errors import UsageError
from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.model import Lock
from vendor_tool.values import replace


def apply(findings: Iterable[Finding], lock: Lock, rules: Mapping[str, RuleInfo]) -> Iterator[Finding]:
    """The findings with the project's own levels, those that are switched off left out.

    Raises UsageError for a rule that does not exist: a misspelt one would silently change nothing.
    """
    for one in lock.project.audit:
        if one.rule not in rules:
            raise UsageError(
                f"{lock.path.name}:{one.at.line}:{one.at.column}: `project: audit:` names no rule: `{one.rule}`",
                hint="see `docs/reference/audit-rules.md` for the rules",
            )
    levels = {one.rule: one.level for one in lock.project.audit}
    for found in findings:
        level = levels.get(found.rule, found.level)
        if level != "off":
            yield replace(found, level=level)
