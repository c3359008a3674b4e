"""`patch list`, `show` and `export`: what a series holds, how it fares, and how it is sent upstream."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from vendor_tool import fetch, merge, write
from vendor_tool import patch as patches
from vendor_tool.errors import ConflictError, UsageError
from vendor_tool.model import Access, Blob, Lock, Tree, Upstream
from vendor_tool.patch import Patch
from vendor_tool.pipeline import build as builds
from vendor_tool.pipeline import places, series
from vendor_tool.pipeline import upgrade as upgrades
from vendor_tool.preview import Listing, Row, Standing
from vendor_tool.values import replace


def listing(lock: Lock, upstream: Upstream, access: Access, against: str | None = None) -> Listing:
    """The series with its status at the recorded revision, and at `against` (a revision, or `newest`) if given."""
    revision = series.recorded_revision(upstream)
    rows = tuple(_rows(lock, upstream, revision, access))
    if against is None or not rows:
        return Listing(upstream.name, revision, rows)
    wanted = fetch.resolve(upstream, newest(upstream, against), access)
    try:
        steps = upgrades.prepare(lock, upstream, wanted, access).rebase.steps
    except (ConflictError, UsageError) as problem:
        return Listing(upstream.name, revision, rows, wanted, problem.message)
    told = [
        replace(row, against=_STATUS[step.status], notes=row.notes + step.notes)
        for row, step in zip(rows, steps, strict=True)
    ]
    return Listing(upstream.name, revision, tuple(told), wanted)


_STATUS: Mapping[str, Standing] = {
    "clean": "applies",
    "changed": "applies",
    "obsolete": "obsolete",
    "conflict": "conflicts",
    "waiting": "unknown",
}


def newest(upstream: Upstream, rev: str) -> str:
    """A revision as it was typed; `newest` stands for the branch that the lock follows, or the default one."""
    return (f"refs/heads/{upstream.branch}" if upstream.branch else "HEAD") if rev == "newest" else rev


def _rows(lock: Lock, upstream: Upstream, revision: str, access: Access) -> list[Row]:
    bare = replace(upstream, patches=())
    fetched = builds.gather(lock, [(upstream, revision)], access)[0]
    tree = upgrades.tree(builds.make(lock, replace(fetched, upstream=bare), access, series=()))
    placed = places.moved(upstream, fetched.targets)
    rows, certain = [], True
    for place, spec in enumerate(upstream.patches, 1):
        data = write.read(lock.root, spec.path)
        if data is None:
            rows.append(Row(place, spec.path, "", "missing", notes=("the file is not there",)))
            certain = False
            continue
        try:
            patch = patches.moved(patches.parse(spec.path, data), placed)
            after = patches.apply(patch, tree)
        except (ConflictError, UsageError) as problem:
            status: Standing = "conflicts" if certain else "unknown"
            rows.append(Row(place, spec.path, "", status, notes=(problem.message,)))
            certain = False
            continue
        moved = tuple(
            f"hunk {o.hunk} of `{o.path}` fits at line {o.found}, recorded at {o.recorded}"
            for o in patches.offsets(patch, tree)
        )
        notes = (*patches.dep3_check(patch.head), *moved)
        rows.append(Row(place, spec.path, title(patch), "applies" if after != tree else "obsolete", notes=notes))
        tree = after
    return rows


def title(patch: Patch) -> str:
    """The first line of what the patch says of itself."""
    fields = {key.lower(): value for key, value in patch.head.items()}
    return (fields.get("description") or fields.get("subject") or "").split("\n")[0]


def show(lock: Lock, upstream: Upstream, which: str) -> bytes:
    """The bytes of a patch file. UsageError where it is not there."""
    spec = upstream.patches[series.number(upstream, which) - 1]
    data = write.read(lock.root, spec.path)
    if data is None:
        raise UsageError(f"patch `{spec.path}` is not there", hint="restore it, for example with `git checkout`")
    return data


def export(lock: Lock, upstream: Upstream, which: str | None, access: Access) -> dict[str, bytes]:
    """Mails for `git am` in the upstream's repository, by file name: of one patch by itself, or of the whole series.

    Of a series each mail builds on the one before it. Raises ConflictError where a patch has no certain place in the
    pristine files.
    """
    chosen = series.number(upstream, which)
    made = upgrades.recorded(lock, upstream, access)
    mapping = {file.to: file.path for file in made.files if file.path}
    pristine: Tree = {file.path: Blob(file.pristine, file.executable_before) for file in made.files if file.path}
    # what the rules make of each file, before any patch
    befores: list[Tree] = [{file.to: Blob(file.plain, file.executable_before) for file in made.files if file.path}]
    befores += patches.replay(made.series, befores[0])
    mails = {}
    for place, patch in enumerate(made.series, 1):
        if which is not None and place != chosen:
            continue
        mail = merge.export(patch, befores[place - 1], pristine, mapping)
        mails[posixpath.basename(patch.path)] = mail
        if which is None:
            sent = patches.parse(patch.path, mail)
            pristine = patches.apply(sent, pristine)
            mapping |= _new_files(patch, sent)
    return mails


def _new_files(patch: Patch, sent: Patch) -> dict[str, str]:
    made = [[file.new for file in one.files if file.old is None and file.new] for one in (patch, sent)]
    by_name = {posixpath.basename(path): path for path in made[1]}
    return {path: by_name[posixpath.basename(path)] for path in made[0] if posixpath.basename(path) in by_name}
