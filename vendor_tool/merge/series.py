"""Carries a patch series onto another base, patch by patch, so that each stays a change of its own."""

from collections.abc import Mapping, Sequence
from typing import Literal

from vendor_tool import patch as patches
from vendor_tool.errors import ConflictError, UsageError
from vendor_tool.merge.text import Labels, markers_left
from vendor_tool.merge.trees import Conflict, MergedTree, merge_trees
from vendor_tool.model import Blob, Tree
from vendor_tool.patch import Patch
from vendor_tool.values import dataclass, field, replace

Status = Literal["clean", "changed", "obsolete", "dropped", "conflict", "waiting"]
Resolution = Mapping[str, Blob | None]
"""What a person made of the files in conflict: path to content, None for a file that shall go."""

EDITS = "local edits"


@dataclass(frozen=True, slots=True)
class Step:
    """What became of one patch. `text` is the patch file to write: its own bytes where it is `clean`."""

    patch: Patch
    status: Status
    text: bytes = b""  # empty where nothing is left or known to write
    conflicts: tuple[Conflict, ...] = ()
    notes: tuple[str, ...] = ()  # for people, whole sentences without a full stop


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a rebase depends on: the same plan gives the same result."""

    base: Tree
    theirs: Tree
    series: tuple[Patch, ...]
    edits: Tree | None = None  # the tree on disk where it differs from what the series makes
    replaced: Mapping[int, Tree | None] = field(default_factory=dict)  # step to the tree it shall make; None drops it
    resolutions: Mapping[int, Resolution] = field(default_factory=dict)
    label: str = "upstream"  # what the new side is called


@dataclass(frozen=True, slots=True)
class Rebase:
    """A series on its new base. `tree` is what all of it makes, or None while a step is in conflict."""

    plan: Plan
    steps: tuple[Step, ...]
    tree: Tree | None
    stopped: int | None = None  # index of the step in conflict; `len(series)` for edits that no patch holds
    merged: Tree = field(default_factory=dict)  # of the step in conflict, the files that merged

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The files that a person must settle now."""
        return () if self.stopped is None else self.steps[self.stopped].conflicts

    @property
    def texts(self) -> dict[str, bytes]:
        """The series to write: path of each patch that stays to its bytes, in order."""
        return {step.patch.path: step.text for step in self.steps if step.text and step.patch.path != EDITS}


def upgrade(
    base: Tree,
    theirs: Tree,
    series: Sequence[Patch],
    ours_edit: Tree | None = None,
    *,
    label: str = "upstream",
    resolutions: Mapping[int, Resolution] | None = None,
) -> Rebase:
    """Carry `series` from `base`, the old plain tree, to `theirs`, the new one, both made by the same rules.

    Each step is merge(base = the step before, ours = the step, theirs = the new predecessor). `ours_edit` is the tree
    on disk where it differs from what the series makes: its edits are carried over as a last step without a patch.
    `resolutions` holds, by index of the step, what a person settled before. The first conflict stops the series; of
    later steps that touch other files it is still said how they would fare.

    Raises ConflictError where the series does not apply to `base` itself.
    """
    return carry(Plan(base, theirs, tuple(series), ours_edit, {}, dict(resolutions or {}), label))


def resume(state: Rebase, resolution: Resolution) -> Rebase:
    """Fold what a person made of the files in conflict into the patch that they belong to, and go on.

    The result may stop at a later patch. Files beside those in conflict may be given too. Raises ConflictError while
    a file still holds conflict markers or is missing from `resolution`; text that looked like a marker in one of the
    three versions is none. Raises UsageError where nothing is in conflict.
    """
    if state.stopped is None:
        raise UsageError("no upgrade is stopped", hint="start one with `vendor-tool sync NAME@REVISION`")
    for conflict in state.conflicts:
        _check_resolved(conflict, resolution)
    return carry(replace(state.plan, resolutions={**state.plan.resolutions, state.stopped: resolution}))


def _check_resolved(conflict: Conflict, resolution: Resolution) -> None:
    if conflict.path not in resolution:
        raise ConflictError(f"`{conflict.path}` is not resolved", hint="write it as it should be, or delete it")
    blob = resolution[conflict.path]
    if blob is None:
        return
    versions = (version.data if version else b"" for version in (conflict.base, conflict.ours, conflict.theirs))
    left = markers_left(blob.data, *versions)
    if left:
        raise ConflictError(
            f"`{conflict.path}` still holds conflict markers at line{'s' if len(left) > 1 else ''} "
            + ", ".join(map(str, left)),
            hint="edit the file until it is as it should be, then run `vendor-tool sync --continue`",
        )


# ---- step by step -----------------------------------------------------------------------------------------


