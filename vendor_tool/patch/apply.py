"""Applies patches exactly. A place is taken only where every line fits and no other place fits as well."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import accumulate

from vendor_tool.errors import ConflictError, UsageError
from vendor_tool.lines import split
from vendor_tool.model import Blob, Tree
from vendor_tool.patch.parse import FileDiff, Hunk, Patch
from vendor_tool.patterns import pattern
from vendor_tool.values import dataclass, replace

# git cuts headings off here, in bytes
HEADING = 80
TOP_LEVEL = pattern(rb"[A-Za-z_$]")
_PYTHON = pattern(rb"[ \t]*(?:class|(?:async[ \t]+)?def)[ \t]")
_NAME = pattern(rb"(?:class|def)\s+(\w+)")


@dataclass(frozen=True, slots=True)
class Offset:
    """A hunk that fits exactly, at another line than the patch recorded."""

    path: str
    hunk: int  # from 1
    recorded: int  # line, from 1
    found: int


def apply(patch: Patch, tree: Tree, *, folder: str = "") -> Tree:
    """The tree after `patch`; files that it does not name are the same objects.

    `folder` is where new files must stand. Raises UsageError for a path that the tree does not hold and
    ConflictError for a hunk that fits nowhere or at several places, naming patch, file, hunk and lines.
    """
    result = dict(tree)
    for file in patch.files:
        if file.old is not None:
            result.pop(file.old, None)
    for file in patch.files:
        blob = _apply_file(patch, file, tree)
        if blob is None or file.new is None:
            continue
        if file.new in result:
            raise ConflictError(f"`{patch.path}` adds `{file.new}`, which is there already", hint=_ALREADY)
        if folder and file.new != file.old and not file.new.startswith(folder + "/"):
            raise UsageError(f"{patch.path}:{file.at}: `{file.new}` is outside `{folder}`", hint=_OUTSIDE)
        result[file.new] = blob
    return {path: result[path] for path in sorted(result)}


def offsets(patch: Patch, tree: Tree) -> tuple[Offset, ...]:
    """The hunks of `patch` that `apply` would place elsewhere than recorded. Raises what `apply` raises."""
    moved = []
    for file in patch.files:
        if file.old is None or file.new is None:
            continue
        for number, (hunk, at) in enumerate(zip(file.hunks, _places(patch, file, tree), strict=True), 1):
            if at != _recorded(hunk):
                moved.append(Offset(file.old, number, _recorded(hunk) + 1, at + 1))
    return tuple(moved)


def replay(series: Sequence[Patch], plain: Tree, *, folder: str = "") -> tuple[Tree, ...]:
    """The tree after each patch of the series, in order. Raises what `apply` raises."""
    steps: list[Tree] = []
    for patch in series:
        steps.append(apply(patch, steps[-1] if steps else plain, folder=folder))
    return tuple(steps)


def reverse(patch: Patch) -> Patch:
    """The patch that takes `patch` back from a tree that it was applied to. Its head and text are the old ones."""
    return replace(patch, files=tuple(_reversed(file) for file in patch.files))


def _reversed(file: FileDiff) -> FileDiff:
    swap = {" ": " ", "-": "+", "+": "-"}
    hunks = tuple(
        replace(
            hunk,
            old_start=hunk.new_start,
            new_start=hunk.old_start,
            lines=tuple((swap[op], line) for op, line in hunk.lines),
        )
        for hunk in file.hunks
    )
    changed = file.old is not None and file.new is not None and file.executable is not None
    # a patch names a mode only where it changes it, and there are two
    mode = not file.executable if changed else file.executable
    return replace(file, old=file.new, new=file.old, hunks=hunks, executable=mode, old_blob=None)


_ALREADY = "take the file out of the patch, or map the upstream file elsewhere"
_OUTSIDE = "a patch changes only files of its own upstream entry"
_REMAKE = (
    "`vendor-tool sync NAME@REVISION` merges patches into another revision; where only the rules changed, "
    "make the patch again with `git diff`"
)
_MORE_CONTEXT = "make the patch again with more lines of context: `git diff -U10`"


def _apply_file(patch: Patch, file: FileDiff, tree: Tree) -> Blob | None:
    if file.old is None:
        return Blob(b"".join(line for hunk in file.hunks for line in hunk.new), bool(file.executable))
    before = _blob(patch, file, tree)
    lines = split(before.data)
    if file.new is None:
        gone = [line for hunk in file.hunks for line in hunk.old]
        if gone != lines:
            raise ConflictError(
                f"`{patch.path}` deletes `{file.old}`, whose content is not what the patch takes out",
                hint=_REMAKE,
            )
        return None
    out: list[bytes] = []
    done = 0
    for hunk, at in zip(file.hunks, _places(patch, file, tree), strict=True):
        out += lines[done:at]
        out += hunk.new
        done = at + len(hunk.old)
    out += lines[done:]
    if any(not line.endswith(b"\n") for line in out[:-1]):
        raise ConflictError(
            f"`{patch.path}` puts lines below a line of `{file.old}` that has no newline at its end", hint=_REMAKE
        )
    executable = before.executable if file.executable is None else file.executable
    return Blob(b"".join(out), executable)


def _blob(patch: Patch, file: FileDiff, tree: Tree) -> Blob:
    blob = tree.get(file.old or "")
    if blob is None:
        raise UsageError(
            f"{patch.path}:{file.at}: `{file.old}` is not a file of this upstream entry",
            hint="paths in a patch start at the lockfile's folder and name vendored files of the entry",
        )
    return blob


# ---- where hunks fit --------------------------------------------------------------------------------------


def _places(patch: Patch, file: FileDiff, tree: Tree) -> list[int]:
    """The first line, from 0, that each hunk replaces."""
    blob = _blob(patch, file, tree)
    lines = split(blob.data)
    if _is_recorded(file, blob.data):
        places = [_recorded(hunk) for hunk in file.hunks]
        if all(lines[at : at + len(hunk.old)] == hunk.old for hunk, at in zip(file.hunks, places, strict=True)):
            return places
    fits = [_fits(patch, file, number, hunk, lines) for number, hunk in enumerate(file.hunks, 1)]
    fits = _in_order(file.hunks, fits)
    for number, (hunk, places) in enumerate(zip(file.hunks, fits, strict=True), 1):
        if len(places) != 1 or not _ends_well(hunk, places[0], lines):
            raise _unclear(patch, file, number, hunk, places)
    return [places[0] for places in fits]


def _recorded(hunk: Hunk) -> int:
    # a hunk without old lines records the line above it
    return hunk.old_start - 1 if hunk.old else hunk.old_start


def _is_recorded(file: FileDiff, data: bytes) -> bool:
    """The patch was made from these very bytes, so its line numbers are facts."""
    blob = file.old_blob or ""
    digest = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return len(blob) >= 7 and digest.startswith(blob)


def _fits(patch: Patch, file: FileDiff, number: int, hunk: Hunk, lines: list[bytes]) -> list[int]:
    places = list(candidates(hunk.old, lines))
    if not any(_ends_well(hunk, at, lines) for at in places):
        raise _no_place(patch, file, number, hunk, lines)
    if not hunk.heading:
        return places
    named = [at for at in places if hunk.heading in headings(lines, at)]
    if named:
        return named
    if len(places) == 1 and _may_stand(hunk.heading, lines, places[0]):
        return places
    raise _other_function(patch, file, number, hunk, lines, places)


def candidates(block: Sequence[bytes], lines: Sequence[bytes]) -> Iterator[int]:
    """Every place, from 0, where `block` stands in `lines`; an empty block stands everywhere."""
    if not block:
        yield from range(len(lines) + 1)
        return
    starts = {offset: number for number, offset in enumerate(accumulate(map(len, lines), initial=0))}
    text, wanted = b"".join(lines), b"".join(block)
    at = text.find(wanted)
    while at >= 0:
        if at in starts and at + len(wanted) in starts:
            yield starts[at]
        at = text.find(wanted, at + 1)


def _ends_well(hunk: Hunk, at: int, lines: Sequence[bytes]) -> bool:
    """A hunk with context above and none below was made at the end of the file, and belongs there."""
    made_at_end = hunk.lines[-1][0] != " " and hunk.lines[0][0] == " "
    return not made_at_end or at + len(hunk.old) == len(lines)


def headings(lines: Sequence[bytes], at: int) -> set[bytes]:
    """What git may show as the heading of a hunk at line `at`: with its own rule, and with the one for Python."""
    found = set()
    for rule in (TOP_LEVEL, _PYTHON):
        line = next((lines[i] for i in range(at - 1, -1, -1) if rule.match(lines[i])), b"")
        found.add(line.rstrip(b"\r\n")[:HEADING].strip())
    return found


def _may_stand(heading: bytes, lines: list[bytes], at: int) -> bool:
    """A heading that no line of the file gives any more still may name the function around `at`.

    Either its signature changed and its name did not, or another tool chose the line by a rule of its own.
    """
    around = headings(lines, at)
    name = _NAME.search(heading)
    if name:
        return any(match and match[1] == name[1] for match in map(_NAME.search, around))
    return not TOP_LEVEL.match(heading) and any(line.strip().startswith(heading) for line in lines[:at])


def _in_order(hunks: Sequence[Hunk], fits: list[list[int]]) -> list[list[int]]:
    """Leave out places that would make hunks overlap or change their order, whatever the others choose."""
    result = []
    floor = 0
    for hunk, places in zip(hunks, fits, strict=True):
        places = [at for at in places if at >= floor]
        result.append(places)
        floor = (places[0] if places else floor) + len(hunk.old)
    ceiling: int | None = None
    for i in range(len(hunks) - 1, -1, -1):
        if ceiling is not None:
            result[i] = [at for at in result[i] if at + len(hunks[i].old) <= ceiling]
        if result[i]:
            ceiling = result[i][-1]
    return result


# ---- what is said where they do not -----------------------------------------------------------------------


def _unclear(patch: Patch, file: FileDiff, number: int, hunk: Hunk, places: list[int]) -> ConflictError:
    where = f"`{patch.path}` is unclear: hunk {number} (line {hunk.at} of the patch)"
    if not places:
        return ConflictError(f"{where} fits `{file.old}` only out of order with the other hunks", hint=_REMAKE)
    shown = ", ".join(str(at + 1) for at in places[:5]) + (", ..." if len(places) > 5 else "")
    return ConflictError(f"{where} fits `{file.old}` at lines {shown} alike", hint=_MORE_CONTEXT)


def _other_function(
    patch: Patch, file: FileDiff, number: int, hunk: Hunk, lines: list[bytes], places: list[int]
) -> ConflictError:
    shown = ", ".join(str(at + 1) for at in places[:5])
    around = min(headings(lines, places[0])).decode(errors="replace") or "the top of the file"
    return ConflictError(
        f"`{patch.path}` is unclear: hunk {number} (line {hunk.at} of the patch) belongs to "
        f"`{hunk.heading.decode(errors='replace')}` and fits `{file.old}` only elsewhere: line {shown} (`{around}`)",
        hint=_REMAKE,
    )


def _no_place(patch: Patch, file: FileDiff, number: int, hunk: Hunk, lines: list[bytes]) -> ConflictError:
    where = f"`{patch.path}` does not apply: hunk {number} (line {hunk.at} of the patch)"
    at, index = _nearest(hunk.old, lines, _recorded(hunk))
    if index >= len(hunk.old):
        return ConflictError(
            f"{where} ends with the file, and `{file.old}` goes on below line {at + index}", hint=_REMAKE
        )
    expected = hunk.old[index]
    found = lines[at + index] if at + index < len(lines) else b""
    hint = _REMAKE
    if expected.split() == found.split() and found:
        hint = "the lines differ in white space only: did a white-space fixer touch the patch file?"
    elif hunk.new and any(True for _ in candidates(hunk.new, lines)):
        hint = "its effect is there already; see `vendor-tool patch list`, or drop it with `vendor-tool patch drop`"
    return ConflictError(
        f"{where} expects `{_show(expected)}` at line {at + index + 1} of `{file.old}`, "
        + (f"which holds `{_show(found)}`" if found else "which has ended"),
        hint=hint,
    )


def _nearest(block: Sequence[bytes], lines: Sequence[bytes], recorded: int) -> tuple[int, int]:
    """The place with most equal lines, and the first line of the block that differs there."""
    start = block[:200]  # enough to find it by, and a message may not take minutes

    def equal(at: int) -> int:
        return sum(a == b for a, b in zip(start, lines[at : at + len(start)], strict=False))

    at = max(range(len(lines) + 1), key=lambda at: (equal(at), -abs(at - recorded)))
    different = (i for i in range(len(block)) if at + i >= len(lines) or lines[at + i] != block[i])
    return at, next(different, len(block))


def _show(line: bytes) -> str:
    return line.rstrip(b"\n").decode(errors="backslashreplace").replace("\r", "\\r")
