"""Carry out an upgrade, a refresh or a drop; or stop it at a conflict, continue and abort it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from vendor_tool import fetch, lockfile, merge, write
from vendor_tool.errors import ConflictError, ContentError, UpstreamError, UsageError, VendorError
from vendor_tool.model import Access, Blob, Lock, Upstream
from vendor_tool.pipeline import missing, session, sync, terms
from vendor_tool.pipeline import upgrade as upgrades
from vendor_tool.pipeline.session import Session
from vendor_tool.pipeline.sync import Done
from vendor_tool.pipeline.upgrade import Task, Upgrade
from vendor_tool.values import replace

_DEFINITION = re.compile(rb"(?:async\s+)?(?:def|class)\s+([A-Za-z_]\w*)")


def upgrade(
    lock: Lock, upstream: Upstream, task: Task, access: Access, *, force: bool, dry_run: bool, accept_license: bool
) -> Done:
    """Carry one entry to a revision. Raises ConflictError where a person is needed, with a session left behind."""
    if not force:
        upgrades.require_clean(lock, upstream)
    prepared = upgrades.prepare_task(lock, upstream, task, access)
    terms.require_accepted(prepared, accepted=accept_license)
    if prepared.rebase.tree is None:
        told = _split_off(prepared, prepared.rebase, access)
        raise _stop(lock, upstream, task, prepared.rebase, {}, dry_run=dry_run, told=told)
    return _finish(lock, task, prepared, access, force=force, dry_run=dry_run)


def stops(lock: Lock, upstream: Upstream, revision: str, access: Access) -> bool:
    """Whether an upgrade would stop at a conflict. Raises what `upgrade` raises before it writes anything."""
    upgrades.require_clean(lock, upstream)
    return upgrades.prepare_task(lock, upstream, Task("upgrade", revision), access).rebase.tree is None


def rework(lock: Lock, upstream: Upstream, task: Task, access: Access) -> Done:
    """Carry out a refresh or a drop. Raises as `upgrade` does."""
    prepared = upgrades.prepare_task(lock, upstream, task, access)
    if prepared.rebase.tree is None:
        raise _stop(lock, upstream, task, prepared.rebase, {}, dry_run=False)
    return _finish(lock, task, prepared, access)


def _finish(
    lock: Lock,
    task: Task,
    prepared: Upgrade,
    access: Access,
    *,
    force: bool = False,
    dry_run: bool = False,
    ends: str = "",
) -> Done:
    """Write the result; `ends` names the session that ends with it, in the same swap."""
    finished = upgrades.finish(lock, prepared, access)
    build = finished.build
    if task.kind == "upgrade":
        build = replace(build, resolved=replace(build.resolved, tag=task.tag))
    end: dict[str, Blob | None] = {session.state_path(ends): None, session.end_path(ends): Blob(b"")} if ends else {}
    changed: dict[str, Blob | None] = {**finished.patches, **end}
    done = sync.apply(
        lock,
        [build],
        text=finished.text,
        force=force,
        dry_run=dry_run,
        cache=access.cache,
        patches=changed,
        held=task.edits,
    )
    said = steps(prepared.rebase)
    if task.kind == "upgrade":
        said = (*_news(prepared, access), *said, *(() if dry_run else _standing(prepared, access)))
    written, removed = (
        tuple(path for path in paths if not path.startswith(f"{write.FOLDER}/"))
        for paths in (done.written, done.removed)
    )
    return replace(done, written=written, removed=removed, said=said)


def _news(prepared: Upgrade, access: Access) -> tuple[str, ...]:
    """What the new revision changes beside the files: terms first, then files that went."""
    old = prepared.old.fetched.snapshot.revision
    terms_ = terms.require_accepted(prepared, accepted=True)
    return (*terms_, f"{prepared.name}: {old[:12]} -> {prepared.revision[:12]}", *upgrades.lost(prepared, access))


def _standing(prepared: Upgrade, access: Access) -> tuple[str, ...]:
    """That upstream rewrote its history or moved its branch, which an upgrade survives and a person should know."""
    if access.offline:
        return ()
    upstream, revision = prepared.new.fetched.upstream, prepared.revision
    old, lines = prepared.old.fetched.snapshot.revision, []
    copy = f"`{old[:12]}` was merged from the copy held here"
    try:
        if not fetch.descends(upstream, old, revision, access):
            why = "it is older, or on another branch, or upstream rewrote its history"
            lines.append(f"{upstream.name}: `{revision[:12]}` does not descend from `{old[:12]}`: {why}; {copy}")
    except UpstreamError:
        lines.append(f"{upstream.name}: upstream does not give `{old[:12]}` any more; {copy}")
    if upstream.branch is not None:
        try:
            heads = fetch.refs(upstream, access, ("refs/heads/*",))
        except UpstreamError:
            return tuple(lines)
        if f"refs/heads/{upstream.branch}" not in heads:
            names = ", ".join(f"`{name.removeprefix('refs/heads/')}`" for name in list(heads)[:5])
            gone = f"upstream has no branch `{upstream.branch}` any more"
            lines.append(f"{upstream.name}: {gone}, but {names}: mend `branch:` in the lock")
    return tuple(lines)


def steps(rebase: merge.Rebase) -> tuple[str, ...]:
    """What became of each patch, in words."""
    words = {
        "clean": "applies as it is",
        "changed": "carried over",
        "dropped": "dropped",
        "conflict": "conflicts",
        "waiting": "waits for the conflict before it",
    }
    lines = []
    for index, step in enumerate(rebase.steps):
        if step.status == "obsolete":
            settled = index in rebase.plan.resolutions or index in rebase.plan.replaced
            what = "dropped: nothing of it is left" if settled else f"dropped: {rebase.plan.label} has this now"
        else:
            what = words[step.status]
        lines.append(f"{step.patch.path}: {what}")
        lines += [f"  {note}" for note in step.notes]
    return tuple(lines)


def _stop(
    lock: Lock,
    upstream: Upstream,
    task: Task,
    rebase: merge.Rebase,
    settled: Mapping[int, merge.Resolution],
    *,
    dry_run: bool,
    told: Mapping[str, tuple[str, ...]] | None = None,
) -> ConflictError:
    assert rebase.stopped is not None
    lines, told = list(steps(rebase)), told or {}
    for conflict in rebase.conflicts:
        lines.append(f"{conflict.path}: {len(conflict.clashes) or 1} in conflict; {conflict.kind}")
        lines += [f"  {note}" for note in told.get(conflict.path, ())]
    if dry_run:
        what = "\n".join([f"upgrade of `{upstream.name}` to `{task.revision[:12]}` stops at a conflict", *lines])
        return ConflictError(what, hint="run it without `--dry-run` to settle the conflict")
    kept = session.save(lock, upstream, task, rebase, settled, told)
    place = f"{write.FOLDER}/merge/{upstream.name}"
    hint = (
        f"edit {', '.join(f'`{place}/{one.path}`' for one in kept.files)}, or run `git mergetool` in `{place}`; then "
        "`vendor-tool sync --continue`, or `vendor-tool sync --abort` to give up; tree and lock are as they were"
    )
    return ConflictError("\n".join([f"{kept.what} stops at a conflict", *lines]), hint=hint)


def _split_off(prepared: Upgrade, rebase: merge.Rebase, access: Access) -> dict[str, tuple[str, ...]]:
    """By local path in conflict, where upstream put what it took out of that file; nothing where it cannot be read."""
    old, new = prepared.old.fetched, prepared.new.fetched
    way = missing.Way(new.upstream, old.snapshot, new.snapshot, access)
    paths = {target.to: target.path for target in old.targets}
    told = {}
    for conflict in rebase.conflicts:
        lines = [line for clash in conflict.clashes if not clash.theirs for line in clash.base]
        removed = [match[1].decode() for line in lines if (match := _DEFINITION.match(line))]
        if removed and conflict.path in paths:
            try:
                told[conflict.path] = missing.split_off(way, paths[conflict.path], removed)
            except UpstreamError:
                continue
    return told


# ---- go on, or give up ------------------------------------------------------------------------------------


def resume(path: Path, name: str | None, access: Access) -> Done:
    """Take what a person made of the conflict into the patch that it belongs to, and go on.

    Raises ConflictError for markers that are left and for the next conflict, UsageError where nothing is stopped or
    the lock was changed in between.
    """
    root = lockfile.load(path, access.cache).root
    before = session.pending(root)
    with write.exclusive(root):
        ended = _ended(root, before, name)
        if ended:
            return Done(said=(f"{ended}: the run that was killed had carried it out",))
        lock = lockfile.load(path, access.cache)
        stopped = session.load(root, _one(root, name))
        if (hindrance := hindered(lock, stopped)) is not None:
            raise hindrance
        upstream = lock.upstreams[stopped.name]
        prepared = upgrades.prepare_task(lock, upstream, stopped.task, access, stopped.resolutions)
        if prepared.rebase.stopped != stopped.stopped or {one.path for one in stopped.files} != {
            conflict.path for conflict in prepared.rebase.conflicts
        }:
            raise _start_anew(stopped, "does not stop where it did: the tools that shape the files are other ones now")
        resolution = session.resolution(root, stopped)
        rebase = merge.resume(prepared.rebase, resolution)
        if rebase.tree is None:
            told = _split_off(prepared, rebase, access)
            raise _stop(lock, upstream, stopped.task, rebase, rebase.plan.resolutions, dry_run=False, told=told)
        carried = Upgrade(prepared.old, prepared.new, rebase)
        done = _finish(lock, stopped.task, carried, access, ends=stopped.name)
        session.drop(root, stopped.name)
        return done


def hindered(lock: Lock, stopped: Session) -> VendorError | None:
    """Why a stopped merge must not go on: the lock, a patch or a vendored file was changed since it began."""
    upstream = lock.upstreams.get(stopped.name)
    if upstream is None:
        return UsageError(
            f"`{stopped.name}` is not in the lock any more", hint=f"run `vendor-tool sync --abort {stopped.name}`"
        )
    if session.inputs(lock, upstream) != stopped.inputs:
        return _start_anew(stopped, "began with another lock: the entry or a patch was changed since")
    return _other_edits(lock, upstream, stopped)


def _start_anew(stopped: Session, why: str) -> UsageError:
    return UsageError(
        f"the {stopped.what} {why}",
        hint=f"undo that change, or run `vendor-tool sync --abort {stopped.name}` and `{stopped.again}`; "
        f"what you settled is in `{write.FOLDER}/merge/{stopped.name}` until then",
    )


def _other_edits(lock: Lock, upstream: Upstream, stopped: Session) -> ContentError | None:
    """What was edited by hand must still be just that."""
    from vendor_tool.pipeline import state

    edits = stopped.task.edits
    found = upstream.resolved.files if upstream.resolved else ()
    edited = [item.to for item in found if item.to not in edits and not state.as_recorded(lock, item)]
    edited = [path for path in edited if state.on_disk(lock, path)[0] is not None]
    edited += [path for path, blob in edits.items() if state.on_disk(lock, path) != (blob.data, blob.executable)]
    if not edited:
        return None
    return ContentError(
        f"{state.several(sorted(edited))} edited by hand since the merge stopped",
        hint="put it back, for example with `git checkout`, and run `vendor-tool sync --continue` again; or give "
        "up with `vendor-tool sync --abort`, and keep the edit with `vendor-tool patch new`",
    )


def abort(path: Path, name: str | None, access: Access) -> str:
    """Give a stopped merge up; what to say of it. The tree and the lock never knew of it.

    Raises UsageError where nothing is stopped.
    """
    root = lockfile.load(path, access.cache).root
    before = session.pending(root)
    with write.exclusive(root):
        ended = _ended(root, before, name)
        if ended:
            return f"{ended}: nothing to give up, the run that was killed had carried it out; see `git diff`"
        found = _one(root, name)
        session.drop(root, found)
        return f"{found}: given up; the tree and the lock are as they were"


def _ended(root: Path, before: tuple[str, ...], name: str | None) -> str | None:
    """The upstream whose merge a killed run had carried out, all but clearing up."""
    ended = {*session.mend(root), *before} - {*session.pending(root)}
    return next((one for one in sorted(ended) if name in (None, one)), None)


def _one(root: Path, name: str | None) -> str:
    stopped = session.pending(root)
    if not stopped:
        raise UsageError(
            "nothing is stopped", hint="`vendor-tool sync NAME@REV` starts an upgrade; it stops only at a conflict"
        )
    if name is None and len(stopped) > 1:
        raise UsageError(f"more than one merge is stopped: {', '.join(stopped)}", hint="name the one you mean")
    if name is not None and name not in stopped:
        raise UsageError(f"nothing of `{name}` is stopped", hint=f"stopped: {', '.join(stopped)}")
    return name or stopped[0]
