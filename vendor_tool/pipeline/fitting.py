"""The revision that files copied by hand were taken from: the one that is named, or the one that they fit best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

from vendor_tool import fetch, licences
from vendor_tool.adoption import fit, pairs
from vendor_tool.adoption.hints import Hints, Place
from vendor_tool.errors import UpstreamError, UsageError
from vendor_tool.model import Access, Commit, Upstream
from vendor_tool.pipeline import add
from vendor_tool.values import dataclass, replace
from vendor_tool.words import count

# commits of one fit whose licence is looked for
LOOKED = 5
# revisions that copies name and that are asked for
TRIED = 5

History: TypeAlias = Sequence[tuple[Commit, Mapping[str, str]]]
"""What `fetch.changes` gives."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The revision, what of it goes into the lock, why it is that one, and which file of it each copy is of."""

    upstream: Upstream  # with the revision
    pairing: pairs.Pairing
    branch: str | None
    tag: str | None
    why: str
    equal: tuple[str, ...] = ()  # other commits that fit as well


@dataclass(frozen=True, slots=True)
class Copies:
    """The files to look for, and what is known of them: local path to bytes, and to upstream path."""

    files: Mapping[str, bytes]
    given: Mapping[str, str]
    hints: Hints

    def pairing(self, upstream: Upstream, access: Access) -> pairs.Pairing:
        """Which file of a revision each copy is of. Raises UsageError for a given one that is not there."""
        snapshot = fetch.snapshot(upstream, upstream.revision, access)
        below = f"{upstream.from_}/" if upstream.from_ else ""
        for path in self.given.values():
            if path not in snapshot.entries:
                raise UsageError(
                    f"`{path}` is not in upstream `{upstream.name}` at `{snapshot.revision[:12]}`",
                    hint="mend `--file`, or name another revision",
                )
        taken = set(self.given.values())
        listing = {path: one for path, one in snapshot.entries.items() if path.startswith(below) or path in taken}
        read = fetch.reader(upstream, snapshot, access)
        return pairs.pair(self.files, listing, read, given=self.given, said=self.hints.paths)


def fitted(draft: Upstream, rev: str | None, copies: Copies, access: Access) -> Fitted:
    """The revision of an upstream that copies are of.

    `rev` is taken as it is. Else a commit that a copy names beside the upstream's address; else, of the default
    branch's history, one that a copy names at all, or the one that leaves the fewest lines different.
    Raises UsageError where nothing is like any copy, and UpstreamError where the upstream cannot be reached.
    """
    if rev is not None:
        branch, revision, tag = add.pinned(draft, rev, access)
        draft = replace(draft, revision=revision)
        return Fitted(draft, copies.pairing(draft, access), branch, tag, "as it was asked for")
    said = {sha: place for sha, place in islice(copies.hints.revisions.items(), TRIED) if _there(draft, sha, access)}
    said = said or dict(_resolved(draft, copies.hints.names, access))
    if found := _named(draft, None, said, copies, access):
        return found
    branch, head, _ = add.pinned(draft, None, access)
    draft = replace(draft, revision=head)
    history = fetch.changes(draft, head, access)
    inside = {commit.sha for commit, _ in history}
    said = {sha: place for sha, place in copies.hints.commits.items() if sha in inside}
    if found := _named(draft, branch, said, copies, access):
        return found
    return _walked(draft, branch, history, copies, access)


def _there(upstream: Upstream, sha: str, access: Access) -> bool:
    try:
        fetch.snapshot(upstream, sha, access)
    except (UpstreamError, UsageError):  # a tree or a blob can go by such an id, too
        return False
    return True


def _resolved(draft: Upstream, names: Mapping[str, Place], access: Access) -> Iterator[tuple[str, Place]]:
    """Commits that short ids and tags stand for; a branch says nothing of when it was looked at."""
    for name, place in islice(names.items(), TRIED):
        try:
            revision, tag = fetch.named(draft, name, access)
        except (UpstreamError, UsageError):
            continue
        if tag is not None or revision.startswith(name):
            yield revision, place


