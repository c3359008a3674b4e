"""Carry an entry's patches over a change of its rules, at the revision that it stays at."""

from __future__ import annotations

from vendor_tool import merge
from vendor_tool import patch as patches
from vendor_tool.errors import ConflictError, VendorError
from vendor_tool.fetch import store
from vendor_tool.model import Access, Blob, Lock, Tree, Upstream
from vendor_tool.pipeline import build as builds
from vendor_tool.pipeline import places, state, upgrading
from vendor_tool.pipeline import upgrade as upgrades
from vendor_tool.pipeline.build import Fetched
from vendor_tool.pipeline.upgrade import Finished, Upgrade
from vendor_tool.values import replace


def carry(
    disk: Lock, after: Lock, fetched: Fetched, access: Access, text: str, problem: ConflictError
) -> tuple[Finished, tuple[str, ...]]:
    """What to write where the recorded series, by `problem`, does not apply to what the rules make now; and words.

    `disk` is the lock as it stands, `after` what `text` says. Raises `problem` where the files and patches are not
    those of the record, and ConflictError where a person is needed.
    """
    upstream = fetched.upstream
    series = builds.read_series(after, upstream)
    final = _final(disk, upstream)
    known = upstream.resolved.patches if upstream.resolved else {}
    if final is None or known != {one.path: builds.sha256(one.text) for one in series}:
        raise problem
    base = _plain(series, final)
    if base is None:
        raise problem
    moved = places.moved(upstream, fetched.targets)
    base = {moved.get(path, path): blob for path, blob in base.items()}
    series = places.follow(series, upstream, fetched.targets)
    made = builds.make(after, fetched, access, series=())
    rebase = merge.upgrade(base, upgrades.tree(made), series, label="the rules")
    said = upgrading.steps(rebase)
    if rebase.tree is None:
        raise _conflict(upstream, rebase, said)
    return upgrades.finish(after, Upgrade(made, made, rebase), access, text=text), said


def _final(lock: Lock, upstream: Upstream) -> Tree | None:
    """The recorded files as they lie on the disk; None unless record and files are whole."""
    found = upstream.resolved
    if found is None or not found.sealed or found.revision != upstream.revision:
        return None
    tree = {}
    for item in found.files:
        data, executable = state.on_disk(lock, item.to)
        if data is None or not state.as_recorded(lock, item):
            return None
        tree[item.to] = Blob(data, executable)
    return tree


def _plain(series: tuple[patches.Patch, ...], final: Tree) -> Tree | None:
    """The tree that `series` makes `final` of; None where taking it back is not certain."""
    tree = final
    try:
        for one in reversed(series):
            tree = patches.apply(_pinned(patches.reverse(one), tree), tree)
        again = patches.replay(series, tree)[-1]
    except VendorError:
        return None
    return tree if dict(again) == dict(final) else None


def _pinned(patch: patches.Patch, tree: Tree) -> patches.Patch:
    """The patch said to be made from the very files of `tree`: its line numbers are then tried before all others."""
    files = []
    for file in patch.files:
        before = tree.get(file.old or "")
        files.append(file if before is None else replace(file, old_blob=store.blob_id(before.data)))
    return replace(patch, files=tuple(files))


def _conflict(upstream: Upstream, rebase: merge.Rebase, said: tuple[str, ...]) -> ConflictError:
    lines = [f"the rules of `{upstream.name}` were changed under its patches, and the two do not merge", *said]
    lines += [f"{one.path}: {len(one.clashes) or 1} in conflict; {one.kind}" for one in rebase.conflicts]
    assert rebase.stopped is not None
    number = rebase.stopped + 1
    return ConflictError(
        "\n".join(lines),
        hint=f"undo the edit of the rules; then take the change out of the patch and run `vendor-tool patch refresh "
        f"{upstream.name} {number}`, or give the patch up with `vendor-tool patch drop {upstream.name} {number}`, "
        "and edit the rules again; nothing was changed",
    )
