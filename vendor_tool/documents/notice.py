"""NOTICE: what the licences of vendored files ask a distribution to say, for every upstream and its ancestors."""

from collections.abc import Iterator, Mapping

from vendor_tool import legal
from vendor_tool.documents import block, entry
from vendor_tool.links import permalink, tree
from vendor_tool.model import LegalFile, Lock, Upstream
from vendor_tool.urls import plain_url

PATH = "NOTICE"


def inputs(lock: Lock) -> list[str]:
    """NOTICE itself, whose other parts are the project's own, and the NOTICE texts of upstreams and ancestors."""
    return [PATH] + [notice.to for upstream in vendored(lock) for notice in _notices(upstream)]


def render(lock: Lock, texts: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """NOTICE with the tool's part brought up to date; nothing where nothing is vendored and the file is not there."""
    entries = [_entry(upstream, texts) for upstream in vendored(lock)]
    if not entries and PATH not in texts:
        return {}
    head = "This distribution contains files from the projects below."
    content = "\n\n".join([head, *entries]) if entries else ""
    data = block.replace(PATH, texts.get(PATH), content)
    return {PATH: data} if data or entries else {}


def vendored(lock: Lock) -> list[Upstream]:
    """The entries of which files are recorded, in the order of their names."""
    return [one for _name, one in sorted(lock.upstreams.items()) if one.resolved and one.resolved.files]


def _notices(upstream: Upstream) -> list[LegalFile]:
    found = [upstream.resolved.notice if upstream.resolved else None]
    found += [ancestor.notice for ancestor in legal.read(upstream.resolved).ancestors]
    return [one for one in found if one]


def _entry(upstream: Upstream, texts: Mapping[str, bytes]) -> str:
    record = upstream.resolved
    if record is None:
        return ""
    facts = legal.read(record)
    lines = [
        upstream.name,
        "-" * len(upstream.name),
        f"Project: {plain_url(upstream.url)}",
        f"Revision: {record.revision}",
        f"Source: {tree(upstream.url, record.revision, upstream.from_)}",
        *_rights(record.license, upstream.license, facts.extra_terms),
        f"Files: {', '.join(sorted(file.to for file in record.files))}",
        *_quoted("NOTICE of the project", record.notice, texts),
    ]
    for ancestor in facts.ancestors:
        lines += ["", *_ancestor(ancestor, upstream, facts, texts)]
    return "\n".join(lines)


def _ancestor(
    ancestor: legal.Ancestor, upstream: Upstream, facts: legal.Facts, texts: Mapping[str, bytes]
) -> Iterator[str]:
    files = sorted(
        to
        for to, chain in facts.origins.items()
        if any(one.url == ancestor.url and one.revision == ancestor.revision for one in chain)
    )
    yield f"From {plain_url(ancestor.url)}, by way of {upstream.name}"
    yield f"Revision: {ancestor.revision}"
    for path in ancestor.paths:
        yield f"Source: {permalink(ancestor.url, ancestor.revision, path)}"
    yield from _rights(ancestor.license, None, ancestor.extra_terms)
    if ancestor.owed:
        yield f"Licence text: owed ({ancestor.owed})"
    if files:
        yield f"Files: {', '.join(files)}"
    yield from _quoted("NOTICE of the project", ancestor.notice, texts)


def _rights(license_: LegalFile | None, declared: str | None, extra_terms: bool) -> Iterator[str]:
    spdx = declared or (license_.spdx if license_ else None)
    name = spdx or ("not recognised" if license_ else "not known")
    yield f"Licence: {name}{entry.EXTRA_TERMS if extra_terms else ''}"
    if license_:
        yield from (f"Copyright notice: {line}" for line in license_.holders)
        yield f"Licence text: {license_.to}"


def _quoted(title: str, notice: LegalFile | None, texts: Mapping[str, bytes]) -> Iterator[str]:
    """The text, indented so that no line of it can look like one of the markers."""
    if notice is None or notice.to not in texts:
        return
    yield f"{title}, whole:"
    yield ""
    for line in texts[notice.to].decode("utf-8", "replace").strip("\n").splitlines():
        yield f"    {line}".rstrip()
