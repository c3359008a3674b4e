"""At which commit of a history the upstream files are most like the copies."""

import posixpath
from collections.abc import Collection, Mapping, Sequence

from vendor_tool import lines
from vendor_tool.adoption import likeness
from vendor_tool.fetch.store import blob_id
from vendor_tool.model import Commit
from vendor_tool.values import dataclass

# versions of one path, namesakes of one file, and commits that are looked at, newest first
VERSIONS = 200
NAMESAKES = 20
COMMITS = 2000
# lines that a commit loses by which it has not a file that was asked for
ABSENT = 1_000_000


@dataclass(frozen=True, slots=True)
class Candidates:
    """Where each copy may be from: local path to upstream paths, and upstream path to its blobs, newest first."""

    paths: Mapping[str, tuple[str, ...]]
    blobs: Mapping[str, tuple[str, ...]]

    @property
    def oids(self) -> frozenset[str]:
        """All blobs that have to be looked into."""
        return frozenset(oid for found in self.blobs.values() for oid in found)


def candidates(
    files: Mapping[str, bytes],
    history: Sequence[tuple[Commit, Mapping[str, str]]],
    known: Mapping[str, Collection[str]],
    given: Mapping[str, str],
    below: str,
) -> Candidates:
    """Paths that ever held a copy's very bytes or had its name; `known` adds further ones. `below` is a folder.

    Copies under `given` are of the upstream path there and of no other.
    """
    blobs: dict[str, dict[str, None]] = {}
    holders: dict[str, set[str]] = {}
    names: dict[str, set[str]] = {}
    for _, left in history:
        for path, oid in left.items():
            if oid.strip("0") and (path.startswith(f"{below}/" if below else "") or path in given.values()):
                blobs.setdefault(path, {})[oid] = None
                holders.setdefault(oid, set()).add(path)
                names.setdefault(posixpath.basename(path), set()).add(path)
    found = {}
    for local, data in files.items():
        if local in given:
            found[local] = tuple({given[local]} & blobs.keys())
            continue
        if len(likeness.bare(data, local)) < likeness.TELLING and likeness.text(data):
            continue
        further = {path for path in known.get(local, ()) if path in blobs}
        named = sorted(names.get(posixpath.basename(local), ()), key=lambda path: (-_ending(local, path), path))
        found[local] = tuple(sorted({*holders.get(blob_id(data), ()), *further, *named[:NAMESAKES]}))
    wanted = {path for paths in found.values() for path in paths}
    own = {blob_id(data) for data in files.values()}
    return Candidates(
        found,
        {
            path: tuple(oid for number, oid in enumerate(blobs[path]) if number < VERSIONS or oid in own)
            for path in sorted(wanted)
        },
    )


def _ending(local: str, path: str) -> int:
    """How many parts of two paths are the same, from the end."""
    both = zip(local.split("/")[::-1], path.split("/")[::-1], strict=False)
    return next((number for number, (ours, theirs) in enumerate(both) if ours != theirs), 99)


def distance(local: bytes, upstream: bytes, path: str) -> int:
    """Lines that differ, indentation, empty lines and the comment at the top aside."""
    spans = lines.changes(likeness.bare(local, path), likeness.bare(upstream, path))
    return sum(span.old_end - span.old_start + span.new_end - span.new_start for span in spans)


def costs(
    files: Mapping[str, bytes], found: Candidates, contents: Mapping[str, bytes], given: Collection[str]
) -> dict[str, dict[str, dict[str, int]]]:
    """Local path to upstream path to blob id to the lines that differ, of those that are alike at all, or `given`."""
    made: dict[str, dict[str, dict[str, int]]] = {}
    for local, paths in found.paths.items():
        data = files[local]
        own = blob_id(data)
        for path in paths:
            oids = found.blobs[path]
            if local not in given and own not in oids and not _kin(data, oids, contents, local):
                continue
            for oid in oids:
                if oid == own:
                    cost = 0
                elif not (likeness.text(data) and likeness.text(contents[oid])):
                    if local not in given:
                        continue
                    cost = 1
                elif local not in given and not likeness.alike(data, contents[oid], local).namesake:
                    continue
                else:
                    cost = distance(data, contents[oid], local)
                made.setdefault(local, {}).setdefault(path, {})[oid] = cost
    return made


def _kin(data: bytes, oids: Sequence[str], contents: Mapping[str, bytes], local: str) -> bool:
    """Whether the newest, the oldest or a version between them is somewhat like a copy: the others are not, then."""
    some = {oids[0], oids[-1], oids[len(oids) // 2]}
    return any(likeness.alike(data, contents[oid], local).copy >= likeness.SAID for oid in some)


def total(
    files: Mapping[str, bytes],
    priced: Mapping[str, Mapping[str, Mapping[str, int]]],
    standing: Mapping[str, str],
    given: Collection[str],
) -> int:
    """Lines that would differ at a commit where these blobs stand; a copy without its file counts whole."""
    whole = 0
    for local, paths in priced.items():
        there = [oids[standing[path]] for path, oids in paths.items() if standing.get(path) in oids]
        without = ABSENT if local in given else len(likeness.bare(files[local], local)) + 1
        whole += min(there, default=without)
    return whole


def best(totals: Mapping[str, int]) -> tuple[str, ...]:
    """The commits that fit best, in their order."""
    least = min(totals.values())
    return tuple(sha for sha, lines_ in totals.items() if lines_ == least)
