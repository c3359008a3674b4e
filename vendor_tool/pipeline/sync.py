"""`sync` without a revision: make the tree what the lock says, and record what was done."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from vendor_tool import documents, legal, lockfile, plan, write
from vendor_tool.errors import ConflictError, ContentError
from vendor_tool.findings import Finding
from vendor_tool.lockfile import edit, record
from vendor_tool.model import Access, Blob, Build, Lock, Tree, Upstream
from vendor_tool.pipeline import proof, state
from vendor_tool.pipeline.disk import Folders
from vendor_tool.pipeline.state import on_disk
from vendor_tool.plan import Selection
from vendor_tool.values import dataclass, replace
from vendor_tool.words import command


@dataclass(frozen=True, slots=True)
class Done:
    """What a sync did, or would do."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    files: int = 0
    notes: tuple[Finding, ...] = ()
    said: tuple[str, ...] = ()  # what an upgrade has to say about patches

    def also(self, other: Done) -> Done:
        """Both, one behind the other."""
        return Done(
            self.written + other.written,
            self.removed + other.removed,
            self.files + other.files,
            self.notes + other.notes,
            self.said + other.said,
        )


def run(
    path: Path,
    arguments: Sequence[str],
    access: Access,
    *,
    force: bool = False,
    dry_run: bool = False,
    accept_license: bool = False,
) -> Done:
    """Bring the named upstreams, or all, to what the lock says; those with a revision, to that revision.

    `accept_license` takes an upgrade whose licence is another one. Raises what `build`, `apply` and `upgrade` raise;
    ConflictError leaves a session behind that can be continued.
    """
    lock = lockfile.load(path, access.cache)
    chosen = plan.select(lock, arguments)
    session_free(lock, [one.upstream.name for one in chosen])
    idle = [one.upstream for one in chosen if one.rev is None]
    if len(idle) == len(chosen) and not write.left_over(lock.root) and not force and state.up_to_date(lock, idle):
        return Done(files=sum(len(one.resolved.files) for one in idle if one.resolved))
    if dry_run:
        return _run(lock, chosen, access, force=force, dry_run=True, accept_license=accept_license)
    with write.exclusive(lock.root) as ended:
        # another run may have changed the lock while this one waited
        lock = lockfile.load(path, access.cache)
        chosen = plan.select(lock, arguments)
        session_free(lock, [one.upstream.name for one in chosen], mend=True)
        before = Done(said=("a run that was killed is ended: its files are all in place",) if ended else ())
        return before.also(_run(lock, chosen, access, force=force, dry_run=False, accept_license=accept_license))


def session_free(lock: Lock, names: Sequence[str], *, mend: bool = False) -> None:
    """Refuse to touch an entry whose upgrade is stopped; costs one look at a folder. `mend` under the run lock only."""
    if (lock.root / write.FOLDER / "merge").is_dir():
        from vendor_tool.pipeline import session

        if mend:
            session.mend(lock.root)
        session.refuse_pending(lock.root, names)


def _run(
    lock: Lock, chosen: Sequence[Selection], access: Access, *, force: bool, dry_run: bool, accept_license: bool
) -> Done:
    from vendor_tool import fetch

    plan.clashes(lock, state.owners(lock), state.documents_of(lock))
    wanted = {
        one.upstream.name: _kept(one.upstream) if one.rev is None else fetch.named(one.upstream, one.rev, access)
        for one in chosen
    }
    moving = [one.upstream for one in chosen if one.upstream.resolved]
    moving = [one for one in moving if one.resolved and one.resolved.revision != wanted[one.name][0]]
    done = Done()
    if moving:
        from vendor_tool.pipeline import upgrading
        from vendor_tool.pipeline.upgrade import Task

        if len(moving) > 1 and not force:
            # the one that needs a person goes first: then it stops before any other is carried out
            moving.sort(key=lambda one: not upgrading.stops(lock, one, wanted[one.name][0], access))
        for upstream in moving:
            revision, tag = wanted[upstream.name]
            task = Task("upgrade", revision, tag=tag)
            step = upgrading.upgrade(
                lock, upstream, task, access, force=force, dry_run=dry_run, accept_license=accept_license
            )
            done = done.also(step)
            if not dry_run:
                lock = lockfile.load(lock.path, access.cache)
    moved = {upstream.name for upstream in moving}
    staying = {name: one for name, one in wanted.items() if name not in moved}
    return done.also(_bring(lock, staying, access, force=force, dry_run=dry_run))


def _kept(upstream: Upstream) -> tuple[str, str | None]:
    """The revision that the lock asks for, and the tag that was recorded with it."""
    found = upstream.resolved
    return upstream.revision, found.tag if found and found.revision == upstream.revision else None


