"""Where upstreams stand now, for the audit rules: whether the pin is held, and our files and texts are still there."""

from __future__ import annotations

from vendor_tool import fetch, licences
from vendor_tool.checks.subject import Head
from vendor_tool.errors import UpstreamError
from vendor_tool.links import key
from vendor_tool.model import Access, Lock, Resolved, Snapshot, Upstream
from vendor_tool.outdated.files import stands_beside
from vendor_tool.values import replace


def heads(lock: Lock, access: Access) -> dict[str, Head]:
    """The heads of all upstreams of which files are vendored; one that gives no answer is left out."""
    found: dict[str, Head] = {}
    for name, upstream in sorted(lock.upstreams.items()):
        record = upstream.resolved
        if record is None or not record.files:
            continue
        try:
            found[name] = _head(replace(upstream, revision=record.revision), record, access)
        except UpstreamError:
            continue  # `outdated` tells of it
    return found


def _head(upstream: Upstream, record: Resolved, access: Access) -> Head:
    listing = fetch.listing(upstream, access)
    holding = {name for name, commit in listing.refs.items() if commit == record.revision}
    if not _kept(holding):
        holding |= fetch.holders(upstream, record.revision, listing.refs, access)
    tip = listing.refs.get(f"refs/heads/{upstream.branch}") if upstream.branch else None
    tip = tip or listing.refs.get("HEAD")
    moved = listing.moved if listing.moved and key(listing.moved) != key(upstream.url) else None
    head = Head(reachable=_kept(holding), canonical=moved)
    return _compared(head, upstream, record, fetch.snapshot(upstream, tip, access)) if tip else head


def _kept(refs: set[str]) -> bool:
    """Whether a branch or a tag is among them: what only a pull request holds, its author can take away."""
    return any(name.startswith(("refs/heads/", "refs/tags/")) for name in refs)


def _compared(head: Head, upstream: Upstream, record: Resolved, tip: Snapshot) -> Head:
    license_, notice = record.license, licences.find_legal(tip.entries.keys(), upstream.from_).notice
    text = tip.entries.get(license_.path) if license_ else None
    kept = license_ is not None and text is None and stands_beside(license_.path, license_.blob, tip)
    return replace(
        head,
        gone=tuple(file.path for file in record.files if file.path and file.path not in tip.entries),
        license_blob=(text.oid if text else license_.blob if kept else "") if license_ else None,
        notice_blob=tip.entries[notice].oid if notice else ("" if record.notice else None),
    )
