"""Under which terms everything stands: the project, its upstreams, and what these were made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vendor_tool import legal
from vendor_tool.documents import entry
from vendor_tool.legal import Ancestor
from vendor_tool.links import commit, web
from vendor_tool.model import LegalFile, Upstream
from vendor_tool.reports.html.dossier import Dossier
from vendor_tool.reports.html.elements import (
    Html,
    address,
    block,
    code,
    element,
    joined,
    lines,
    link,
    prose,
    section,
    short,
    table,
    text,
)
from vendor_tool.urls import plain_url

_HEADS = ("Repository", "Revision", "Part", "Licence", "Copyright notices", "Texts kept here", "Remarks")


def licences(dossier: Dossier) -> Html:
    """The section on licences: one row for each repository whose work is here, then the texts themselves."""
    project = dossier.lock.project
    own = f"The project itself: {project.license}." if project.license else "The project itself names no licence."
    allowed = f" Its lock allows {', '.join(project.allow)}." if project.allow else ""
    rows = [row for upstream in dossier.upstreams for row in _rows(upstream)]
    return section(
        text("Licences"),
        "licences",
        element("p", text(own + allowed)),
        table("Every repository that something here comes from, with its terms", _HEADS, rows),
        *_texts(dossier),
    )


def _rows(upstream: Upstream) -> Iterator[Sequence[Html]]:
    record = upstream.resolved
    revision = record.revision if record else upstream.revision
    found = record.license if record else None
    spdx = upstream.license or (found.spdx if found else None) or "not recognised"
    facts = legal.read(record)
    remarks = ["the licence text has further terms"] if facts.extra_terms else []
    remarks += ["never synced: nothing is recorded"] if record is None else []
    remarks += [f"further terms accepted: {reason}" for _digest, reason in sorted(upstream.acknowledge.items())]
    part = "vendored" if upstream.files else "imported at run time"
    # of an upstream that is only imported nothing is copied, its licence neither
    kept = [one for one in (found, record.notice if record else None, *facts.others) if one and upstream.files]
    yield _row(upstream.url, [revision], part, spdx, found, kept, remarks)
    groups: dict[str, list[Ancestor]] = {}
    for one in facts.ancestors:
        groups.setdefault(f"{one.url} {one.license and one.license.sha256} {one.owed}", []).append(one)
    for group in groups.values():
        yield _ancestor(upstream, group)


def _ancestor(upstream: Upstream, group: Sequence[Ancestor]) -> Sequence[Html]:
    """One repository at some revisions whose licence texts are the same."""
    one = group[0]
    remarks = ["the licence text has further terms"] if one.extra_terms else []
    remarks += [f"licence text owed: {one.owed}"] if one.owed else []
    kept = [file for member in group for file in (member.license, member.notice) if file]
    spdx = (one.license.spdx if one.license else None) or "not recognised"
    revisions = [member.revision for member in group]
    return _row(one.url, revisions, f"ancestor of {upstream.name}", spdx, one.license, kept, remarks)


def _row(
    url: str,
    revisions: Sequence[str],
    part: str,
    spdx: str,
    found: LegalFile | None,
    kept: Sequence[LegalFile],
    remarks: Sequence[str],
) -> Sequence[Html]:
    holders = found.holders if found else ()
    return (
        link(text(plain_url(url)), web(url) or url),
        lines(link(short(one), commit(url, one)) for one in revisions),
        text(part),
        text(spdx),
        lines(map(text, holders or ("none in the licence file" if found else "no licence file",))),
        lines(map(code, dict.fromkeys(one.to for one in kept))),
        lines(map(prose, remarks)),
    )


def _texts(dossier: Dossier) -> Iterator[Html]:
    """Each text once, closed until it is asked for, with the places that it stands at."""
    places: dict[bytes, dict[str, str]] = {}
    for upstream in dossier.upstreams:
        for one in legal.files(upstream.resolved) if upstream.files else ():
            if one.to in dossier.texts:
                places.setdefault(dossier.texts[one.to], {})[one.to] = one.spdx or one.path
    for data, found in sorted(places.items(), key=lambda item: sorted(item[1])):
        name = " and ".join(dict.fromkeys(found.values()))
        head = joined([text(f"{name}: "), joined((code(path) for path in sorted(found)), ", ")])
        yield element("details", element("summary", head), block(data.decode("utf-8", "replace")))


def facts(upstream: Upstream) -> Iterator[tuple[str, Html]]:
    """What every document says of an entry."""
    for fact in entry.facts(upstream):
        if fact.label == "Revision" or fact.label.startswith("Revision "):
            yield fact.label, link(code(fact.value), commit(upstream.url, fact.value))
        elif fact.link == fact.value or fact.label == "Project":
            yield fact.label, address(fact.value)
        else:
            yield fact.label, link(code(fact.value) if fact.code else text(fact.value), fact.link)
    for url in upstream.mirrors:
        yield "Mirror", address(plain_url(url))
    if upstream.resolved is None:
        yield "State", text("never synced: nothing below is recorded yet")
    elif upstream.resolved.tag:
        yield "Tag", code(upstream.resolved.tag)
