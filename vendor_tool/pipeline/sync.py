"""`sync` without a revision: make the tree what the lock says, and record what was done."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vendor_tool import lockfile, plan, write
from vendor_tool.errors import ContentError
from vendor_tool.lockfile import edit
from vendor_tool.model import Access, Blob, Build, Finding, Lock, Tree, Upstream
from vendor_tool.pipeline import state
from vendor_tool.pipeline.state import on_disk

GENERATED = b"vendor-tool"
"""Stands in the first lines of every file that is generated whole: such a file may be written anew."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a sync did, or would do."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    files: int = 0
    revisions: Mapping[str, tuple[str, str]] | None = None  # upstream -> (old, new)
    notes: tuple[Finding, ...] = ()


def run(path: Path, names: Sequence[str], access: Access, *, force: bool = False, dry_run: bool = False) -> Done:
    """Bring the named upstreams, or all, to what the lock says. Raises what `build` and `apply` raise."""
    lock = lockfile.load(path, access.cache)
    chosen = [lock.upstreams[name] for name in lock.upstreams if not names or name in names]
    if state.up_to_date(lock, chosen) and not write.pending(lock.root):
        return Done(files=sum(len(one.resolved.files) for one in chosen if one.resolved))
    if dry_run:
        return _run(lock, chosen, access, force=force, dry_run=True)
    with write.exclusive(lock.root):
        # another run may have changed the lock while this one waited
        lock = lockfile.load(path, access.cache)
        chosen = [lock.upstreams[one.name] for one in chosen if one.name in lock.upstreams]
        return _run(lock, chosen, access, force=force, dry_run=False)


def _run(lock: Lock, chosen: Sequence[Upstream], access: Access, *, force: bool, dry_run: bool) -> Done:
    from vendor_tool.pipeline import build as builds

    plan.clashes(lock, state.owners(lock), state.documents_of(lock))
    todo = [one for one in chosen if force or not state.entry_up_to_date(lock, one)]
    built = []
    for fetched in builds.gather(lock, [(one, one.revision) for one in todo], access):
        built.append(builds.build(lock, fetched, access))
    _same_bytes(built)
    return apply(lock, built, force=force, dry_run=dry_run, cache=access.cache)


def _same_bytes(built: Sequence[Build]) -> None:
    """Same revision, same intent, same patches and tools, other bytes: that is no sync, that is a fault to be told."""
    for build in built:
        old = build.upstream.resolved
        new = build.resolved
        if old is None or not old.sealed or (old.revision, old.intent, old.patches, old.tools) != (
            new.revision, new.intent, new.patches, new.tools,
        ):  # fmt: skip
            continue
        before = {item.to: (item.blob, item.sha256) for item in old.files}
        for item in new.files:
            if item.to in before and before[item.to] != (item.blob, item.sha256):
                raise ContentError(
                    f"`{item.to}` of upstream `{build.upstream.name}` comes out other than it was recorded, "
                    "with the same revision, rules, patches and tool versions",
                    hint="once you know why, delete the `resolved:` block of the entry to record it anew",
                )


# ---- apply ------------------------------------------------------------------------------------------------


def apply(
    lock: Lock,
    builds: Sequence[Build],
    *,
    force: bool,
    dry_run: bool,
    cache: Path | None = None,
    patches: Tree | None = None,
) -> Done:
    """Write what builds hold, the documents and the lock; all or nothing.

    `patches` are patch files that an upgrade wrote anew. Raises ContentError for local edits that no patch holds and
    for foreign files in the way, unless `force`.
    """
    text = lockfile.decode(lock.path, lockfile.read_bytes(lock.path))
    for build in builds:
        text = edit.record_resolved(text, build.upstream.name, build.resolved)
    data = edit.write_bytes(lock.path, text)
    after, _ = lockfile.parse_text(lock.path, text)
    plan.clashes(after, state.owners(after), state.documents_of(after))
    wanted = {file.to: Blob(file.final, file.executable) for build in builds for file in build.files}
    legal_texts = {path: blob for build in builds for path, blob in build.legal.items()}
    made = state.generated(after, {path: blob.data for path, blob in {**legal_texts, **(patches or {})}.items()})
    if not force:
        _refuse_edits(lock, wanted | legal_texts, made)
    target = {**wanted, **legal_texts, **made, **(patches or {})}
    changes: dict[str, Blob | None] = {
        path: blob for path, blob in sorted(target.items()) if _differs(lock, path, blob)
    }
    changes |= dict.fromkeys(_gone(lock, after, force=force))
    done = Done(
        written=tuple(path for path, blob in changes.items() if blob is not None),
        removed=tuple(path for path, blob in changes.items() if blob is None),
        files=len(wanted),
        notes=tuple(note for build in builds for note in build.notes),
    )
    for path in changes:
        write.inspect(lock.root, path)
    if not dry_run:
        last = (lock.path.name, data) if data != lock.path.read_bytes() else None
        write.commit(lock.root, changes, last)
        if cache is not None:
            state.keep_final(cache, [blob.data for blob in wanted.values()])
    return done


def _differs(lock: Lock, path: str, blob: Blob) -> bool:
    found = write.inspect(lock.root, path)
    if found is None:
        return True
    return bool(found.st_mode & stat.S_IXUSR) != blob.executable or write.read(lock.root, path) != blob.data


def _refuse_edits(lock: Lock, files: Tree, made: Tree) -> None:
    recorded = state.recorded(lock)
    edited, foreign = [], []
    for path, blob in files.items():
        data, _ = on_disk(lock, path)
        if data is None or data == blob.data:
            continue
        if path not in recorded:
            foreign.append(path)
        elif hashlib.sha256(data).hexdigest() != recorded[path][1]:
            edited.append(path)
    for path in made:
        data, _ = on_disk(lock, path)
        if data is not None and path != "NOTICE" and GENERATED not in b"\n".join(data.splitlines()[:12]):
            foreign.append(path)
    if edited:
        raise _edited(recorded, sorted(edited))
    if foreign:
        raise ContentError(
            f"{_several(sorted(foreign))} in the way: this tool did not write {'it' if len(foreign) == 1 else 'them'}",
            hint="move it away, give the entry another `to:`, or overwrite it with `--force`",
        )


def _edited(recorded: Mapping[str, tuple[str, str]], paths: Sequence[str]) -> ContentError:
    name = recorded[paths[0]][0]
    return ContentError(
        f"{_several(paths)} edited by hand, and no patch holds the edit",
        hint=f"keep it with `vendor-tool patch new {name}`, or throw it away with `vendor-tool sync --force {name}`",
    )


def _several(paths: Collection[str]) -> str:
    shown = ", ".join(f"`{path}`" for path in list(paths)[:5])
    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    return f"{shown}{more} {'is' if len(paths) == 1 else 'are'}"


def _gone(before: Lock, after: Lock, *, force: bool) -> list[str]:
    """Paths that the old record owned and the new one does not."""
    new = {path for paths in state.owners(after).values() for path in paths} | set(state.generated_paths(after))
    recorded = state.recorded(before)
    gone = [path for path in recorded if path not in new]
    edited = []
    for path in gone:
        data, _ = on_disk(before, path)
        if data is not None and hashlib.sha256(data).hexdigest() != recorded[path][1]:
            edited.append(path)
    if edited and not force:
        raise _edited(recorded, sorted(edited))
    shims = [path for path in state.generated_paths(before) if path not in new and path != "NOTICE"]
    return sorted(path for path in {*gone, *shims} if on_disk(before, path)[0] is not None)
