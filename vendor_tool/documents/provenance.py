"""PROVENANCE.md: per upstream what was taken, from where, under which licence, and what was changed."""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from urllib.parse import unquote

from vendor_tool import legal
from vendor_tool.documents import entry
from vendor_tool.model import Lock, Upstream
from vendor_tool.patterns import pattern
from vendor_tool.urls import plain_url

NAME = "PROVENANCE.md"
MARK = "Written by vendor-tool from `vendor.lock.yaml`; edits are lost."
_ROW = pattern(r"^\| \[`[^`]+`\]\(([^)\s]+)\) \| ", re.MULTILINE)


def listed(page: bytes) -> tuple[str, ...]:
    """Local files, below the page's folder, that a page of ours accounts for."""
    text = page.decode("utf-8", "replace")
    return tuple(unquote(path) for path in _ROW.findall(text)) if MARK in text else ()


def inputs(lock: Lock) -> list[str]:
    """The patches, whose heads say what they do, and the stand-ins, which evidence of parity rests on."""
    patches = [patch.path for upstream in lock.upstreams.values() for patch in upstream.patches]
    return [*patches, *(path for one in lock.upstreams.values() if one.resolved for path in one.resolved.shims)]


def render(lock: Lock, texts: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """One page in each top folder that files went to; entries of which nothing is copied stand on the first of them."""
    recorded = [one for _name, one in sorted(lock.upstreams.items()) if one.resolved]
    places = [legal.home(one) for one in recorded if one.resolved and one.resolved.files]
    if not recorded:
        return {}
    first = places[0] if places else "vendored"
    placed = sorted(
        (legal.home(one) if one.resolved and one.resolved.files else first, one.name, one) for one in recorded
    )
    return {
        f"{folder}/{NAME}": _page(folder, [one for _folder, _name, one in group], lock, texts).encode()
        for folder, group in groupby(placed, key=lambda item: item[0])
    }


def _page(folder: str, upstreams: list[Upstream], lock: Lock, texts: Mapping[str, bytes]) -> str:
    lines = ["# Provenance", "", MARK]
    for upstream in upstreams:
        lines += ["", f"## {upstream.name}", "", *_facts(upstream, lock, texts)]
        lines += _section("Files", _table(upstream, folder))
        lines += _section("Origins", _chain(upstream, folder))
        if upstream.files:
            lines += _section("Local modifications", _bullets(entry.modifications(upstream, lock, texts)))
        lines += _section("Imported at run time, not copied", _imports(upstream))
        lines += _section("Tool versions", _bullets(entry.requirements(upstream, lock)))
    return "\n".join(lines) + "\n"


def _section(title: str, body: Iterator[str]) -> list[str]:
    lines = list(body)
    return ["", f"### {title}", "", *lines] if lines else []


def _facts(upstream: Upstream, lock: Lock, texts: Mapping[str, bytes]) -> Iterator[str]:
    for fact in entry.facts(upstream):
        value = f"`{fact.value}`" if fact.code else _text(fact.value)
        value = f"<{fact.value}>" if fact.link == fact.value else _linked(value, fact.link)
        yield f"- {fact.label}: {value}"
    if seen := entry.evidence(upstream, lock, texts):
        yield f"- Parity: {seen}"


def _table(upstream: Upstream, folder: str) -> Iterator[str]:
    rows = list(entry.rows(upstream))
    if rows:
        yield "| Local file | Upstream file | Licence |"
        yield "| --- | --- | --- |"
    for row in rows:
        local = row.local.removeprefix(folder + "/")
        source = _linked(f"`{row.upstream}`", row.link) if row.upstream else "brought by a patch"
        yield f"| [`{local}`]({local}) | {source} | {_text(row.license)} |"


def _chain(upstream: Upstream, folder: str) -> Iterator[str]:
    for row in entry.rows(upstream):
        links = [
            _linked(f"`{plain_url(one.url)}` {one.path}", entry.link(one.url, one.revision, one.path))
            for one in row.origins
        ]
        if links:
            yield f"- `{row.local.removeprefix(folder + '/')}` was made from {', from '.join(links)}"
    for ancestor in legal.read(upstream.resolved).ancestors:
        text = f"licence text owed: {ancestor.owed}" if ancestor.owed else _copy(ancestor, folder)
        rights = _text(entry.license_line(ancestor))
        yield f"- {plain_url(ancestor.url)} at `{ancestor.revision}`: {rights}; {text}"


def _copy(ancestor: legal.Ancestor, folder: str) -> str:
    if ancestor.license is None:
        return "no licence text"
    local = ancestor.license.to.removeprefix(folder + "/")
    return f"[text]({local})"


def _imports(upstream: Upstream) -> Iterator[str]:
    record = upstream.resolved
    for found in record.imports if record else ():
        revision = record.revision if record else upstream.revision
        link = entry.link(upstream.url, revision, found.path, found.line)
        yield f"- `{found.name}`, validated against {_linked(f'`{found.path}`', link)}"


def _linked(words: str, link: str | None) -> str:
    return f"[{words}]({link})" if link else words


def _bullets(lines: Iterator[str]) -> Iterator[str]:
    return (f"- {_text(line)}" for line in lines)


def _text(words: str) -> str:
    """Plain words in Markdown: signs that would start a table cell, a tag or a link are taken literally."""
    for sign in "\\|<[]*_`":
        words = words.replace(sign, f"\\{sign}")
    return words
