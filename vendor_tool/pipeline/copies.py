"""Copies of one file among the entries of a lock, as their upstreams have them at the pins."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from vendor_tool import __version__, fetch, memory
from vendor_tool.errors import UpstreamError
from vendor_tool.findings import Finding
from vendor_tool.model import Access, Lock, Upstream
from vendor_tool.outdated.verdict import missed_findings, sibling_findings
from vendor_tool.values import replace

if TYPE_CHECKING:
    from vendor_tool.outdated.siblings import Copy, Siblings
    from vendor_tool.pipeline.preview import Ground

FORMAT: Final = 1
NOTED: Final = ("rule", "level", "message", "path", "line", "upstream")


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
        return [Finding(**found) for found in known]
    found = pairs(lock, names, access, fetching=False)
    findings = sibling_findings(found or ())
    if found is not None:
        memory.remember(place, [{name: getattr(one, name) for name in NOTED} for one in findings])
    return findings


def lacking(found: Sequence[Siblings], grounds: Sequence[Ground]) -> Iterator[Finding]:
    """A warning for each copy that still has the lines that another copy's upstream has changed."""
    from vendor_tool.outdated.siblings import lacking as hunks_lacking

    for ground in grounds:
        for change in ground.changes.files:
            if change.kind != "changed" or change.new_blob is None or ground.held is not None:
                continue
            old, new = ground.contents[change.recorded.blob], ground.contents[change.new_blob]
            for ours, other in _with(found, change.recorded.to):
                hunks = hunks_lacking(old, new, other.data)
                commits = [commit for commit in ground.commits if change.recorded.path in commit.paths]
                yield from missed_findings(
                    other, ours, hunks, newest=ground.new.revision, commits=commits, fixes=ground.fixes
                )


def _with(found: Sequence[Siblings], to: str) -> Iterator[tuple[Copy, Copy]]:
    """The pairs that hold the file at a local path, that file first."""
    for pair in found:
        if pair.left.to == to:
            yield pair.left, pair.right
        elif pair.right.to == to:
            yield pair.right, pair.left
