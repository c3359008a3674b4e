"""An upstream's legal facts for its record: licence, NOTICE, what file headers say, and the chain behind each file."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from vendor_tool import legal
from vendor_tool.legal import Ancestor, Claim, Origin
from vendor_tool.licences.detect import detect
from vendor_tool.licences.find import find_legal
from vendor_tool.licences.header import header
from vendor_tool.links import key, permalink
from vendor_tool.model import Blob, LegalFile, Upstream
from vendor_tool.origins import claims
from vendor_tool.values import dataclass, field

_DEEPEST = 8  # hops; every real chain that was seen has at most three


class Reader(Protocol):
    """Reads upstream repositories; the pipeline gives one that fetches. None stands for "cannot be had"."""

    def listing(self, url: str, revision: str) -> Mapping[str, str] | None:
        """Every path at a commit and its blob id."""
        ...

    def read(self, url: str, revision: str, path: str) -> bytes | None:
        """The bytes of a file at a commit."""
        ...

    def resolve(self, url: str, ref: str) -> str | None:
        """The commit of a tag or of an abbreviated id; None for a branch, which names no fixed commit."""
        ...


@dataclass(frozen=True, slots=True)
class Gathered:
    """What goes into a record: `license` and `notice` as they are, `extra` under `Resolved.extra`, `legal` to disk."""

    license: LegalFile | None
    notice: LegalFile | None
    headers: Mapping[str, str | None]  # local path -> expression from the file's own header
    links: Mapping[str, tuple[str, ...]]  # local path -> permalinks of its chain, for `Recorded.origins`
    extra: Mapping[str, object]
    legal: Mapping[str, Blob]  # local path -> copy of a licence or NOTICE text


@dataclass(frozen=True, slots=True)
class Vendored:
    """One file of the upstream that is vendored, as it stands there."""

    path: str
    to: str
    data: bytes


@dataclass(slots=True)
class _Copies:
    """Legal texts on their way to disk."""

    upstream: Upstream
    tree: dict[str, Blob] = field(default_factory=dict)

    def keep(self, path: str, blob: str, to: str, data: bytes) -> LegalFile:
        found = detect(data.decode("utf-8", "replace"))
        self.tree[to] = Blob(data)
        return LegalFile(path, blob, to, hashlib.sha256(data).hexdigest(), found.spdx, found.holders)


def facts(upstream: Upstream, revision: str, files: Sequence[Vendored], reader: Reader) -> Gathered:
    """Licence, NOTICE, header licences and chains of origin of an upstream at a revision.

    Licence texts of ancestors are read at the cited commit; where that cannot be had, the text is recorded as owed.
    An upstream of which nothing is vendored gets its licence recorded, and no copies.
    """
    listing = reader.listing(upstream.url, revision) or {}
    found = find_legal(listing, upstream.from_)
    texts = [path for path in (found.license, found.notice, *found.others) if path]
    places = legal.copies(upstream, texts)
    copies = _Copies(upstream)
    kept: dict[str, LegalFile] = {}
    for path in texts:
        data = reader.read(upstream.url, revision, path)
        if data is not None:
            kept[path] = copies.keep(path, listing[path], places[path], data)
    before = legal.read(upstream.resolved).origins
    walked = {one.to: tuple(walk(upstream, revision, one, reader)) for one in files}
    chains = {to: _continued(chain, before.get(to, ()), reader) for to, chain in walked.items() if chain}
    ancestors = tuple(_ancestor(copies, url, at, group, reader) for (url, at), group in _group(chains, upstream))
    license_ = kept.get(found.license or "")
    known = legal.Facts(
        ancestors=ancestors,
        origins=chains,
        others=tuple(kept[path] for path in found.others if path in kept),
        extra_terms=_has_extra(copies.tree, license_),
    )
    plain = legal.dump(known)
    return Gathered(
        license=license_,
        notice=kept.get(found.notice or ""),
        headers={one.to: header(one.data, one.path).spdx for one in files},
        links={to: tuple(permalink(one.url, one.revision, one.path) for one in chain) for to, chain in chains.items()},
        extra={legal.KEY: plain} if plain else {},
        legal=copies.tree if files else {},
    )


def walk(upstream: Upstream, revision: str, file: Vendored, reader: Reader | None) -> Iterator[Origin]:
    """The chain of a file, nearest first: what its comments name, what the comments of that name, and so on.

    A path that a comment gives without a repository is looked for in the repository of the file that says so.
    Without a reader the chain ends with what the file's own comments name by link.
    """
    seen = {(key(upstream.url), file.path)}
    queue: list[tuple[str, str, str, bytes, int]] = [(upstream.url, revision, file.path, file.data, 1)]
    while queue:
        url, at, path, data, hop = queue.pop(0)
        for claim in claims(data, path):
            origin = _origin(claim, url, at, path, hop + claim.hop - 1, reader)
            if origin is None or (key(origin.url), origin.path) in seen:
                continue
            seen.add((key(origin.url), origin.path))
            yield origin
            if reader is None or not origin.path or origin.state != "pinned" or hop >= _DEEPEST:
                continue
            text = reader.read(origin.url, origin.revision, origin.path)
            if text is not None:
                queue.append((origin.url, origin.revision, origin.path, text, hop + 1))


def _continued(chain: tuple[Origin, ...], before: tuple[Origin, ...], reader: Reader) -> tuple[Origin, ...]:
    """A chain, and how the record says that it goes on from a commit that cannot be read any more."""
    places, known = ([(one.url, one.revision, one.path) for one in origins] for origins in (chain, before))
    rest = before[len(chain) :]
    if known[: len(chain)] != places or not all(one.hop > 1 for one in rest):
        return chain
    lost = any(
        one.path and one.state == "pinned" and reader.read(one.url, one.revision, one.path) is None for one in chain
    )
    return chain + rest if lost else chain


def _origin(claim: Claim, url: str, at: str, path: str, hop: int, reader: Reader | None) -> Origin | None:
    if claim.tier not in ("A", "B"):
        return None
    if claim.url is None:
        listing = reader.listing(url, at) if reader else None
        inside = _inside(claim, path, listing or {})
        return Origin(url, at, inside, hop, claim.line, path) if inside else None
    if claim.ref is None or claim.state == "pinned":
        return Origin(claim.url, claim.ref or "", claim.path or "", hop, claim.line, path, claim.state)
    commit = reader.resolve(claim.url, claim.ref) if reader and claim.state in ("tag", "unpinned") else None
    if commit:
        return Origin(claim.url, commit, claim.path or "", hop, claim.line, path)
    return Origin(claim.url, claim.ref, claim.path or "", hop, claim.line, path, claim.state)


def _inside(claim: Claim, path: str, listing: Collection[str]) -> str | None:
    """The path of a file in the same repository that a claim names by path, file name or dotted name."""
    name = claim.path or ""
    folder = path.rpartition("/")[0]
    if claim.text and "." in name and "/" not in name and not name.endswith((".py", ".cu", ".cuh", ".cpp", ".h")):
        parts = name.split(".")
        tries: Iterable[str] = ("/".join(parts[:size]) + ".py" for size in range(len(parts), 0, -1))
    else:
        tries = (name, f"{folder}/{name}" if folder else name)
    return next((one for one in tries if one in listing and one != path), None)


def _group(
    chains: Mapping[str, tuple[Origin, ...]], upstream: Upstream
) -> list[tuple[tuple[str, str], tuple[str, ...]]]:
    """The paths of every foreign repository and revision that a chain leads to."""
    groups: dict[tuple[str, str], set[str]] = {}
    for chain in chains.values():
        for one in chain:
            if key(one.url) != key(upstream.url):
                groups.setdefault((one.url, one.revision), set()).add(one.path)
    return [(place, tuple(sorted(filter(None, paths)))) for place, paths in sorted(groups.items())]


def _ancestor(copies: _Copies, url: str, revision: str, paths: tuple[str, ...], reader: Reader) -> Ancestor:
    listing = reader.listing(url, revision) if len(revision) == 40 else None
    if listing is None:
        reason = "the commit cannot be fetched" if len(revision) == 40 else "the link names no commit"
        return Ancestor(url, revision, paths, owed=reason)
    found = find_legal(listing, paths[0].rpartition("/")[0] if paths else "")
    kept: dict[str, LegalFile] = {}
    for path in (found.license, found.notice):
        data = reader.read(url, revision, path) if path else None
        if path and data is not None:
            kept[path] = copies.keep(path, listing[path], _place(copies, url, revision, path, data), data)
    license_ = kept.get(found.license or "")
    return Ancestor(
        url,
        revision,
        paths,
        license=license_,
        notice=kept.get(found.notice or ""),
        owed=None if license_ else "no licence file at this revision",
        extra_terms=_has_extra(copies.tree, license_),
    )


def _place(copies: _Copies, url: str, revision: str, path: str, data: bytes) -> str:
    """Revisions whose text is the same share one copy; another text goes to a folder with the revision in its name."""
    folder = legal.ancestor_folder(url)
    place = legal.copies(copies.upstream, [path], of=folder)[path]
    if place in copies.tree and copies.tree[place].data != data:
        return legal.copies(copies.upstream, [path], of=f"{folder}@{revision[:7]}")[path]
    return place


def _has_extra(tree: Mapping[str, Blob], license_: LegalFile | None) -> bool:
    return bool(license_ and detect(tree[license_.to].data.decode("utf-8", "replace")).extra)
