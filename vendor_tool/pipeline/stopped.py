"""What is said of a stopped merge: where it stands, what keeps it from going on, what to type next."""

from __future__ import annotations

from vendor_tool import write
from vendor_tool.errors import VendorError
from vendor_tool.model import Lock
from vendor_tool.pipeline import session, upgrading
from vendor_tool.pipeline.session import Open


def describe(lock: Lock, name: str) -> tuple[str, ...]:
    """Where a merge stopped and why, which lines wait for a person, and what to type next."""
    root = lock.root
    try:
        stopped = session.load(root, name)
    except VendorError as problem:
        return (f"{name}: {problem.message}", f"  {problem.hint}")
    place = f"{write.FOLDER}/merge/{name}"
    lines = [f"{name}: {stopped.what} stopped at patch {stopped.stopped + 1} of {stopped.of}, `{stopped.patch}`"]
    left = session.marked(root, stopped)
    for one in stopped.files:
        lines.append(f"  {place}/{one.path}: {_left(left[one.path], one)}")
        lines += [f"    {note}" for note in one.notes]
    if any(left[one.path] for one in stopped.files):
        lines.append(f"  edit until no marker is left, or run `git mergetool` in `{place}`; then")
    hindrance = upgrading.hindered(lock, stopped)
    if hindrance is not None:
        lines += [f"  it cannot go on as it is: {hindrance.message}", f"    {hindrance.hint}"]
    lines.append(f"  `vendor-tool sync --continue {name}`, or `vendor-tool sync --abort {name}` to give up")
    return tuple(lines)


def _left(stretches: tuple[tuple[int, int], ...] | None, one: Open) -> str:
    if stretches is None:
        answer = "is deleted, which is an answer; or " if one.may_go else "is not there: "
        return f"{answer}put it there as it should be, from `.base`, `.ours` and `.theirs` beside it"
    if not stretches:
        return "no conflict marker left"
    shown = ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in stretches)
    return f"in conflict at lines {shown}"
