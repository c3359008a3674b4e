"""Work an upgrade out without carrying it out: the steps are those of `sync NAME@REV`, up to where it would write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vendor_tool import fetch, licences, moves, plan
from vendor_tool.errors import ConflictError, GoneError, UpstreamError, UsageError
from vendor_tool.model import Access, Commit, Lock, Resolved, Snapshot, Upstream
from vendor_tool.outdated.detail import detail
from vendor_tool.outdated.files import Changes, FileChange, compare
from vendor_tool.pipeline import missing, salvage
from vendor_tool.pipeline import upgrade as upgrades
from vendor_tool.preview import ClashNews, FileNews, LegalNews, PatchNews, Preview, Refusal
from vendor_tool.surface import Surface, fixlike, surface
from vendor_tool.values import dataclass


@dataclass(frozen=True, slots=True)
class Ground:
    """What an upstream says of the two revisions; all of it is in the cache afterwards."""

    upstream: Upstream
    resolved: Resolved
    old: Snapshot
    new: Snapshot
    changes: Changes
    contents: Mapping[str, bytes]  # by blob id: both versions of each file that changed, and of licences
    held: Mapping[str, bytes] | None = None  # what is taken for the old side's contents where nobody gives them
    commits: tuple[Commit, ...] = ()
    history: str | None = None  # why there are no commits
    lacks: int | None = None  # commits of the pin that the new revision has not; None where that is not known

    @property
    def fixes(self) -> dict[str, str]:
        """Those of the commits that read as fixes, with the word that tells."""
        words = {commit.sha: fixlike(commit.subject, commit.body) for commit in self.commits}
        return {sha: word for sha, word in words.items() if word is not None}


def plans(lock: Lock, names: Sequence[str], access: Access) -> tuple[Preview, ...]:
    """The previews of those `NAME@REV` that would move a synced entry.

    Raises UsageError and UpstreamError where a name or a revision is wrong, or is not to be had.
    """
    found = []
    for one in plan.select(lock, names):
        resolved = one.upstream.resolved
        if resolved is None or one.rev is None:
            continue
        revision = fetch.resolve(one.upstream, one.rev, access)
        if revision != resolved.revision:
            found.append(preview(lock, survey(lock, one.upstream, revision, access), access))
    return tuple(found)


def survey(lock: Lock, upstream: Upstream, revision: str, access: Access) -> Ground:
    """Fetch what `preview` needs, for an entry that has a record. UpstreamError where that is not to be had."""
    resolved = upstream.resolved
    assert resolved is not None
    new = fetch.snapshot(upstream, revision, access)
    try:
        old = fetch.snapshot(upstream, resolved.revision, access)
    except GoneError as problem:
        return _salvaged(lock, upstream, new, problem, access)
    changes = compare(upstream, new, old)
    before = {change.recorded.blob for change in changes.files} | _legal(upstream, old)
    after = {change.new_blob for change in changes.files if change.new_blob} | _legal(upstream, new)
    contents = fetch.blobs(upstream, resolved.revision, before, access) if before else {}
    contents |= fetch.blobs(upstream, revision, after - before, access) if after - before else {}
    paths = [*(change.recorded.path for change in changes.files), *(file.path for file in changes.new)]
    try:
        commits = fetch.log(upstream, resolved.revision, revision, paths, access)
        lacks = fetch.lacking(upstream, resolved.revision, revision, access)
    except UpstreamError as problem:
        return Ground(upstream, resolved, old, new, changes, contents, history=problem.message.split("\n")[0])
    return Ground(upstream, resolved, old, new, changes, contents, commits=commits, lacks=lacks)


def _salvaged(lock: Lock, upstream: Upstream, new: Snapshot, gone: GoneError, access: Access) -> Ground:
    """The same without upstream's old bytes and its history: nobody gives them any more."""
    assert upstream.resolved is not None
    held = salvage.made(lock, upstream, gone).fetched
    contents = fetch.blobs(upstream, new.revision, oids, access) if (oids := _legal(upstream, new)) else {}
    kept = {oid: held.contents[oid] for oid in _legal(upstream, held.snapshot)}
    return Ground(
        upstream,
        upstream.resolved,
        held.snapshot,
        new,
        compare(upstream, new),
        {**kept, **contents},
        held.contents,
        history=f"nobody gives `{upstream.resolved.revision[:12]}` any more",
    )