def carry(plan: Plan) -> Rebase:
    """Carry the plan's series over, up to its end or the first conflict that no resolution settles."""
    todo = list(plan.series)
    befores: list[Tree] = [plan.base, *patches.replay(todo, plan.base)]
    if plan.edits is not None and plan.edits != befores[-1]:
        todo.append(Patch(EDITS, {}, ()))
        befores.append(plan.edits)
    steps: list[Step] = []
    tree = plan.theirs
    for index, patch in enumerate(todo):
        if index in plan.replaced:
            step, tree = _replaced(patch, tree, plan.replaced[index])
            steps.append(step)
            continue
        merged = _merge_step(patch, befores[index], befores[index + 1], tree, plan.label)
        if merged.conflicts and index not in plan.resolutions:
            steps.append(Step(patch, "conflict", b"", merged.conflicts, _offers(merged)))
            steps += _probe(todo[index + 1 :], befores[index + 1 :], merged, plan.label)
            return Rebase(plan, tuple(steps), None, index, merged.tree)
        after = _resolved(merged, plan.resolutions.get(index, {}))
        step = _step(patch, tree, after, plan.label)
        if step.status == "obsolete" and merged.conflicts:
            step = replace(step, notes=("the resolution leaves nothing of this patch",))
        steps.append(step)
        tree = after
    return Rebase(plan, tuple(steps), tree)


def _replaced(patch: Patch, before: Tree, after: Tree | None) -> tuple[Step, Tree]:
    if after is None:
        return Step(patch, "dropped"), before
    if after == before:
        return Step(patch, "obsolete", notes=("the new tree leaves nothing of this patch",)), before
    if _still_does(patch, before, after):
        return Step(patch, "clean", patch.text), after
    return Step(patch, "changed", patches.render(before, after, patch.preamble)), after


def _merge_step(patch: Patch, before: Tree, after: Tree, theirs: Tree, label: str) -> MergedTree:
    moved = {file.old: file.new for file in patch.files if file.old and file.new and file.old != file.new}
    return merge_trees(before, after, theirs, Labels(patch.path, "before the patch", label), moved)


def _resolved(merged: MergedTree, resolution: Resolution) -> Tree:
    tree = {path: blob for path, blob in merged.tree.items() if path not in resolution}
    tree |= {path: blob for path, blob in resolution.items() if blob is not None}
    return {path: tree[path] for path in sorted(tree)}


def _step(patch: Patch, before: Tree, after: Tree, label: str) -> Step:
    if before == after:
        return Step(patch, "obsolete", notes=(f"{label} has this now: without the patch the files are the same",))
    notes = [
        f"{label} has the change to `{path}` now" for path in sorted(patch.paths) if before.get(path) == after.get(path)
    ]
    if _still_does(patch, before, after):
        moved = patches.offsets(patch, before)
        notes += [f"hunk {o.hunk} of `{o.path}` fits at line {o.found}, recorded at {o.recorded}" for o in moved]
        return Step(patch, "clean", patch.text, notes=tuple(notes))
    return Step(patch, "changed", patches.render(before, after, patch.preamble), notes=tuple(notes))


def _still_does(patch: Patch, before: Tree, after: Tree) -> bool:
    """The patch file, as it is, makes the very tree that the merge made."""
    if not patch.files:
        return False
    try:
        return patches.apply(patch, before) == after
    except (ConflictError, UsageError):
        return False


def _offers(merged: MergedTree) -> tuple[str, ...]:
    """What is known about each conflict, in the words to show."""
    return tuple(
        f"`{conflict.path}`" + (f", line {clash.marked_lines[0]}" if clash else "") + f": {reason}"
        for conflict in merged.conflicts
        for clash in (conflict.clashes or (None,))
        if (reason := (clash.reason if clash else "") or conflict.reason)
    )


def _probe(todo: Sequence[Patch], befores: Sequence[Tree], merged: MergedTree, label: str) -> tuple[Step, ...]:
    """How later patches fare that touch no file in conflict; the others wait for it."""
    unknown = {conflict.path for conflict in merged.conflicts}
    known: Tree = merged.tree
    steps = []
    for index, patch in enumerate(todo):
        if patch.path == EDITS or patch.paths & unknown:
            unknown |= patch.paths
            steps.append(Step(patch, "waiting", notes=("known when the conflict before it is resolved",)))
            continue
        before, after = ({p: b for p, b in t.items() if p not in unknown} for t in befores[index : index + 2])
        known = {path: blob for path, blob in known.items() if path not in unknown}
        result = _merge_step(patch, before, after, known, label)
        if result.conflicts:
            steps.append(Step(patch, "conflict", b"", result.conflicts, _offers(result)))
            unknown |= {conflict.path for conflict in result.conflicts}
        else:
            steps.append(_step(patch, known, result.tree, label))
        known = result.tree
    return tuple(steps)
