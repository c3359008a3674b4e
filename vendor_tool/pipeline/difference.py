"""`diff`: what stands between two states of an entry's files, or between two revisions through our rules."""

from __future__ import annotations

from typing import Literal, TypeAlias

from vendor_tool import fetch
from vendor_tool import patch as patches
from vendor_tool.errors import ConflictError
from vendor_tool.model import Access, Blob, Lock, Tree, Upstream
from vendor_tool.pipeline import build as builds
from vendor_tool.pipeline import listing, series
from vendor_tool.pipeline import upgrade as upgrades
from vendor_tool.pipeline.build import Made
from vendor_tool.values import replace

State: TypeAlias = Literal["pristine", "plain", "final"]


def difference(
    lock: Lock, upstream: Upstream, access: Access, *, old: str | None, new: str | None, state: State | None
) -> bytes:
    """A diff as git shows it, by local paths.

    Without revisions: from `state` (pristine where None) to what the lock makes; from `final` to what stands on the
    disk. With one or two, of which the other is the recorded one: between them in one state (plain where None), `final`
    with the series carried over. Raises what `prepare` raises where it cannot be.
    """
    if old is None and new is None:
        made = upgrades.recorded(lock, upstream, access)
        if state == "final":
            return between(series.final_of(made), {**series.final_of(made), **series.edits(lock, upstream)})
        return between(_state(made, state or "pristine"), series.final_of(made))
    ends = [
        series.recorded_revision(upstream)
        if rev is None
        else fetch.resolve(upstream, listing.newest(upstream, rev), access)
        for rev in (old, new)
    ]
    trees = [_at(lock, upstream, revision, state or "plain", access) for revision in ends]
    return between(*trees)


def _at(lock: Lock, upstream: Upstream, revision: str, state: State, access: Access) -> Tree:
    if state == "final" and revision != series.recorded_revision(upstream):
        rebase = upgrades.prepare(lock, upstream, revision, access).rebase
        if rebase.tree is None:
            raise ConflictError(
                f"the series of `{upstream.name}` conflicts at `{revision[:12]}`",
                hint=f"see `vendor-tool patch list {upstream.name} --against {revision[:12]}`, or say `--state plain`",
            )
        return rebase.tree
    bare = upstream if state == "final" else replace(upstream, patches=())
    fetched = builds.gather(lock, [(upstream, revision)], access)[0]
    made = builds.make(lock, replace(fetched, upstream=bare), access)
    return _state(made, state)


def _state(made: Made, state: State) -> Tree:
    files = [file for file in made.files if file.path]
    match state:
        case "pristine":
            return {file.to: Blob(file.pristine, file.executable_before) for file in files}
        case "plain":
            return {file.to: Blob(file.plain, file.executable_before) for file in files}
        case "final":
            return series.final_of(made)


def between(old: Tree, new: Tree) -> bytes:
    """The difference of two trees; of files that are no text, that they differ."""
    binary = [
        path
        for path in sorted({*old, *new})
        if old.get(path) != new.get(path) and any(b"\0" in one[path].data for one in (old, new) if path in one)
    ]
    trees = [{path: blob for path, blob in one.items() if path not in binary} for one in (old, new)]
    said = "".join(f"Binary files a/{path} and b/{path} differ\n" for path in binary)
    return patches.render(trees[0], trees[1], b"") + said.encode()
