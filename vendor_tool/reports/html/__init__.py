"""The whole lock as one page for people: what is vendored, from where, on which terms, changed how, verified by whom.

One file that asks for nothing else: no script, no picture, no network. The same lock and files give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from vendor_tool.documents import entry
from vendor_tool.links import commit, permalink, web
from vendor_tool.model import Recorded, Upstream
from vendor_tool.reports.html import changes, found, rights, seen
from vendor_tool.reports.html.dossier import Dossier
from vendor_tool.reports.html.elements import (
    NOTHING,
    Html,
    broken,
    code,
    element,
    facts,
    joined,
    lines,
    link,
    listed,
    section,
    short,
    table,
    text,
)
from vendor_tool.urls import plain_url
from vendor_tool.words import count

__all__ = ["Dossier", "render"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_FILES = ("Local file", "Upstream file at the revision", "Licence", "Names changed by rules", "Patches", "SHA-256")
_OVERVIEW = ("Upstream", "Repository", "Revision", "Of", "Licence", "Holds", "Parity")


def render(dossier: Dossier) -> str:
    """The page, ending with a newline."""
    project = dossier.lock.project.name
    title = f"Vendored code of {project}" if project else "Vendored code"
    parts = [_overview(dossier), found.findings(dossier), rights.licences(dossier)]
    parts += [_upstream(one, dossier) for one in dossier.upstreams]
    body = [
        element("header", element("h1", text(title)), *_head(dossier)),
        element("nav", _contents(dossier), aria_label="Contents"),
        element("main", *broken(parts)),
        element("footer", element("p", _source(dossier))),
    ]
    return f"<!DOCTYPE html>\n{element('html', _meta(title), element('body', *broken(body)), lang='en')}\n"


def _meta(title: str) -> Html:
    style = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    # each tag is closed by hand: these elements have no end
    tags = (
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
    )
    return element("head", *broken([*map(Html, tags), element("title", text(title)), _style(style)]))


def _style(sheet: str) -> Html:
    return Html(f"<style>\n{sheet}</style>")


def _head(dossier: Dossier) -> Iterator[Html]:
    lock = dossier.lock
    records = [one.resolved for one in dossier.upstreams if one.resolved]
    files = sum(len(one.files) for one in records)
    imports = sum(len(one.imports) for one in records)
    holds = [count(len(lock.upstreams), "upstream"), count(files, "file"), changes.size(lock, dossier.texts)]
    holds += [count(imports, "run-time import")] if imports else []
    yield element("p", text(", ".join(holds) + "."))
    yield listed(found.summary(dossier))


def _contents(dossier: Dossier) -> Html:
    names = [("overview", "Overview"), ("findings", "Findings"), ("licences", "Licences")]
    names += [(_anchor(one), one.name) for one in dossier.upstreams]
    return listed(element("a", text(words), href=f"#{name}") for name, words in names)


def _overview(dossier: Dossier) -> Html:
    if not dossier.lock.upstreams:
        return section(text("Overview"), "overview", element("p", text("The lock names no upstream.")))
    rows = [_row(one, dossier) for one in dossier.upstreams]
    return section(text("Overview"), "overview", table("Every upstream of the lock", _OVERVIEW, rows))


def _row(upstream: Upstream, dossier: Dossier) -> Sequence[Html]:
    record = upstream.resolved
    revision = record.revision if record else upstream.revision
    holds = [count(len(record.files), "file")] if record and record.files else []
    holds += [count(len(record.imports), "run-time import")] if record and record.imports else []
    holds += [count(len(upstream.patches), "patch")] if upstream.patches else []
    known = record.license.spdx if record and record.license else None
    return (
        element("a", text(upstream.name), href=f"#{_anchor(upstream)}"),
        link(text(plain_url(upstream.url)), web(upstream.url) or upstream.url),
        link(short(revision), commit(upstream.url, revision)),
        text(record.date[:10] if record else "–"),
        text(upstream.license or known or "not recognised"),
        text(", ".join(holds) if record else "never synced"),
        text(seen.standing(upstream, dossier)) if record else NOTHING,
    )


def _upstream(upstream: Upstream, dossier: Dossier) -> Html:
    name = _anchor(upstream)

    def part(title: str, *content: Html) -> Html:
        return section(text(title), f"{name}-{title.split()[0].lower()}", *content, level=3)

    return section(
        text(upstream.name),
        name,
        facts(rights.facts(upstream)),
        part("Files", table(f"Files of {upstream.name}", _FILES, _files(upstream, dossier))),
        part("Origins", listed(_origins(upstream))),
        part("Changes", changes.changes(upstream, dossier)),
        part("Imported at run time, not copied", listed(_imports(upstream))),
        part("Parity", seen.parity(upstream, dossier)),
        part("Tool versions", listed(changes.requirements(upstream, dossier))),
    )


def _files(upstream: Upstream, dossier: Dossier) -> Iterator[Sequence[Html]]:
    recorded = {one.to: one for one in upstream.resolved.files} if upstream.resolved else {}
    patches = changes.patched(upstream, dossier)
    for row in entry.rows(upstream):
        file: Recorded = recorded[row.local]
        yield (
            code(row.local),
            link(code(row.upstream), row.link) if row.upstream else text("brought by a patch"),
            text(row.license),
            lines(map(code, file.names)),
            lines(map(code, patches.get(row.local, ()))),
            element("span", code(file.sha256), class_="digest"),
        )


def _origins(upstream: Upstream) -> Iterator[Html]:
    for row in entry.rows(upstream):
        chain = [_origin(one.url, one.revision, one.path) for one in row.origins]
        if chain:
            yield joined([code(row.local), text(" was made from "), joined(chain, ", from ")])


def _origin(url: str, revision: str, path: str) -> Html:
    words = f"{plain_url(url)} {path}".strip()
    return joined([link(text(words), permalink(url, revision, path) if web(url) else None), _at(url, revision)])


def _at(url: str, revision: str) -> Html:
    return joined([text(" at "), link(short(revision), commit(url, revision))]) if revision else NOTHING


def _imports(upstream: Upstream) -> Iterator[Html]:
    record = upstream.resolved
    for one in record.imports if record else ():
        place = entry.link(upstream.url, record.revision if record else upstream.revision, one.path, one.line)
        yield joined([code(one.name), text(", validated against "), link(code(f"{one.path}:{one.line}"), place)])


def _source(dossier: Dossier) -> Html:
    return joined(
        [
            text("Written by vendor-tool from "),
            code(dossier.lock.path.name),
            text(" and the files that it names, without network. SHA-256 of the lock: "),
            element("span", code(dossier.digest), class_="digest"),
        ]
    )


def _anchor(upstream: Upstream) -> str:
    return f"upstream-{upstream.name}"