def _bring(
    lock: Lock, wanted: Mapping[str, tuple[str, str | None]], access: Access, *, force: bool, dry_run: bool
) -> Done:
    """Entries that stay at their recorded revision, or have none yet; `wanted` gives revision and tag."""
    from vendor_tool.pipeline import build as builds
    from vendor_tool.pipeline import places

    text = lockfile.decode(lock.path, lockfile.read_bytes(lock.path))
    for name, (revision, _) in wanted.items():
        if lock.upstreams[name].revision != revision:
            text = edit.set_value(text, ("upstreams", name, "revision"), revision)
    after = lockfile.parse_bytes(lock.path, text.encode(), access.cache)
    todo = [after.upstreams[name] for name in wanted]
    todo = [
        one for one in todo if force or not state.entry_up_to_date(after, one) or _kept(one)[1] != wanted[one.name][1]
    ]
    # `--force` trusts no record: licence texts that were once out of reach are looked for again
    fetched = builds.gather(after, [(one, one.revision) for one in todo], access, trust=not force)
    built, said = list[Build](), list[str]()
    patches: Mapping[str, Blob | None] = {}
    for one in fetched:
        series = builds.read_series(after, one.upstream)
        followed = places.follow(series, one.upstream, one.targets)
        said += places.said(series, followed)
        try:
            built.append(builds.build(after, one, access, followed))
            patches = {**patches, **{patch.path: Blob(patch.text) for patch in followed}}
        except ConflictError as problem:
            from vendor_tool.pipeline import rules

            carried, words = rules.carry(lock, after, one, access, text, problem)
            text, patches, said = carried.text, {**patches, **carried.patches}, [*said, *words]
            built.append(carried.build)
    _same_bytes(built)
    built = [replace(one, resolved=replace(one.resolved, tag=wanted[one.upstream.name][1])) for one in built]
    said += [line for one in built if (line := _tagged(one))]
    done = apply(lock, built, text=text, force=force, dry_run=dry_run, cache=access.cache, patches=patches)
    return replace(
        done, said=tuple(said), files=sum(len(one.resolved.files) for one in _named(after, wanted) if one.resolved)
    )


def _tagged(build: Build) -> str | None:
    """That a synced entry was asked for by another tag, or by none any more."""
    old, tag = build.upstream.resolved, build.resolved.tag
    if old is None or old.tag == tag:
        return None
    held = f"recorded as tag `{tag}`" if tag else f"no longer held to tag `{old.tag}`"
    return f"{build.upstream.name}: `{build.resolved.revision[:12]}` {held}"


def _named(lock: Lock, names: Iterable[str]) -> list[Upstream]:
    return [lock.upstreams[name] for name in names]


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
    text: str,
    force: bool,
    dry_run: bool,
    cache: Path | None = None,
    patches: Mapping[str, Blob | None] | None = None,
    held: Tree | None = None,
) -> Done:
    """Write what builds hold, the documents and the lock; all or nothing.

    `lock` is what stands on the disk, `text` its new text but for the records. `patches` are patch files that change;
    None for those that go. `held` are local edits that a patch holds from now on. Raises ContentError for local edits
    that none holds and for foreign files in the way, unless `force`.
    """
    for build in builds:
        old = build.upstream.resolved
        if old is None or not old.sealed or record.layout(old) != record.layout(build.resolved):
            text = edit.record_resolved(text, build.upstream.name, build.resolved)
        if build.upstream.revision != build.resolved.revision:  # asked for and not yet carried out: it stays asked for
            text = edit.set_value(text, ("upstreams", build.upstream.name, "revision"), build.upstream.revision)
    data = text.encode()
    after = lockfile.parse_bytes(lock.path, data, cache)
    series = {path: blob for path, blob in (patches or {}).items() if blob is not None}
    wanted = {file.to: Blob(file.final, file.executable) for build in builds for file in build.files}
    copies = {path: blob for build in builds for path, blob in build.legal.items()}
    made = state.generated(after, {path: blob.data for path, blob in {**copies, **series}.items()})
    plan.clashes(after, state.owners(after), [path for path in made if path != "NOTICE"])
    if not force:
        _refuse_edits(lock, wanted | copies, made, held or {})
        _refuse_orphans(lock)
    stand_ins = {spec.to: made[spec.to].data for spec in after.shims.values() if spec.to in made}
    notes = proof.demand(after, wanted, stand_ins, cache) if wanted else ()
    target, folders = {**wanted, **copies, **made, **series}, dict[str, bool]()
    changes: dict[str, Blob | None] = {
        path: target[path] for path in sorted(target) if _differs(lock, path, target[path], folders)
    }
    gone = [path for path, blob in (patches or {}).items() if blob is None]
    changes |= dict.fromkeys([*_gone(lock, after, made, force=force), *gone])
    if not dry_run:
        write.commit(lock.root, changes, (lock.path.name, data) if data != lock.path.read_bytes() else None)
        if cache is not None:
            state.keep_final(cache, [blob.data for blob in wanted.values()])
    return Done(
        written=tuple(path for path, blob in changes.items() if blob is not None),
        removed=tuple(path for path, blob in changes.items() if blob is None),
        files=len(wanted),
        notes=(*(note for build in builds for note in build.notes), *notes),
    )


