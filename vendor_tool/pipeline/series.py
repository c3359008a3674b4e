"""`patch new`, `refresh` and `drop`: hand edits become patches, and a series is changed by its owner."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from vendor_tool import lockfile, merge, plan, vcs, write
from vendor_tool import patch as patches
from vendor_tool.errors import ContentError, UsageError
from vendor_tool.lockfile import edit
from vendor_tool.model import Access, Blob, BuiltFile, Lock, Tree, Upstream
from vendor_tool.patch import Patch
from vendor_tool.paths import unsafe
from vendor_tool.pipeline import build as builds
from vendor_tool.pipeline import state, sync, upgrading
from vendor_tool.pipeline import upgrade as upgrades
from vendor_tool.pipeline.build import Made
from vendor_tool.pipeline.sync import Done
from vendor_tool.pipeline.upgrade import Task
from vendor_tool.values import replace


def author(root: Path) -> str | None:
    """`Name <address>` from git's settings, as they hold in the project's folder; None where they name nobody."""
    found = [
        vcs.run(root, "config", "--get", f"user.{key}").out.decode("utf-8", "replace").strip()
        for key in ("name", "email")
    ]
    return f"{found[0]} <{found[1]}>" if all(found) else None


# ---- hand edits -------------------------------------------------------------------------------------------


def edits(lock: Lock, upstream: Upstream, files: Collection[str] = ()) -> dict[str, Blob]:
    """Files of an entry that were edited by hand: local path to content. Those of `files` alone where any are named.

    A new file counts where it is named. Raises UsageError for a named one that is not edited or does not belong to the
    entry, and ContentError for one that cannot be read.
    """
    found = upstream.resolved
    if found is None:
        raise UsageError(f"`{upstream.name}` was never synced", hint=f"run `vendor-tool sync {upstream.name}` first")
    known = {item.to: item for item in found.files}
    for path in files:
        _may_be_taken(lock, upstream, path, path in known)
    edited = {}
    for path in files or known:
        data, executable = state.on_disk(lock, path)
        if data is not None and (path not in known or not state.as_recorded(lock, known[path])):
            edited[path] = Blob(data, executable)
        elif files and path in known and data is None:
            raise _deleted(upstream, [path])
        elif files:
            what = "is not there" if data is None else "is as it was recorded"
            raise UsageError(f"`{path}` {what}: there is no edit to take in", hint="name a file that was edited")
    return edited


def deleted(lock: Lock, upstream: Upstream) -> list[str]:
    """Recorded files of an entry that are not there: an edit that no patch holds."""
    found = upstream.resolved.files if upstream.resolved else ()
    return [item.to for item in found if state.on_disk(lock, item.to)[0] is None]


def _some(lock: Lock, upstream: Upstream, files: Collection[str] = ()) -> dict[str, Blob]:
    """`edits`, of which there must be one. Raises UsageError."""
    found = edits(lock, upstream, files)
    if not found and (gone := deleted(lock, upstream)):
        raise _deleted(upstream, gone)
    if not found:
        raise UsageError(
            f"no file of `{upstream.name}` was edited by hand",
            hint=f"edit one, then run this again; `vendor-tool check {upstream.name}`",
        )
    return found


def _deleted(upstream: Upstream, paths: Sequence[str]) -> UsageError:
    return UsageError(
        f"{state.several(sorted(paths))} deleted: patches change contents, they take no file away",
        hint=f"take it out of `files:` of `{upstream.name}`, or bring it back with `vendor-tool sync {upstream.name}`",
    )


def _may_be_taken(lock: Lock, upstream: Upstream, path: str, known: bool) -> None:
    fault = unsafe(path)
    folder = f"{upstream.to}/" if upstream.to else ""
    if not fault and not known and not path.startswith(folder):
        fault = f"is not in `{upstream.to}`, the folder of `{upstream.name}`"
    if not fault and not known and path in state.recorded(lock):
        fault = f"belongs to `{state.recorded(lock)[path][0]}`"
    if fault:
        raise UsageError(f"`{path}` {fault}", hint="name files of the entry, from the lockfile's folder on")


def edited(path: Path, name: str, files: Collection[str], access: Access) -> tuple[str, ...]:
    """The files that `new` and `refresh` would take in, sorted. UsageError where there are none."""
    lock = lockfile.load(path, access.cache)
    return tuple(sorted(_some(lock, one(lock, name), files)))


def new(path: Path, name: str, head: Mapping[str, str], access: Access, *, files: Collection[str] = ()) -> Done:
    """Take hand edits in as the next patch of the series: patch file, lock and record in one swap.

    `head` holds the DEP-3 fields; the first line of `Description` names the file. Raises what `edits` raises, and
    ContentError for edits that no patch can hold.
    """
    root = lockfile.load(path, access.cache).root
    with write.exclusive(root):
        lock = lockfile.load(path, access.cache)
        upstream = one(lock, name)
        sync.session_free(lock, [name], mend=True)
        taken, left, gone = _some(lock, upstream, files), edits(lock, upstream), deleted(lock, upstream)
        made = upgrades.recorded(lock, upstream, access)
        final = final_of(made)
        upgrades.require_told_apart(upstream, final, taken)
        text = merge.capture(final, {**final, **taken}, head)
        if not text:
            raise UsageError(f"no file of `{name}` was edited by hand", hint="edit one, then run this again")
        place = _next_path(root, name, made.series, head["Description"])
        written = edit.append_item(lockfile.decode(path, path.read_bytes()), ("upstreams", name, "patches"), place)
        after, _ = lockfile.parse_text(path, written)
        series = [*made.series, patches.parse(place, text)]
        build = builds.build(after, replace(made.fetched, upstream=after.upstreams[name]), access, series)
        _proven(build.files, taken)
        # other edits stay what they are: edits that no patch holds
        others = {*left, *gone} - {*taken}
        build = replace(build, files=tuple(file for file in build.files if file.to not in others))
        done = sync.apply(
            lock,
            [build],
            text=written,
            force=False,
            dry_run=False,
            cache=access.cache,
            patches={patch.path: Blob(patch.text) for patch in series},
            held=taken,
        )
        said = [f"{place}: {', '.join(sorted(taken))}"]
        said += [f"{other} is edited too, and not taken in" for other in sorted(left.keys() - taken.keys())]
        said += [f"{other} is deleted, which no patch takes in" for other in sorted(gone)]
        if upstream.resolved and upstream.resolved.revision != upstream.revision:
            said.append(
                f"made at `{upstream.resolved.revision[:12]}`, which was synced; "
                f"`vendor-tool sync {name}` goes on to `{upstream.revision[:12]}`"
            )
        return replace(done, said=tuple(said))


def _proven(files: Sequence[BuiltFile], taken: Tree) -> None:
    made = {file.to: Blob(file.final, file.executable) for file in files}
    for path, blob in taken.items():
        if made.get(path) != blob:
            raise ContentError(
                f"the patch does not make `{path}` as it was edited", hint="report it; nothing was changed"
            )


def _next_path(root: Path, name: str, series: Sequence[Patch], description: str) -> str:
    """A patch file's place, past those of the series and those that only lie in its folder."""
    folder = f"patches/{name}"
    lying = [Patch(f"{folder}/{found.name}", {}, ()) for found in (root / folder).glob("*.patch")]
    return merge.next_path(folder, [*series, *lying], description.split("\n")[0])


