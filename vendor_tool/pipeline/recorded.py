"""What a record says of an upstream's revision, where it still holds: enough to rebuild without a listing."""

from __future__ import annotations

from vendor_tool import legal, licences, plan
from vendor_tool.errors import UsageError
from vendor_tool.model import Entry, Snapshot, Upstream
from vendor_tool.plan import Target


def holds(upstream: Upstream, revision: str) -> bool:
    """Whether the record was made of this revision and this intent, by this tool: then it may name the blobs."""
    found = upstream.resolved
    return found is not None and found.sealed and found.revision == revision and found.intent == upstream.intent


def snapshot(upstream: Upstream) -> Snapshot:
    """The part of a revision's listing that the record holds."""
    found = upstream.resolved
    assert found is not None
    entries = {
        item.path: Entry("100755" if item.executable else "100644", "blob", item.blob)
        for item in found.files
        if item.path
    }
    others = legal.read(found).others
    for file in (found.license, found.notice, *others):
        if file is not None:
            entries[file.path] = Entry("100644", "blob", file.blob)
    return Snapshot(found.revision, found.date, entries, partial=True)


def legal_files(upstream: Upstream) -> licences.Legal:
    """The legal files that the record holds."""
    found = upstream.resolved
    assert found is not None
    others = tuple(item.path for item in legal.read(found).others)
    return licences.Legal(
        found.license.path if found.license else None, found.notice.path if found.notice else None, others
    )


def targets(upstream: Upstream) -> tuple[Target, ...]:
    """The targets of an entry as the record holds them."""
    found = upstream.resolved
    assert found is not None
    targets = []
    for item in found.files:
        if not item.path:  # made by a patch alone
            continue
        spec = plan.spec_of(upstream, item.path)
        if spec is None:
            raise UsageError(
                f"the record of `{upstream.name}` holds `{item.path}`, which no item of `files:` asks for",
                hint=f"delete the `resolved:` block of `{upstream.name}` and run `vendor-tool sync {upstream.name}`",
            )
        targets.append(Target(item.path, item.to, spec))
    return tuple(targets)
