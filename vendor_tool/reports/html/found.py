"""What `check` and `audit` find, as tables, and what they could not look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.reports.html.dossier import Dossier
from vendor_tool.reports.html.elements import Html, code, element, joined, lines, prose, section, table, text
from vendor_tool.reports.wording import LEVELS, ordered, place, spot, tally
from vendor_tool.words import count

_HEADS = ("Level", "Upstream", "Where", "What", "What to do")
_ABOUT: Final = {
    "check": "files, record and documents, compared",
    "audit": "licences and provenance, held to the rules",
}
_ELSEWHERE = (
    "Not on this page, for it differs from machine to machine and from day to day: what is installed (REQ-1, REQ-2 and "
    "REQ-6 of `vendor-tool audit`), and what upstreams did since (`vendor-tool outdated`)."
)


def findings(dossier: Dossier) -> Html:
    """The section on findings, most severe first."""
    parts = [part for command, found in dossier.findings.items() for part in _part(command, found, dossier)]
    return section(text("Findings"), "findings", *parts, element("p", prose(_unread(dossier) + _ELSEWHERE)))


def _part(command: str, found: Sequence[Finding], dossier: Dossier) -> Iterator[Html]:
    about = f"`vendor-tool {command}`: {_ABOUT.get(command, 'what it found')}"
    if not found:
        yield element("p", prose(f"{about}: "), element("strong", text("no findings")), text("."))
        return
    worst = sorted(ordered(found), key=lambda one: LEVELS.index(one.level))
    rows = [_row(one, dossier.rules[one.rule], dossier.lock.path.name) for one in worst]
    yield table(f"{about}: {tally(found)}", _HEADS, rows)


def _row(one: Finding, rule: RuleInfo, lock: str) -> Sequence[Html]:
    where = [code(spot(*place(one, lock=lock, root=".")))]
    if one.path is not None and one.lock_line is not None:
        where.append(code(spot(lock, one.lock_line)))
    what = [element("strong", text(rule.title)), prose(one.message), code(rule.id)]
    return (
        element("span", text(one.level), class_=one.level),
        text(one.upstream or "project"),
        lines(where),
        lines(what),
        code(one.fix)
        if one.fix and one.fix.startswith("vendor-tool ") and "`" not in one.fix
        else prose(one.fix or ""),
    )


def _unread(dossier: Dossier) -> str:
    if not dossier.unread:
        return ""
    return (
        f"Of upstream’s own bytes {count(dossier.unread, 'file')} could not be read here, so no rule compared them "
        "with the vendored ones: `vendor-tool check --rebuild` fetches them, then write the report again. "
    )


def summary(dossier: Dossier) -> Iterator[Html]:
    """The counts of each command."""
    for command, found in dossier.findings.items():
        yield joined([code(f"vendor-tool {command}"), text(f": {tally(found)}")])
