"""Run an upgrade: carry it out, or stop it at a conflict, continue and abort it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vendor_tool import lockfile, merge, write
from vendor_tool.errors import ConflictError, UsageError
from vendor_tool.model import Access, Lock, Upstream
from vendor_tool.pipeline import session, sync
from vendor_tool.pipeline import upgrade as upgrades
from vendor_tool.pipeline.sync import Done
from vendor_tool.pipeline.upgrade import Upgrade


def upgrade(lock: Lock, upstream: Upstream, revision: str, access: Access, *, force: bool, dry_run: bool) -> Done:
    """Carry one entry to a revision. Raises ConflictError where a person is needed, with a session left behind."""
    if not force:
        upgrades.require_clean(lock, upstream)
    prepared = upgrades.prepare(lock, upstream, revision, access)
    if prepared.rebase.tree is None:
        raise _stop(lock, upstream, prepared, {}, dry_run=dry_run)
    return _finish(lock, prepared, access, force=force, dry_run=dry_run)


def _finish(lock: Lock, prepared: Upgrade, access: Access, *, force: bool, dry_run: bool) -> Done:
    finished = upgrades.finish(lock, prepared, access)
    done = sync.apply(
        lock,
        [finished.build],
        text=finished.text,
        force=force,
        dry_run=dry_run,
        cache=access.cache,
        patches=finished.patches,
    )
    old = prepared.old.fetched.snapshot.revision
    said = (f"{prepared.name}: {old[:12]} -> {prepared.revision[:12]}", *steps(prepared.rebase))
    return Done(said=said).also(done)


def steps(rebase: merge.Rebase) -> tuple[str, ...]:
    """What became of each patch, in words."""
    words = {
        "clean": "applies as it is",
        "changed": "carried over",
        "obsolete": "dropped: upstream has this now",
        "dropped": "dropped",
        "conflict": "conflicts",
        "waiting": "waits for the conflict before it",
    }
    lines = []
    for step in rebase.steps:
        lines.append(f"{step.patch.path}: {words[step.status]}")
        lines += [f"  {note}" for note in step.notes]
    return tuple(lines)


def _stop(
    lock: Lock, upstream: Upstream, prepared: Upgrade, settled: Mapping[int, merge.Resolution], *, dry_run: bool
) -> ConflictError:
    rebase = prepared.rebase
    assert rebase.stopped is not None
    lines = [f"upgrade of `{upstream.name}` to `{prepared.revision[:12]}` stops at a conflict", *steps(rebase)]
    for conflict in rebase.conflicts:
        lines.append(f"{conflict.path}: {len(conflict.clashes) or 1} in conflict; {conflict.kind}")
    if dry_run:
        return ConflictError("\n".join(lines), hint="run it without `--dry-run` to settle the conflict")
    kept = session.save(lock, upstream, prepared.revision, rebase, settled)
    place = f"{write.FOLDER}/merge/{upstream.name}"
    hint = (
        f"edit {', '.join(f'`{place}/{path}`' for path in kept.paths)}, then run `vendor-tool sync --continue`; "
        "`vendor-tool sync --abort` gives up. The tree and the lock are as they were"
    )
    return ConflictError("\n".join(lines), hint=hint)


def resume(path: Path, name: str | None, access: Access) -> Done:
    """Take what a person made of the conflict into the patch that it belongs to, and go on.

    Raises ConflictError for markers that are left and for the next conflict, UsageError where nothing is stopped or
    the lock was changed in between.
    """
    root = lockfile.load(path, access.cache).root
    with write.exclusive(root):
        lock = lockfile.load(path, access.cache)
        stopped = session.load(root, _one(root, name))
        upstream = lock.upstreams.get(stopped.name)
        if upstream is None:
            raise UsageError(f"`{stopped.name}` is not in the lock any more", hint="run `vendor-tool sync --abort`")
        if upstream.resolved and upstream.resolved.revision == stopped.revision == upstream.revision:
            # killed after the swap: all that is left to do is to forget the session
            session.drop(root, stopped.name)
            return Done(said=(f"{stopped.name}: {stopped.revision[:12]} was reached",))
        if session.inputs(lock, upstream) != stopped.inputs:
            raise UsageError(
                f"the lock or a patch of `{stopped.name}` was changed since the upgrade stopped",
                hint=f"run `vendor-tool sync --abort`, then `vendor-tool sync {stopped.name}@{stopped.revision[:12]}`",
            )
        upgrades.require_clean(lock, upstream)
        prepared = upgrades.prepare(lock, upstream, stopped.revision, access, stopped.resolutions)
        resolution = session.resolution(root, stopped)
        rebase = merge.resume(prepared.rebase, resolution)
        settled = {**stopped.resolutions, stopped.stopped: resolution}
        carried = Upgrade(prepared.old, prepared.new, rebase)
        if rebase.tree is None:
            raise _stop(lock, upstream, carried, settled, dry_run=False)
        done = _finish(lock, carried, access, force=False, dry_run=False)
        session.drop(root, stopped.name)
        return done


def abort(path: Path, name: str | None, access: Access) -> str:
    """Give a stopped upgrade up; the name of its upstream. The tree and the lock never knew of it."""
    root = lockfile.load(path, access.cache).root
    with write.exclusive(root):
        found = _one(root, name)
        session.drop(root, found)
        return found


def _one(root: Path, name: str | None) -> str:
    stopped = session.pending(root)
    if not stopped:
        raise UsageError("no upgrade is stopped", hint="start one with `vendor-tool sync NAME@REV`")
    if name is None and len(stopped) > 1:
        raise UsageError(f"more than one upgrade is stopped: {', '.join(stopped)}", hint="name the one you mean")
    if name is not None and name not in stopped:
        raise UsageError(f"no upgrade of `{name}` is stopped", hint=f"stopped: {', '.join(stopped)}")
    return name or stopped[0]
