"""Copies of one file among the entries of a lock, as their upstreams have them at the pins."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from vendor_tool import __version__, fetch, memory
from vendor_tool.errors import UpstreamError
from vendor_tool.findings import Finding
from vendor_tool.model import Access, Lock, Upstream
from vendor_tool.outdated.verdict import missed_findings, sibling_findings
from vendor_tool.values import dataclass, replace

if TYPE_CHECKING:
    from vendor_tool.outdated.siblings import Copy, Hunk, Siblings
    from vendor_tool.pipeline.preview import Ground

FORMAT: Final = 2
NOTED: Final = ("rule", "level", "message", "path", "line", "upstream", "side", "fix")


def pairs(lock: Lock, names: Collection[str], access: Access, *, fetching: bool) -> tuple[Siblings, ...] | None:
    """Every pair of copies of which at least one is of a named upstream.

    Contents that the cache lacks are fetched where `fetching`, since a fix in one copy may be what another lacks;
    else the answer is None.
    """
    from vendor_tool.outdated.siblings import siblings

    found: list[Copy] = []
    for upstream in lock.upstreams.values():
        copies = _copies(upstream, access, fetching=fetching)
        if copies is None and not fetching:
            return None
        found += copies or ()
    return tuple(one for one in siblings(found) if one.left.upstream in names or one.right.upstream in names)


def _copies(upstream: Upstream, access: Access, *, fetching: bool) -> list[Copy] | None:
    resolved = upstream.resolved
    files = [file for file in resolved.files if file.blob] if resolved else []
    if resolved is None or not files:
        return []
    try:
        contents = fetch.blobs(
            upstream, resolved.revision, {file.blob for file in files}, replace(access, offline=not fetching)
        )
    except UpstreamError:
        return None
    from vendor_tool.outdated.siblings import Copy

    return [Copy(upstream.name, file.path, file.to, contents[file.blob]) for file in files]


def differing(lock: Lock, names: Collection[str], access: Access) -> list[Finding]:
    """A note for each pair that differs in code, as found when the pins were the same before, or now."""
    blobs = [
        (upstream.name, file.path, file.to, file.blob)
        for upstream in lock.upstreams.values()
        for file in (upstream.resolved.files if upstream.resolved else ())
    ]
    place = memory.place(access.cache, "siblings", [FORMAT, __version__, sorted(names), blobs])
    known = memory.recall(place)
    if isinstance(known, list):
        return _at(lock, [Finding(**found) for found in known])
    found = pairs(lock, names, access, fetching=False)
    findings = sibling_findings(found or ())
    if found is not None:
        memory.remember(place, [{name: getattr(one, name) for name in NOTED} for one in findings])
    return _at(lock, findings)


def _at(lock: Lock, findings: Sequence[Finding]) -> list[Finding]:
    """The same with lines of the lock, which change more often than what is remembered."""
    lines = _recorded(lock)
    return [replace(one, lock_line=lines.get(one.path or "")) for one in findings]


@dataclass(frozen=True, slots=True)
class Missed:
    """A copy that still has lines which the upstream of another copy has changed."""

    copy: Copy
    changed: Copy  # at the upstream's newer revision
    hunks: tuple[Hunk, ...]  # the old lines, by their line in `copy`, and what took their place
    finding: Finding


def lacking(lock: Lock, found: Sequence[Siblings], grounds: Sequence[Ground]) -> Iterator[Missed]:
    """The copies that lack what another copy's upstream has changed since its pin."""
    from vendor_tool.outdated import siblings

    for ground in grounds:
        for change in ground.changes.files:
            if change.kind != "changed" or change.new_blob is None or ground.held is not None:
                continue
            old, new = ground.contents[change.recorded.blob], ground.contents[change.new_blob]
            for ours, other in _with(found, change.recorded.to):
                hunks = siblings.lacking(old, new, other.data)
                commits = [commit for commit in ground.commits if change.recorded.path in commit.paths]
                for finding in missed_findings(
                    other, ours, hunks, newest=ground.new.revision, commits=commits, fixes=ground.fixes
                ):
                    line, lock_line = _line(lock, other, hunks), _recorded(lock)[other.to]
                    placed = replace(finding, line=line, lock_line=lock_line, digest=change.new_blob)
                    swapped = (siblings.Hunk(one.right_line, one.left, one.left_line, one.right) for one in hunks)
                    yield Missed(other, replace(ours, data=new), tuple(swapped), placed)


def _line(lock: Lock, copy: Copy, hunks: Sequence[Hunk]) -> int:
    """The line of the vendored file at which the first hunk stands that it still holds as it was; else 1."""
    from vendor_tool.outdated.siblings import position
    from vendor_tool.pipeline.state import on_disk

    there = [line.strip() for line in (on_disk(lock, copy.to)[0] or b"").split(b"\n")]
    places = (position(there, [line.strip() for line in hunk.left]) for hunk in hunks if hunk.left)
    return next((place + 1 for place in places if place is not None), 1)


def _recorded(lock: Lock) -> dict[str, int]:
    """Local path to the line of its record."""
    found = (one.resolved.files for one in lock.upstreams.values() if one.resolved)
    return {file.to: file.at.line for files in found for file in files}


def _with(found: Sequence[Siblings], to: str) -> Iterator[tuple[Copy, Copy]]:
    """The pairs that hold the file at a local path, that file first."""
    for pair in found:
        if pair.left.to == to:
            yield pair.left, pair.right
        elif pair.right.to == to:
            yield pair.right, pair.left