def _named(
    draft: Upstream, branch: str | None, named: Mapping[str, Place], copies: Copies, access: Access
) -> Fitted | None:
    """Of the commits that are named, the one at which most copies have their file, with the fewest lines different.

    None where no copy has its file at any of them: they were named for something else.
    """
    best: tuple[tuple[int, int], Fitted] | None = None
    for sha, place in named.items():
        upstream = replace(draft, revision=sha)
        found = copies.pairing(upstream, access)
        score = (-len(found.pairs), _different(upstream, found, copies, access) if len(named) > 1 else 0)
        if found.pairs and (best is None or score < best[0]):
            best = score, Fitted(upstream, found, branch, None, f"named in {place.path}:{place.line}")
    return best[1] if best is not None else None


def _different(upstream: Upstream, found: pairs.Pairing, copies: Copies, access: Access) -> int:
    snapshot = fetch.snapshot(upstream, upstream.revision, access)
    contents = fetch.reader(upstream, snapshot, access)([pair.path for pair in found.pairs])
    return sum(fit.distance(copies.files[one.local], contents[one.path], one.local) for one in found.pairs)


# ---- through the history ----------------------------------------------------------------------------------


def _walked(head: Upstream, branch: str | None, history: History, copies: Copies, access: Access) -> Fitted:
    # a file that was asked for may be gone by now
    now = replace(copies, given={}).pairing(head, access)
    known: dict[str, set[str]] = {pair.local: {pair.path} for pair in now.pairs}
    for local, path in copies.hints.paths.items():
        known.setdefault(local, set()).add(path)
    given = copies.given
    found = fit.candidates(copies.files, history, known, given, head.from_)
    for path in given.values():
        if path not in found.blobs:
            raise UsageError(f"`{path}` never was in the history of upstream `{head.name}`", hint="mend `--file`")
    contents = fetch.blobs(head, head.revision, found.oids, access) if found.oids else {}
    priced = fit.costs(copies.files, found, contents, given)
    paths = sorted({path for of in priced.values() for path in of})
    commits = [commit for commit, left in history if not left.keys().isdisjoint(paths)][: fit.COMMITS]
    if not commits:
        raise nothing_like(head, copies)
    access.progress(f"{head.name}: comparing {count(len(priced), 'file')} with {count(len(commits), 'commit')}")
    stood = fetch.standing(head, [commit.sha for commit in commits], paths, access)
    totals = {
        commit.sha: fit.total(copies.files, priced, there, given) for commit, there in zip(commits, stood, strict=True)
    }
    fits = fit.best(totals)
    (now_there,) = fetch.standing(head, [head.revision], paths, access)
    newest = [head.revision] if fit.total(copies.files, priced, now_there, given) == totals[fits[0]] else []
    chosen = _licensed(head, [*fits, *newest], access)
    left = totals[fits[0]]
    why = f"fits best: {count(left, 'line')} of {count(len(priced), 'file')} differ" if left else "fits exactly"
    upstream = replace(head, revision=chosen)
    equal = tuple(sha for sha in fits if sha != chosen)
    return Fitted(upstream, copies.pairing(upstream, access), branch, None, why, equal)


def _licensed(upstream: Upstream, fits: Sequence[str], access: Access) -> str:
    """The newest of commits that fit equally well, but for a licence that only another one has."""
    for sha in fits[:LOOKED] if len(fits) > 1 else ():
        entries = fetch.snapshot(upstream, sha, access).entries
        if licences.find_legal(entries.keys(), upstream.from_).license is not None:
            return sha
    return fits[0]


def nothing_like(upstream: Upstream, copies: Copies) -> UsageError:
    """The error for files that come from elsewhere."""
    where = f" below `{upstream.from_}`" if upstream.from_ else ""
    return UsageError(
        f"none of {count(len(copies.files), 'file')} is like a file{where} of {fetch.plain_url(upstream.url)}",
        hint="name the revision (`--from URL@REV`), or pairs of files with `--file FROM:TO`",
    )
