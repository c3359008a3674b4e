"""Copies of one file among the entries of a lock, as their upstreams have them at the pins."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from vendor_tool import fetch
from vendor_tool.errors import UpstreamError
from vendor_tool.model import Access, Finding, Lock, Upstream
from vendor_tool.outdated.siblings import Copy, Siblings, siblings
from vendor_tool.outdated.siblings import lacking as hunks_lacking
from vendor_tool.outdated.verdict import missed_findings, sibling_findings
from vendor_tool.pipeline.preview import Ground
from vendor_tool.values import replace


def pairs(lock: Lock, names: Collection[str], access: Access, *, fetching: bool) -> tuple[Siblings, ...]:
    """Every pair of copies of which at least one is of a named upstream.

    Contents that the cache lacks are fetched where `fetching`, since a fix in one copy may be what another lacks;
    else their files have no pairs.
    """
    found = [copy for upstream in lock.upstreams.values() for copy in _copies(upstream, access, fetching=fetching)]
    return tuple(one for one in siblings(found) if one.left.upstream in names or one.right.upstream in names)


def _copies(upstream: Upstream, access: Access, *, fetching: bool) -> Iterator[Copy]:
    resolved = upstream.resolved
    files = [file for file in resolved.files if file.blob] if resolved else []
    if resolved is None or not files:
        return
    try:
        contents = fetch.blobs(
            upstream, resolved.revision, {file.blob for file in files}, replace(access, offline=not fetching)
        )
    except UpstreamError:
        return
    for file in files:
        yield Copy(upstream.name, file.path, file.to, contents[file.blob])


def differing(found: Sequence[Siblings]) -> list[Finding]:
    """A note for each pair that differs in code."""
    return sibling_findings(found)


def lacking(found: Sequence[Siblings], grounds: Sequence[Ground]) -> Iterator[Finding]:
    """A warning for each copy that still has the lines that another copy's upstream has changed."""
    for ground in grounds:
        for change in ground.changes.files:
            if change.kind != "changed" or change.new_blob is None:
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
