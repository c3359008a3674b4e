"""Copies of one file among the entries of a lock: as their upstreams have them at the pins, with our patches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from vendor_tool import __version__, fetch, memory
from vendor_tool.errors import ConflictError, UpstreamError, UsageError
from vendor_tool.findings import Finding
from vendor_tool.model import Access, Commit, Lock, Upstream
from vendor_tool.values import dataclass, replace

if TYPE_CHECKING:
    from vendor_tool.outdated.siblings import Copy, Hunk, Siblings
    from vendor_tool.pipeline.preview import Ground

FORMAT: Final = 3
NOTED: Final = ("rule", "level", "message", "path", "line", "upstream", "side", "fix", "digest")
VERSIONS: Final = 40
"""Versions of one file that a copy is held against, newest first."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What the copies of one file tell at the pins."""

    findings: tuple[Finding, ...]
    kin: tuple[str, ...]  # upstreams that have a copy of a file of those asked for, and these


@dataclass(frozen=True, slots=True)
class Missed:
    """A copy that still has lines which the upstream of another copy has changed."""

    copy: Copy
    changed: Copy  # at the upstream's newer revision
    hunks: tuple[Hunk, ...]  # the old lines, by their line in `copy`, and what took their place
    finding: Finding


def compared(lock: Lock, names: Collection[str], access: Access) -> Compared:
    """Where copies differ and what one lacks, as found when pins and patches were the same before, or now."""
    made = [
        (upstream.name, file.path, file.to, file.blob, file.sha256)
        for upstream in lock.upstreams.values()
        for file in (upstream.resolved.files if upstream.resolved else ())
    ]
    pins = [upstream.resolved.revision for upstream in lock.upstreams.values() if upstream.resolved]
    place = memory.place(access.cache, "siblings", [FORMAT, __version__, sorted(names), made, pins])
    known = memory.recall(place)
    if isinstance(known, dict):
        return Compared(_at(lock, [Finding(**found) for found in known["findings"]]), tuple(known["kin"]))
    from vendor_tool.outdated import sibling_findings

    found, lost = pairs(lock, names, access)
    findings = sibling_findings.differing(found)
    for pair in found:
        try:
            findings += [missed.finding for missed in _behind(lock, pair, access)]
        except UpstreamError as problem:
            lost += (sibling_findings.unclear(pair.left.upstream, problem.message),)
    kin = sorted({one.upstream for pair in found for one in (pair.left, pair.right)})
    if not lost:
        kept = [{name: getattr(one, name) for name in NOTED} for one in findings]
        memory.remember(place, {"findings": kept, "kin": kin})
    return Compared(_at(lock, [*findings, *lost]), tuple(kin))


