"""What copied files say themselves: the revision that they were taken from, and the path of each upstream."""

import posixpath
from collections.abc import Iterator, Mapping

from vendor_tool.legal import Claim
from vendor_tool.links import key, repository
from vendor_tool.origins import claims
from vendor_tool.patterns import pattern
from vendor_tool.values import dataclass

_COMMIT = pattern(rb"(?<![0-9A-Za-z])[0-9a-f]{40}(?![0-9A-Za-z])")
# a name and a revision that hashes of other things would drown
MOST = 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is said: local path and line, from 1."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Hints:
    """What was found. Revisions are full ids, those that most files name first."""

    revisions: Mapping[str, Place]  # said beside the upstream's address, or that of a fork with its name
    names: Mapping[str, Place]  # said there too: short ids, tags, branches
    commits: Mapping[str, Place]  # any other text of 40 hex digits
    paths: Mapping[str, str]  # local path -> upstream path


def hints(files: Mapping[str, bytes], url: str) -> Hints:
    """What the texts of `files`, by local path, say of the repository at `url`."""
    said: dict[str, list[Place]] = {}
    named: dict[str, list[Place]] = {}
    loose: dict[str, list[Place]] = {}
    paths: dict[str, str] = {}
    for path, data in files.items():
        own: set[str] = set()
        for claim in claims(data, path):
            if not _means(claim, url):
                continue
            if claim.ref:
                full = len(claim.ref) == 40
                (said if full else named).setdefault(claim.ref, []).append(Place(path, claim.line))
            if claim.path and claim.verb == "mapped to":
                _map(paths, files, path, claim.path)
            elif claim.path:
                own.add(claim.path)
        if len(own) == 1:
            paths[path] = own.pop()
        for commit, line in _commits(data):
            loose.setdefault(commit, []).append(Place(path, line))
    loose = {sha: places for sha, places in loose.items() if sha not in said}
    return Hints(_ranked(said), _ranked(named), _ranked(loose), paths)


def _means(claim: Claim, url: str) -> bool:
    """Whether a claim is of this repository, or of one that is called the same: people copy out of forks."""
    if claim.url is None:
        return False
    ours, theirs = repository(url), repository(claim.url)
    if ours is None or theirs is None:
        return key(claim.url) == key(url)
    return key(claim.url) == key(url) or ours.name.casefold() == theirs.name.casefold()


def _map(paths: dict[str, str], files: Mapping[str, bytes], table: str, upstream: str) -> None:
    """A row of a table that stands in one of the files, for the file beside it that has the upstream file's name."""
    local = posixpath.join(posixpath.dirname(table), posixpath.basename(upstream))
    if local in files:
        paths.setdefault(local, upstream)


def _commits(data: bytes) -> Iterator[tuple[str, int]]:
    for number, found in enumerate(_COMMIT.finditer(data)):
        if number == MOST:
            return
        yield found[0].decode(), data.count(b"\n", 0, found.start()) + 1


def _ranked(said: Mapping[str, list[Place]]) -> dict[str, Place]:
    ordered = sorted(said.items(), key=lambda item: (-len({place.path for place in item[1]}), item[0]))
    return {sha: places[0] for sha, places in ordered[:MOST]}
