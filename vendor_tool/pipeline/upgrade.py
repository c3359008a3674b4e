"""Carry an entry's patches to another revision, or over a change of the series, by a merge in transformed space.

For `sync NAME@REV` base is the old upstream through today's rules, theirs the new one through the same rules, ours the
patch series. So a change of rules never looks like a conflict, and neither does our own rewriting. `patch refresh` and
`patch drop` are the same merge at one revision, with another series.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from vendor_tool import fetch, licences, lockfile, merge, moves, plan
from vendor_tool import patch as patches
from vendor_tool.errors import ConflictError, ContentError, GoneError, UpstreamError, UsageError
from vendor_tool.lockfile import edit
from vendor_tool.model import Access, Blob, Build, Lock, Snapshot, Tree, Upstream
from vendor_tool.pipeline import build as builds
from vendor_tool.pipeline import missing, places, salvage, state
from vendor_tool.pipeline.build import Fetched, Made
from vendor_tool.plan import Target
from vendor_tool.transform.imports import NotVendored
from vendor_tool.values import dataclass, field, replace
from vendor_tool.words import command

Kind: TypeAlias = Literal["upgrade", "refresh", "drop"]


@dataclass(frozen=True, slots=True)
class Task:
    """What was asked for: all that is needed, beside lock, patches and upstream, to work it out again."""

    kind: Kind
    revision: str  # commit that the entry shall be at afterwards
    number: int = 0  # of the patch to refresh or drop, from 1
    date: str = ""  # of a refresh, for the patch's head
    edits: Mapping[str, Blob] = field(default_factory=dict)  # local path to content edited by hand, for a refresh
    tag: str | None = None  # by which the revision was asked for


@dataclass(frozen=True, slots=True)
class Upgrade:
    """An entry on its way from the recorded revision to another one, or to another series at the same one."""

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
    kept = None
    try:
        holder, old_snapshot = _held(upstream, upstream.resolved.revision, access)
    except GoneError as problem:
        kept = salvage.made(lock, upstream, problem)
        holder, old_snapshot = upstream, kept.fetched.snapshot
    held = kept.fetched.contents if kept else None
    new_snapshot = fetch.snapshot(upstream, revision, access)
    way = missing.Way(upstream, old_snapshot, new_snapshot, access, held)
    missing.require_mapped(lock, way)
    try:
        new = _plain(lock, upstream, new_snapshot, plan.targets(upstream, new_snapshot, lock.path.name), access)
    except NotVendored as problem:
        raise _newly_needed(upstream, revision, problem) from None
    if kept is not None:
        old = salvage.among(kept, {target.to for target in new.fetched.targets})
    else:
        old = _plain(lock, holder, old_snapshot, old_targets(upstream, old_snapshot, new.fetched.targets), access)
    series = places.follow(builds.read_series(lock, upstream), upstream, old.fetched.targets)

    def now(path: str) -> str | None:
        found = missing.proposals(way, [path])
        return next((one.renamed for one in found), None)

    places.require_files(upstream, series, tree(old), now)
    rebase = merge.upgrade(
        tree(old), tree(new), series, label=f"{upstream.name}@{revision[:12]}", resolutions=resolutions
    )
    return Upgrade(old, new, rebase)


def _held(upstream: Upstream, revision: str, access: Access) -> tuple[Upstream, Snapshot]:
    """The recorded revision, and the upstream to read its files from.

    Where nobody has the revision any more, what was fetched of an address under `mirrors:` will do: an upstream that
    moved keeps its old address there, and with it the store that we hold of it.
    """
    try:
        return upstream, fetch.snapshot(upstream, revision, access)
    except UpstreamError:
        for url in upstream.mirrors:
            before = replace(upstream, url=url, mirrors=())
            try:
                return before, fetch.snapshot(before, revision, replace(access, offline=True))
            except UpstreamError:
                continue
        raise


def _newly_needed(upstream: Upstream, revision: str, problem: NotVendored) -> UsageError:
    """Files that the mapped ones import at the new revision and did not before: which, and how to add them."""
    paths = list(dict.fromkeys(one.path for one in problem.missing if one.path))
    message = f"`{upstream.name}` at `{revision[:12]}` imports what is not vendored; nothing was changed\n"
    message += "\n".join(
        f"  {one.place}: `{one.text}` needs `{one.path}`" if one.path else f"  {one.place}: `{one.text}`"
        for one in problem.missing
    )
    prefix = f"{upstream.from_}/" if upstream.from_ else ""
    below = [path.removeprefix(prefix) for path in paths if path.startswith(prefix)]
    if not below:
        return UsageError(message, hint=problem.hint)
    files = [word for path in below for word in ("--file", path)]
    add = command("vendor-tool", "add", upstream.name, "--rev", revision[:12], *files)
    return UsageError(
        message,
        hint=f"run `{add}`, then `vendor-tool sync {upstream.name}`",
    )


def prepare_task(
    lock: Lock,
    upstream: Upstream,
    task: Task,
    access: Access,
    resolutions: Mapping[int, merge.Resolution] | None = None,
) -> Upgrade:
    """Work a task out. Raises what `prepare` raises, and UsageError for a patch that the series does not have."""
    if task.kind == "upgrade":
        return prepare(lock, upstream, task.revision, access, resolutions)
    whole = recorded(lock, upstream, access)
    bare = (file for file in whole.files if file.path)
    bare = (replace(file, final=file.plain, executable=file.executable_before) for file in bare)
    made = replace(whole, files=tuple(bare))
    if task.kind == "drop":
        return Upgrade(made, made, merge.drop(tree(made), whole.series, task.number, resolutions=resolutions))
    final = {file.to: Blob(file.final, file.executable) for file in whole.files}
    require_told_apart(upstream, final, task.edits)
    series = [
        replace(one, preamble=_dated(one.preamble, task.date)) if number == task.number else one
        for number, one in enumerate(whole.series, 1)
    ]
    after = _folded(tree(made), series, task, final)
    rebase = merge.refresh(tree(made), series, task.number, after, resolutions=resolutions)
    if rebase.tree is not None and not resolutions and dict(rebase.tree) != {**final, **task.edits}:
        raise _belongs_elsewhere(upstream, task)
    return Upgrade(made, made, rebase)


def recorded(lock: Lock, upstream: Upstream, access: Access) -> Made:
    """What the lock makes of the recorded revision, with the whole series. UsageError for an entry without a record."""
    if upstream.resolved is None:
        raise UsageError(
            f"`{upstream.name}` was never synced", hint=f"run `vendor-tool sync {upstream.name}`, then this again"
        )
    return builds.make(lock, builds.gather(lock, [(upstream, upstream.resolved.revision)], access)[0], access)


def require_told_apart(upstream: Upstream, final: Tree, edits: Tree) -> None:
    """Refuse edits of files that the lock now makes otherwise than when they were edited. Raises ContentError."""
    known = {item.to: item.sha256 for item in upstream.resolved.files} if upstream.resolved else {}
    for path in edits:
        if path in known and (path not in final or hashlib.sha256(final[path].data).hexdigest() != known[path]):
            raise ContentError(
                f"`{path}` was edited by hand, and the entry's rules or patches were changed as well: "
                "the two cannot be told apart",
                hint="undo the change of the lock or the patch, run this again, then make the change once more",
            )


def _folded(plain: Tree, series: Sequence[patches.Patch], task: Task, final: Tree) -> Tree:
    """What the patch to refresh shall make: what it makes now, with the edits of the final files carried back to it."""
    if not 1 <= task.number <= len(series):
        return plain  # refused, with the words for it, by `merge.refresh`
    own = patches.replay(series[: task.number], plain)[-1]
    labels = merge.Labels(series[task.number - 1].path, "the whole series", merge.EDITS)
    merged = merge.merge_trees(final, own, {**final, **task.edits}, labels)
    if merged.conflicts:
        conflict = merged.conflicts[0]
        where = f", line {conflict.clashes[0].theirs_lines[0]}" if conflict.clashes else ""
        later = [one.path for one in series[task.number :] if conflict.path in one.paths]
        raise ConflictError(
            f"the edit of `{conflict.path}`{where} touches what a later patch changes: "
            + ", ".join(f"`{path}`" for path in later),
            hint="refresh that one, or take the edit in by itself with `vendor-tool patch new`; nothing was changed",
        )
    return merged.tree


def _belongs_elsewhere(upstream: Upstream, task: Task) -> ConflictError:
    return ConflictError(
        f"with the edits in patch {task.number} of `{upstream.name}`, the series does not make the files that you have",
        hint="refresh a later patch, or take the edits in by themselves with `vendor-tool patch new`; "
        "nothing was changed",
    )


def _dated(preamble: bytes, date: str) -> bytes:
    return re.sub(rb"(?m)^(Last-Update:[ \t]*)\d{4}-\d\d-\d\d", rb"\g<1>" + date.encode(), preamble)


def tree(made: Made) -> Tree:
    """The plain files of an entry by local path."""
    return {file.to: Blob(file.plain, file.executable_before) for file in made.files}


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


def lost(upgrade: Upgrade, access: Access) -> tuple[str, ...]:
    """Where the files went that a glob found at the recorded revision and that are not there any more, in words."""
    upstream = upgrade.new.fetched.upstream
    old, new = upgrade.old.fetched.snapshot, upgrade.new.fetched.snapshot
    known = upstream.resolved.files if upstream.resolved else ()
    paths = [item.path for item in known if item.path and item.path not in new.entries]
    paths = [path for path in paths if plan.spec_of(upstream, path) is not None]
    if not paths:
        return ()
    held = upgrade.old.fetched.contents if old.partial else None
    found = missing.proposals(missing.Way(upstream, old, new, access, held), paths)
    return tuple(f"{upstream.name}: {moves.describe(one)}" for one in found)


def require_clean(lock: Lock, upstream: Upstream) -> None:
    """Refuse to go on over edits that no patch holds. Raises ContentError naming them."""
    found = upstream.resolved
    edited = [item.to for item in (found.files if found else ()) if not state.as_recorded(lock, item)]
    edited = [path for path in edited if state.on_disk(lock, path)[0] is not None]
    if edited:
        raise state.edited(upstream.name, edited)


def finish(lock: Lock, upgrade: Upgrade, access: Access, *, text: str | None = None) -> Finished:
    """The lock's new text, the proven build and the patch files of an upgrade without conflicts.

    `text` is the lock's text to go on from, where it is no longer the one on the disk.
    The series that is written is replayed on the new revision; ContentError where that does not give the merged tree.
    """
    rebase = upgrade.rebase
    assert rebase.tree is not None
    texts = rebase.texts
    name = upgrade.name
    text = lockfile.decode(lock.path, lockfile.read_bytes(lock.path)) if text is None else text
    for spec in lock.upstreams[name].patches:
        if spec.path not in texts:
            text = edit.remove_item(text, ("upstreams", name, "patches"), spec.path)
    if upgrade.old is not upgrade.new:
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
