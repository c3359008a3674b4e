"""`report`: gather what the page for people shows, from the lock, the disk and the cache; offline."""

from __future__ import annotations

import hashlib

from vendor_tool import documents, legal
from vendor_tool.checks import drift
from vendor_tool.fence import RULES as FENCE
from vendor_tool.model import Access, Lock
from vendor_tool.pipeline import audit, check, fencing, state
from vendor_tool.reports import html
from vendor_tool.values import replace


def page(lock: Lock, access: Access) -> tuple[str, int]:
    """The page, and how many of upstream's files the cache lacks, so that no rule could compare them.

    The same lock and files give the same page, but for what those files would show. Raises what `audit` raises.
    """
    offline = replace(access, offline=True)
    # installed versions are another machine's, another day's: `audit` tells of them
    subject = replace(audit.subject(lock, offline), environment={})
    blobs = {file.blob for one in lock.upstreams.values() if one.resolved for file in one.resolved.files if file.blob}
    dossier = html.Dossier(
        lock=lock,
        digest=hashlib.sha256(lock.path.read_bytes()).hexdigest(),
        texts=_texts(lock),
        hashes={
            name: state.evidence_digests(lock, one.resolved) for name, one in lock.upstreams.items() if one.resolved
        },
        findings={"check": check.check(lock, ()) + fencing.findings(lock), "audit": audit.judged(subject)},
        rules={**drift.RULES, **FENCE, **audit.RULES},
        unread=len(blobs - subject.pristine.keys()),
    )
    return html.render(dossier), dossier.unread


def _texts(lock: Lock) -> dict[str, bytes]:
    """Patches and licence texts, as they are on the disk."""
    paths = {*documents.inputs(lock), *(one.to for up in lock.upstreams.values() for one in legal.files(up.resolved))}
    found = ((path, state.on_disk(lock, path)[0]) for path in sorted(paths))
    return {path: data for path, data in found if data is not None}
