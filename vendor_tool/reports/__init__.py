"""Findings as text for people and machines: one module a format, one line a module in `REPORTS`."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.reports import github, json, junit, markdown, sarif, text


class Report(Protocol):
    """A format. `rules` describes at least the rules of `findings`.

    `lock` is the path of the lockfile and `root` that of its folder, both POSIX and relative to the folder that
    the report is read from: the top of the repository in CI. `width` (columns) and `color` are for terminals,
    formats for machines have no use for them.
    """

    def render(
        self,
        findings: Sequence[Finding],
        rules: Mapping[str, RuleInfo],
        *,
        lock: str,
        root: str,
        width: int | None = None,
        color: bool = False,
    ) -> str:
        """The whole report, ending with a newline."""
        ...


REPORTS: Final[Mapping[str, Report]] = {
    "text": text,
    "json": json,
    "sarif": sarif,
    "github": github,
    "junit": junit,
    "markdown": markdown,
}
