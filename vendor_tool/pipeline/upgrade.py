"""`sync NAME@REV`: carry an entry and its patches to another revision by a merge in transformed space.

Base is the old upstream through today's rules, theirs the new one through the same rules, ours the patch series. So
a change of rules never looks like a conflict, and neither does our own rewriting.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from vendor_tool import fetch, licences, lockfile, merge, moves, plan
from vendor_tool import patch as patches
from vendor_tool.errors import ConflictError, ContentError
from vendor_tool.lockfile import edit
from vendor_tool.model import Access, Blob, Build, Lock, Snapshot, Tree, Upstream
from vendor_tool.pipeline import build as builds
from vendor_tool.pipeline import state
from vendor_tool.pipeline.build import Fetched, Made
from vendor_tool.plan import Target
from vendor_tool.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class Upgrade:
    """An entry on its way from the recorded revision to another one."""

    old: Made  # the recorded revision through today's rules, without patches
    new: Made  # the wanted one, likewise
    rebase: merge.Rebase

    @property
    def name(self) -> str:
        return self.new.fetched.upstream.name

    @property
    def revision(self) -> str:
        return self.new.fetched.snapshot.revision


@dataclass(frozen=True, slots=True)
class Finished:
    """What an upgrade writes: the lock's text, the build, and the patch files that changed; None for those that go."""

    text: str
    build: Build
    patches: Mapping[str, Blob | None]


def prepare(
    lock: Lock,
    upstream: Upstream,
    revision: str,
    access: Access,
    resolutions: Mapping[int, merge.Resolution] | None = None,
) -> Upgrade:
    """Fetch both revisions, apply today's rules to both, and carry the series over.

    Raises ConflictError with a proposal where the new revision lacks a file that the entry maps.
    """
    assert upstream.resolved is not None
    old_snapshot = fetch.snapshot(upstream, upstream.resolved.revision, access)
    new_snapshot = fetch.snapshot(upstream, revision, access)
    require_mapped(lock, upstream, old_snapshot, new_snapshot, access)
    new = _plain(lock, upstream, new_snapshot, plan.targets(upstream, new_snapshot, lock.path.name), access)
    old = _plain(lock, upstream, old_snapshot, old_targets(upstream, old_snapshot, new.fetched.targets), access)
    series = builds.read_series(lock, upstream)
    rebase = merge.upgrade(
        tree(old), tree(new), series, label=f"{upstream.name}@{revision[:12]}", resolutions=resolutions
    )
    return Upgrade(old, new, rebase)


def tree(made: Made) -> Tree:
    """The plain files of an entry by local path."""
    return {file.to: Blob(file.plain, file.executable) for file in made.files}


def _plain(lock: Lock, upstream: Upstream, snapshot: Snapshot, targets: Sequence[Target], access: Access) -> Made:
    found = licences.find_legal(snapshot.entries.keys(), upstream.from_)
    paths = [target.path for target in targets]
    paths += [path for path in (found.license, found.notice, *found.others) if path]
    oids = {snapshot.entries[path].oid for path in paths if snapshot.entries[path].mode in ("100644", "100755")}
    contents = fetch.blobs(upstream, snapshot.revision, oids, access)
    return builds.make(lock, Fetched(upstream, snapshot, tuple(targets), found, contents), access, series=())


def old_targets(upstream: Upstream, old: Snapshot, new: Sequence[Target]) -> list[Target]:
    """Where the files of the new mapping were at the old revision: by path, else by what was recorded for the place."""
    recorded = {item.to: item.path for item in upstream.resolved.files} if upstream.resolved else {}
    found = []
    for target in new:
        path = target.path if target.path in old.entries else recorded.get(target.to, "")
        if path in old.entries:
            found.append(replace(target, path=path))
    return found


def require_mapped(lock: Lock, upstream: Upstream, old: Snapshot, new: Snapshot, access: Access) -> None:
    """Refuse a revision that lacks a mapped file: a silent drop is a loss."""
    gone = [spec for spec in upstream.files if not plan.is_glob(spec.path)]
    gone = [spec for spec in gone if plan.join(upstream.from_, spec.path) not in new.entries]
    if not gone:
        return
    paths = [plan.join(upstream.from_, spec.path) for spec in gone]
    lines = [f"{len(paths)} mapped, and not in `{upstream.name}` at `{new.revision[:12]}`:"]
    lines += [moves.describe(one) for one in proposals(upstream, paths, old, new, access)]
    raise ConflictError(
        "\n  ".join(lines),
        hint=f"change `files:` (line {gone[0].at.line} of {lock.path.name}), then run "
        f"`vendor-tool sync {upstream.name}@{new.revision[:12]}` again; nothing was changed",
    )


def proposals(
    upstream: Upstream, paths: Sequence[str], old: Snapshot, new: Snapshot, access: Access
) -> tuple[moves.Proposal, ...]:
    """Where the content of mapped files went that the new revision lacks."""
    known = [path for path in paths if path in old.entries]
    contents = fetch.blobs(upstream, old.revision, {old.entries[path].oid for path in known}, access) if known else {}

    def read(wanted: Collection[str]) -> Mapping[str, bytes]:
        oids = {path: new.entries[path].oid for path in wanted}
        found = fetch.blobs(upstream, new.revision, set(oids.values()), access) if oids else {}
        return {path: found[oid] for path, oid in oids.items()}

    missing = {path: contents[old.entries[path].oid] for path in known}
    return moves.propose(missing, old.entries, new.entries, read)


def require_clean(lock: Lock, upstream: Upstream) -> None:
    """Refuse to go on over edits that no patch holds. Raises ContentError naming them."""
    found = upstream.resolved
    edited = [item.to for item in (found.files if found else ()) if not state.as_recorded(lock, item)]
    edited = [path for path in edited if state.on_disk(lock, path)[0] is not None]
    if edited:
        raise state.edited(upstream.name, edited)


def finish(lock: Lock, upgrade: Upgrade, access: Access) -> Finished:
    """The lock's new text, the proven build and the patch files of an upgrade without conflicts.

    The series that is written is replayed on the new revision; ContentError where that does not give the merged tree.
    """
    rebase = upgrade.rebase
    assert rebase.tree is not None
    texts = rebase.texts
    name = upgrade.name
    text = lockfile.decode(lock.path, lockfile.read_bytes(lock.path))
    if list(texts) != [spec.path for spec in lock.upstreams[name].patches]:
        text = edit.set_value(text, ("upstreams", name, "patches"), list(texts))
    text = edit.set_value(text, ("upstreams", name, "revision"), upgrade.revision)
    after, _ = lockfile.parse_text(lock.path, text)
    series = [patches.parse(path, data) for path, data in texts.items()]
    fetched = replace(upgrade.new.fetched, upstream=after.upstreams[name])
    build = builds.build(after, fetched, access, series)
    replayed = {file.to: Blob(file.final, file.executable) for file in build.files}
    if replayed != dict(rebase.tree):
        different = sorted(path for path in {*replayed, *rebase.tree} if replayed.get(path) != rebase.tree.get(path))
        raise ContentError(
            f"the carried series does not replay to the merged `{different[0]}`",
            hint="report it with the upstream's two revisions; nothing was changed",
        )
    changed: dict[str, Blob | None] = {path: Blob(data) for path, data in texts.items()}
    changed |= {step.patch.path: None for step in rebase.steps if step.patch.path not in texts}
    return Finished(text, build, changed)
