"""What is known of rights and origins of a build's files, gathered for the record."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vendor_tool import legal, licences
from vendor_tool.model import Access, Blob, BuiltFile, LegalFile, Snapshot, Tree, Upstream


@dataclass(frozen=True, slots=True)
class Found:
    """Facts of one build. `copies` are the legal files to be written, by local path."""

    license: LegalFile | None
    notice: LegalFile | None
    copies: Tree
    origins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # local path -> links
    licenses: Mapping[str, str] = field(default_factory=dict)  # local path -> expression of the file's own header
    extra: Mapping[str, object] = field(default_factory=dict)


def gather(
    upstream: Upstream,
    snapshot: Snapshot,
    found: licences.Legal,
    contents: Mapping[str, bytes],
    files: Sequence[BuiltFile],
    access: Access,
) -> Found:
    """Licence and NOTICE of an upstream and of what its files say they were taken from."""
    if not files:
        return Found(None, None, {})
    paths = [path for path in (found.license, found.notice, *found.others) if path]
    places = legal.copies(upstream, paths)
    copies, known = {}, {}
    for path in paths:
        entry = snapshot.entries[path]
        if entry.oid not in contents:
            continue
        data = contents[entry.oid]
        copies[places[path]] = Blob(data)
        known[path] = legal_file(path, entry.oid, places[path], data)
    facts = legal.Facts(others=tuple(known[path] for path in found.others if path in known))
    dumped = legal.dump(facts)
    return Found(
        license=known.get(found.license or ""),
        notice=known.get(found.notice or ""),
        copies=copies,
        extra={legal.KEY: dumped} if dumped else {},
    )


def legal_file(path: str, blob: str, to: str, data: bytes) -> LegalFile:
    """The facts of one licence or NOTICE file."""
    text = data.decode("utf-8", "replace")
    detection = licences.detect(text)
    return LegalFile(path, blob, to, hashlib.sha256(data).hexdigest(), detection.spdx, licences.holders(text))
