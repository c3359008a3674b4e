"""What is known of rights and origins of a build's files: read from upstreams, or taken from a record that holds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from vendor_tool import fetch, legal, licences, write
from vendor_tool.errors import UpstreamError, UsageError
from vendor_tool.fetch import store
from vendor_tool.links import repository
from vendor_tool.model import Access, Blob, BuiltFile, Entry, LegalFile, Snapshot, Upstream
from vendor_tool.urls import check_url
from vendor_tool.values import dataclass, field, replace


def gather(
    root: Path,
    upstream: Upstream,
    snapshot: Snapshot,
    contents: Mapping[str, bytes],
    files: Sequence[BuiltFile],
    access: Access,
) -> licences.Gathered:
    """Licence and NOTICE of an upstream and of what its files say they were taken from.

    For an ancestor that cannot be reached stands what the record says of that commit and the project at `root` still
    holds; without such, its text is recorded as owed. What a trusted record holds (`snapshot.partial`) is not looked
    up again, so that the same lock gives the same record wherever it is synced.
    """
    reader = _Reader(upstream, snapshot, {**_held(root, upstream), **contents}, access)
    if snapshot.partial:
        return _recorded(upstream, reader)
    vendored = [licences.Vendored(file.path, file.to, file.pristine) for file in files if file.path]
    return licences.facts(upstream, snapshot.revision, vendored, reader)


def legal_file(path: str, blob: str, data: bytes) -> LegalFile:
    """The facts of one licence text that is not copied anywhere."""
    text = data.decode("utf-8", "replace")
    return LegalFile(
        path, blob, "", hashlib.sha256(data).hexdigest(), licences.detect(text).spdx, licences.holders(text)
    )


def _held(root: Path, upstream: Upstream) -> Mapping[str, bytes]:
    """The recorded licence texts that stand in the project unchanged, by blob id."""
    found = {one.blob: write.read(root, one.to) for one in legal.files(upstream.resolved)}
    return {oid: data for oid, data in found.items() if data is not None and store.blob_id(data) == oid}


def _recorded(upstream: Upstream, reader: _Reader) -> licences.Gathered:
    found = legal.relocated(upstream)
    facts = legal.read(found)
    own: list[LegalFile | None] = [found.license, found.notice, *facts.others]
    copies: dict[str, Blob] = {}
    for file in own:
        if file is not None and found.files:
            copies[file.to] = Blob(reader.blob(upstream.url, found.revision, file.blob))
    for ancestor in facts.ancestors:
        for file in (ancestor.license, ancestor.notice):
            if file is not None and file.to not in copies:
                copies[file.to] = Blob(reader.blob(ancestor.url, ancestor.revision, file.blob))
    return licences.Gathered(
        license=found.license,
        notice=found.notice,
        headers={item.to: item.license for item in found.files},
        links={item.to: item.origins for item in found.files},
        extra=found.extra,
        legal=copies,
    )


@dataclass(slots=True)
class _Reader:
    """Reads the upstream from what was fetched for it, and other repositories over the network."""

    upstream: Upstream
    snapshot: Snapshot
    contents: Mapping[str, bytes]
    access: Access
    listings: dict[tuple[str, str], Snapshot | None] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)  # repositories that did not answer: asked once, not once a commit

    def listing(self, url: str, revision: str) -> Mapping[str, str] | None:
        found = self._snapshot(url, revision)
        if found is None:
            return None
        return {path: entry.oid for path, entry in found.entries.items() if entry.mode in ("100644", "100755")}

    def read(self, url: str, revision: str, path: str) -> bytes | None:
        found = self._snapshot(url, revision)
        if found is None or path not in found.entries:
            return None
        return self.blob(url, revision, found.entries[path].oid)

    def blob(self, url: str, revision: str, oid: str) -> bytes:
        if oid in self.contents:
            return self.contents[oid]
        return fetch.blobs(self._at(url, revision), revision, {oid}, self.access)[oid]

    def resolve(self, url: str, ref: str) -> str | None:
        if url in self.lost or check_url(url):
            return None
        try:
            return fetch.resolve(self._at(url, ""), ref, self.access)
        except (UpstreamError, UsageError):
            self.lost.add(url)
        known = {one.revision for one in self._known(url) if one.revision.startswith(ref)}
        return known.pop() if len(known) == 1 and len(ref) >= 7 else None

    def _snapshot(self, url: str, revision: str) -> Snapshot | None:
        if url == self.upstream.url and revision == self.snapshot.revision:
            return self.snapshot
        key = (url, revision)
        if key not in self.listings:
            self.listings[key] = self._fetched(url, revision)
        return self.listings[key]

    def _fetched(self, url: str, revision: str) -> Snapshot | None:
        if check_url(url):
            return None
        if url not in self.lost:
            try:
                return fetch.snapshot(self._at(url, revision), revision, self.access)
            except UpstreamError:
                self.lost.add(url)
        texts = [file for one in self._known(url) if one.revision == revision for file in (one.license, one.notice)]
        held = {file.path: Entry("100644", "blob", file.blob) for file in texts if file and file.blob in self.contents}
        return Snapshot(revision, "", held, partial=True) if held else None

    def _known(self, url: str) -> Sequence[legal.Ancestor]:
        return [one for one in legal.read(self.upstream.resolved).ancestors if one.url == url]

    def _at(self, url: str, revision: str) -> Upstream:
        found = repository(url)
        return replace(self.upstream, name=found.path if found else url, url=url, mirrors=(), revision=revision)