def _differs(lock: Lock, path: str, blob: Blob, folders: dict[str, bool]) -> bool:
    found = write.inspect(lock.root, path, folders)
    if found is None:
        return True
    return bool(found.st_mode & stat.S_IXUSR) != blob.executable or write.read(lock.root, path) != blob.data


def _refuse_edits(lock: Lock, files: Tree, made: Tree, held: Tree) -> None:
    recorded, disk = state.recorded(lock), Folders(str(lock.root))
    edited, foreign = [], []
    for path, blob in files.items():
        data, _ = disk.read(path) or (None, False)
        if data is None or data == blob.data or (path in held and data == held[path].data):
            continue
        if path not in recorded:
            foreign.append(path)
        elif hashlib.sha256(data).hexdigest() != recorded[path][1]:
            edited.append(path)
    for path in made:
        data, _ = disk.read(path) or (None, False)
        if data is not None and not _ours(lock, path, data):
            foreign.append(path)
    if edited:
        raise state.edited(recorded[edited[0]][0], sorted(edited))
    if foreign:
        raise ContentError(
            f"{state.several(sorted(foreign))} in the way, and not written by this tool",
            hint="move it away, give the entry another `to:`, or overwrite it with `--force`",
        )


def _ours(lock: Lock, path: str, data: bytes) -> bool:
    """Whether a generated file that stands there is one of ours: then it may be written anew."""
    if path.endswith(".pyi") or path in _stand_ins(lock):
        from vendor_tool.transform import shim_standin

        return data.startswith(shim_standin.MARK)
    return documents.ours(path, data)


def _refuse_orphans(lock: Lock) -> None:
    """The pages that are about to be written anew are all that still says where these files came from."""
    left = state.orphans(lock)
    if left:
        raise ContentError(
            f"{state.several(left)} vendored by an entry that is not in the lock any more",
            hint=f"take the entry back, or remove the files: `{command('git', 'rm', '--', *left[:5])}`; "
            "`--force` forgets them",
        )


def _gone(before: Lock, after: Lock, made: Tree, *, force: bool) -> list[str]:
    """Paths that the old record owned and the new one does not; `made` are the new one's shims and documents."""
    new = {path for paths in state.owners(after).values() for path in paths} | made.keys()
    recorded = state.recorded(before)
    gone = [path for path in recorded if path not in new]
    edited = []
    for path in gone:
        data, _ = on_disk(before, path)
        if data is not None and hashlib.sha256(data).hexdigest() != recorded[path][1]:
            edited.append(path)
    if edited and not force:
        raise state.edited(recorded[edited[0]][0], sorted(edited))
    made_before = (path for path in state.generated_paths(before) if path != "NOTICE" and not path.endswith(".pyi"))
    shims = [path for path in made_before if path not in new]
    left = [path for path in {*gone, *shims} if on_disk(before, path)[0] is not None]
    return sorted({*left, *(path for path in (*_old_pages(before), *_old_stubs(before)) if path not in new)})


def _old_pages(before: Lock) -> list[str]:
    """Provenance pages of ours beside the recorded licence texts, wherever the entries' folders are by now."""
    texts = [file.to for one in before.upstreams.values() for file in legal.files(one.resolved)]
    pages = {f"{text.partition('/LICENSES/')[0]}/PROVENANCE.md" for text in texts}
    found = {path: on_disk(before, path)[0] for path in pages}
    return [path for path, data in found.items() if data is not None and documents.ours(path, data)]


def _old_stubs(before: Lock) -> list[str]:
    """Files of ours beside stand-ins, also of entries that are not in the lock any more."""
    used = {path for one in before.upstreams.values() if one.resolved for path in one.resolved.shims}
    folders = {path.removesuffix("/__init__.py").removesuffix(".py") for path in {*used, *_stand_ins(before)}}
    found = [path.relative_to(before.root).as_posix() for one in folders for path in (before.root / one).rglob("*.pyi")]
    return [path for path in found if (data := on_disk(before, path)[0]) is not None and _ours(before, path, data)]


def _stand_ins(lock: Lock) -> set[str]:
    return {spec.to for spec in lock.shims.values()}