def _at(lock: Lock, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The same with lines of the lock, which change more often than what is remembered."""
    lines = _recorded(lock)
    return tuple(
        replace(one, lock_line=lines[one.path] if one.path in lines else lock.upstreams[str(one.upstream)].at.line)
        for one in findings
    )


def _recorded(lock: Lock) -> dict[str | None, int]:
    """Local path to the line of its record."""
    found = (one.resolved.files for one in lock.upstreams.values() if one.resolved)
    return {file.to: file.at.line for files in found for file in files}


# ---- what is compared -------------------------------------------------------------------------------------


def pairs(lock: Lock, names: Collection[str], access: Access) -> tuple[tuple[Siblings, ...], tuple[Finding, ...]]:
    """Every pair of copies of which at least one is of a named upstream, and what could not be fetched."""
    from vendor_tool.outdated.sibling_findings import unclear
    from vendor_tool.outdated.siblings import siblings

    found: list[Copy] = []
    lost: list[Finding] = []
    for upstream in lock.upstreams.values():
        try:
            found += _copies(lock, upstream, access)
        except UpstreamError as problem:
            lost.append(unclear(upstream.name, problem.message))
    made = (one for one in siblings(found) if one.left.upstream in names or one.right.upstream in names)
    return tuple(made), _at(lock, lost)


def _copies(lock: Lock, upstream: Upstream, access: Access) -> list[Copy]:
    resolved = upstream.resolved
    files = [file for file in resolved.files if file.blob] if resolved else []
    if resolved is None or not files:
        return []
    contents = fetch.blobs(upstream, resolved.revision, {file.blob for file in files}, access)
    from vendor_tool.outdated.siblings import Copy

    found = [Copy(upstream.name, file.path, file.to, contents[file.blob]) for file in files]
    return _patched(lock, upstream, found) if upstream.patches else found


def _patched(lock: Lock, upstream: Upstream, found: Sequence[Copy]) -> list[Copy]:
    """The same with what our patches changed: a fix that was taken as a patch is not lacking."""
    from vendor_tool.merge.text import Labels, merge
    from vendor_tool.pipeline import salvage

    try:
        final, plain = salvage.trees(lock, upstream)
    except (ConflictError, UsageError):
        return list(found)  # of files or patches that are not as recorded `check` tells
    made = []
    for one in found:
        before, after = plain.get(one.to), final[one.to]
        if before is not None and before.data != after.data:
            merged = merge(before.data, after.data, one.data, Labels("patches", "rules", "upstream"))
            one = one if merged.clashes else replace(one, data=merged.data)
        made.append(one)
    return made


# ---- what one lacks ---------------------------------------------------------------------------------------


def _behind(lock: Lock, pair: Siblings, access: Access) -> Iterator[Missed]:
    """What either copy lacks of what the other one's upstream had changed by its pin, from the history of the file."""
    from vendor_tool.outdated import siblings

    if pair.kind != "code" or pair.left.upstream == pair.right.upstream:
        return
    for ahead, sibling in ((pair.left, pair.right), (pair.right, pair.left)):
        upstream = lock.upstreams[ahead.upstream]
        assert upstream.resolved is not None
        pin = upstream.resolved.revision
        history = [(commit, oid) for commit, oid in fetch.versions(upstream, pin, ahead.path, access) if oid.strip("0")]
        history = history[:VERSIONS]
        if len(history) < 2:
            continue
        contents = fetch.blobs(upstream, pin, {oid for _, oid in history}, access)
        versions = [contents[oid] for _, oid in history]
        place = siblings.nearest(versions, sibling.data)
        by = f"`{pin[:12]}`, its pin"
        commits = [commit for commit, _ in history[:place]]
        yield from _missed(lock, sibling, replace(ahead, data=versions[0]), versions[place], by, commits)


def lacking(lock: Lock, found: Sequence[Siblings], grounds: Sequence[Ground]) -> Iterator[Missed]:
    """The copies that lack what another copy's upstream has changed since its pin."""
    for ground in grounds:
        for change in ground.changes.files:
            if change.kind != "changed" or change.new_blob is None or ground.held is not None:
                continue
            old, new = ground.contents[change.recorded.blob], ground.contents[change.new_blob]
            commits = [commit for commit in ground.commits if change.recorded.path in commit.paths]
            for ours, other in _with(found, change.recorded.to):
                by = f"`{ground.new.revision[:12]}`"
                yield from _missed(lock, other, replace(ours, data=new), old, by, commits)


def _missed(
    lock: Lock, sibling: Copy, changed: Copy, old: bytes, by: str, commits: Sequence[Commit]
) -> Iterator[Missed]:
    """What a copy lacks of the change from `old` to what another one has by some revision, in words."""
    from vendor_tool.outdated import sibling_findings, siblings
    from vendor_tool.outdated.formatting import difference
    from vendor_tool.surface import fixlike

    hunks = siblings.lacking(old, changed.data, sibling.data)
    if not hunks:
        return
    finding = sibling_findings.lacking(
        sibling,
        changed,
        _lines(lock, sibling, hunks),
        by=by,
        kind=difference(old, changed.data),
        commits=commits,
        fixes=[commit.sha for commit in commits if fixlike(commit.subject, commit.body) is not None],
    )
    swapped = tuple(siblings.Hunk(one.right_line, one.left, one.left_line, one.right) for one in hunks)
    yield Missed(sibling, changed, swapped, _at(lock, [finding])[0])


def _lines(lock: Lock, copy: Copy, hunks: Sequence[Hunk]) -> list[int]:
    """For each hunk the line of the vendored file, from 1, at which its old lines stand."""
    from vendor_tool import lines
    from vendor_tool.outdated.siblings import aligned
    from vendor_tool.pipeline.state import on_disk

    was, there = (
        [line.strip() for line in lines.split(data)] for data in (copy.data, on_disk(lock, copy.to)[0] or copy.data)
    )
    places = aligned(was, there)
    found = []
    for hunk in hunks:
        # of a line that the rules changed, the nearest one above that they left alone
        start = hunk.right_line - 1
        within = range(start, start + max(len(hunk.left), 1))
        line = next((one for one in (*within, *range(start - 1, -1, -1)) if one in places), None)
        found.append(1 if line is None else places[line] + 1 + max(start - line, 0))
    return found


def _with(found: Sequence[Siblings], to: str) -> Iterator[tuple[Copy, Copy]]:
    """The pairs that hold the file at a local path, that file first."""
    for pair in found:
        if pair.left.to == to:
            yield pair.left, pair.right
        elif pair.right.to == to:
            yield pair.right, pair.left