def refresh(path: Path, name: str, which: str | None, date: str, access: Access) -> Done:
    """Fold the hand edits into a patch of the series, the last one where none is named; later ones are rebased.

    Raises ConflictError where the edit belongs to a later patch, and where a later one conflicts with a session left.
    """
    root = lockfile.load(path, access.cache).root
    with write.exclusive(root):
        lock = lockfile.load(path, access.cache)
        upstream = one(lock, name)
        sync.session_free(lock, [name], mend=True)
        taken = _some(lock, upstream)
        task = Task("refresh", recorded_revision(upstream), number(upstream, which), date, taken)
        return upgrading.rework(lock, upstream, task, access)


def drop(path: Path, name: str, which: str, access: Access) -> Done:
    """Take a patch out of the series; later ones are rebased. Raises ConflictError as `refresh` does."""
    root = lockfile.load(path, access.cache).root
    with write.exclusive(root):
        lock = lockfile.load(path, access.cache)
        upstream = one(lock, name)
        sync.session_free(lock, [name], mend=True)
        upgrades.require_clean(lock, upstream)
        task = Task("drop", recorded_revision(upstream), number(upstream, which))
        return upgrading.rework(lock, upstream, task, access)


def one(lock: Lock, name: str) -> Upstream:
    """The upstream of a name. UsageError for an unknown one."""
    if "@" in name:
        raise UsageError(f"`{name}`: a series is that of the lock", hint="leave `@REV` out")
    return plan.select(lock, [name])[0].upstream


def recorded_revision(upstream: Upstream) -> str:
    """The revision that was synced. UsageError where none was."""
    if upstream.resolved is None:
        raise UsageError(f"`{upstream.name}` was never synced", hint=f"run `vendor-tool sync {upstream.name}` first")
    return upstream.resolved.revision


def number(upstream: Upstream, which: str | None) -> int:
    """Place in the series, from 1, of a patch given by number, file name or path; the last one for None.

    Raises UsageError where the series has no such patch.
    """
    paths = [spec.path for spec in upstream.patches]
    if not paths:
        raise UsageError(
            f"`{upstream.name}` has no patches", hint=f"`vendor-tool patch new {upstream.name}` takes hand edits in"
        )
    if which is None:
        return len(paths)
    if which.isdecimal() and 1 <= int(which) <= len(paths):
        return int(which)
    hits = [place for place, path in enumerate(paths, 1) if which in (path, posixpath.basename(path))]
    if len(hits) == 1:
        return hits[0]
    raise UsageError(
        f"`{upstream.name}` has no patch `{which}`",
        hint="; ".join(f"{place} is `{path}`" for place, path in enumerate(paths, 1)),
    )


def final_of(made: Made) -> dict[str, Blob]:
    """The finished files of an entry by local path."""
    return {file.to: Blob(file.final, file.executable) for file in made.files}