def _legal(upstream: Upstream, snapshot: Snapshot) -> set[str]:
    found = licences.find_legal(snapshot.entries.keys(), upstream.from_)
    return {snapshot.entries[found.license].oid} if found.license else set()


def preview(lock: Lock, ground: Ground, access: Access) -> Preview:
    """What `sync NAME@REV` would make of the entry, by the very steps of it."""
    fates = _fates(ground, access)
    files = [_news(change, ground, fates) for change in ground.changes.files]
    files += [_added(file.path, file.to, f"matches `{file.spec.path}`") for file in ground.changes.new]
    patches: tuple[PatchNews, ...] = ()
    clashes: tuple[ClashNews, ...] = ()
    refusal = None
    try:
        upgrade = upgrades.prepare(lock, ground.upstream, ground.new.revision, access)
    except (ConflictError, UsageError) as problem:
        refusal = Refusal(problem.message, problem.hint)
    else:
        patches = tuple(PatchNews(step.patch.path, step.status, step.notes) for step in upgrade.rebase.steps)
        clashes = tuple(
            ClashNews(conflict.path, step.patch.path, conflict.kind, len(conflict.clashes) or 1)
            for step in upgrade.rebase.steps
            for conflict in step.conflicts
        )
        known = {file.to for file in ground.resolved.files} | {file.to for file in files}
        files += [
            _added(file.path, file.to, "is in `files:` since the last sync")
            for file in upgrade.new.files
            if file.path and file.to not in known
        ]
    return Preview(
        upstream=ground.upstream.name,
        url=fetch.plain_url(ground.upstream.url),
        old=ground.old.revision,
        new=ground.new.revision,
        old_date=ground.old.date,
        new_date=ground.new.date,
        total=len(ground.resolved.files),
        files=tuple(sorted(files, key=lambda file: file.to)),
        lacks=ground.lacks,
        elsewhere=ground.changes.elsewhere,
        commits=ground.commits,
        fixes=ground.fixes,
        history=ground.history,
        legal=tuple(_legal_news(ground)),
        patches=patches,
        clashes=clashes,
        refusal=refusal,
    )


def _fates(ground: Ground, access: Access) -> dict[str, str]:
    """Where the files went that are not there any more, in words."""
    gone = [change.recorded.path for change in ground.changes.files if change.kind in ("gone", "renamed")]
    if not gone:
        return {}
    way = missing.Way(ground.upstream, ground.old, ground.new, access, ground.held)
    return {one.path: moves.describe(one) for one in missing.proposals(way, gone)}


def _news(change: FileChange, ground: Ground, fates: Mapping[str, str]) -> FileNews:
    path, to = change.recorded.path, change.recorded.to
    now = change.new_path if change.new_path != path else None
    if change.kind == "mode":
        return FileNews(path, to, "mode", "executable bit only")
    if change.kind != "changed":
        return FileNews(path, to, change.kind, fates.get(path, f"`{path}` is gone"), now)
    if ground.held is not None:
        return FileNews(path, to, "changed", "what is not known: nobody gives the old version any more")
    assert change.new_blob is not None
    old, new = ground.contents[change.recorded.blob], ground.contents[change.new_blob]
    found = surface(old, new) or Surface()
    return FileNews(
        path=path,
        to=to,
        fate="changed",
        detail=detail(old, new),
        imports=found.imports,
        added=found.added,
        removed=found.removed,
        signature=found.signature,
        body=found.body,
    )


def _added(path: str, to: str, why: str) -> FileNews:
    return FileNews(path, to, "added", f"`{path}` {why}")


def _legal_news(ground: Ground) -> Iterator[LegalNews]:
    recorded = ground.resolved.license
    if ground.changes.license is not None and recorded is not None:
        found = licences.find_legal(ground.new.entries.keys(), ground.upstream.from_).license
        oid = ground.new.entries[found].oid if found else ""
        text = ground.contents.get(oid, b"").decode("utf-8", "replace")
        yield LegalNews("licence", ground.changes.license, recorded.spdx, licences.detect(text).spdx if text else None)
    if ground.changes.notice is not None:
        yield LegalNews("NOTICE", ground.changes.notice)
