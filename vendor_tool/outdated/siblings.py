"""Copies of one file that came by several ways: a fix that one has may be what the other lacks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import PurePosixPath
from typing import Final

from vendor_tool import lines
from vendor_tool.outdated.formatting import Difference, difference
from vendor_tool.values import dataclass

ALIKE: Final = 0.5
"""Share of common lines, by bytes, from which two files count as copies.

Measured over the kernels of slime and miles: 0.97 and more for copies, 0.38 to 0.69 for kernels that were adapted for
another model, 0.08 and less for any others.
"""


@dataclass(frozen=True, slots=True)
class Copy:
    """One vendored file as its upstream has it, with our patches; our rules would only add differences of our own."""

    upstream: str
    path: str  # upstream path
    to: str  # local path
    data: bytes


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place where two copies differ; lines are counted from 1, a side without lines names the line that follows."""

    left_line: int
    left: tuple[bytes, ...]
    right_line: int
    right: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Siblings:
    """Two copies of one file, and where they differ: nowhere where they are the same."""

    left: Copy
    right: Copy
    hunks: tuple[Hunk, ...]
    kind: Difference


def nearest(versions: Sequence[bytes], data: bytes) -> int:
    """The place among the versions of a file, newest first, of the one that a copy is most like; the first if equal."""
    if data in versions:
        return versions.index(data)
    text = lines.split(data)
    alike = [lines.similarity(lines.split(version), text) for version in versions]
    return alike.index(max(alike))


def siblings(copies: Sequence[Copy]) -> list[Siblings]:
    """Every pair of copies of one file, by local path; a pair within one upstream counts as well.

    Files pair by content; of files with the same name and nothing else in common there is no pair.
    """
    ordered = sorted(copies, key=lambda copy: copy.to)
    split = {copy.to: lines.split(copy.data) for copy in ordered}
    counted = {to: Counter(found) for to, found in split.items()}
    return [
        _compare(left, right, split[left.to], split[right.to])
        for left, right in combinations(ordered, 2)
        if _may_pair(left, right)
        and _common(counted[left.to], counted[right.to]) >= ALIKE * max(len(left.data), len(right.data))
        and lines.similarity(split[left.to], split[right.to]) >= ALIKE
    ]


def _may_pair(left: Copy, right: Copy) -> bool:
    """Cheap test first: the same kind of file, and neither is more than twice the other, which ALIKE rules out."""
    sizes = sorted((len(left.data), len(right.data)))
    return PurePosixPath(left.to).suffix == PurePosixPath(right.to).suffix and 0 < sizes[0] >= sizes[1] * ALIKE


def _common(left: Mapping[bytes, int], right: Mapping[bytes, int]) -> int:
    """Bytes of lines that two files share in whatever order: the most that `similarity` can find, far sooner."""
    return sum(len(line) * min(number, right[line]) for line, number in left.items() if line in right)


def _compare(left: Copy, right: Copy, old: Sequence[bytes], new: Sequence[bytes]) -> Siblings:
    return Siblings(left, right, tuple(_hunks(old, new)), difference(left.data, right.data))


def _hunks(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[Hunk]:
    for span in lines.changes(old, new):
        left, right = old[span.old_start : span.old_end], new[span.new_start : span.new_end]
        yield Hunk(span.old_start + 1, tuple(left), span.new_start + 1, tuple(right))


def lacking(old: bytes, new: bytes, sibling: bytes) -> tuple[Hunk, ...]:
    """The hunks of a change from `old` to `new` that a sibling of the file has not: it still has the old lines.

    Lines compare without indentation. Hunks that only add, or whose old lines say nothing, are held by the lines
    around them. `right_line` is where the hunk would go in the sibling.
    """
    before, after = lines.split(old), lines.split(new)
    was, there = ([line.strip() for line in lines.split(data)] for data in (old, sibling))
    places = aligned(was, there)
    owners = {line: of for of, line in places.items()}
    found = []
    for span in lines.changes(before, after):
        start, end = _telling(before, span.old_start, span.old_end)
        at = _position(was, there, range(start, end), places)
        removed, added = before[span.old_start : span.old_end], after[span.new_start : span.new_end]
        if at is None or (not removed and _holds(there, added, owners)):
            continue
        found.append(Hunk(span.old_start + 1, tuple(removed), at + span.old_start - start + 1, tuple(added)))
    return tuple(found)


def _holds(there: Sequence[bytes], added: Sequence[bytes], owners: Mapping[int, int]) -> bool:
    """Whether a copy has lines that are none of the old file's, and just those that were added to it."""
    wanted = [line.strip() for line in added]
    while wanted and not wanted[-1]:
        wanted.pop()
    while wanted and not wanted[0]:
        wanted.pop(0)
    free = (at for at in range(len(there) - len(wanted) + 1) if owners.keys().isdisjoint(range(at, at + len(wanted))))
    return any(list(there[at : at + len(wanted)]) == wanted for at in free)


def _telling(old: Sequence[bytes], start: int, end: int) -> tuple[int, int]:
    """The old lines of a hunk, with the line before and after where they are too few to be told from others."""
    if any(len(line.split()) > 1 for line in old[start:end]):
        return start, end
    return max(start - 1, 0), min(end + 1, len(old))


def aligned(old: Sequence[bytes], new: Sequence[bytes]) -> dict[int, int]:
    """Which line of `new` each line of `old` is, both from 0, for those that are the same."""
    found: dict[int, int] = {}
    start, shift = 0, 0
    for span in [*lines.changes(old, new), lines.Span(len(old), len(old), len(new), len(new))]:
        found |= {line: line + shift for line in range(start, span.old_start)}
        start, shift = span.old_end, span.new_end - span.old_end
    return found


def _position(was: Sequence[bytes], there: Sequence[bytes], hunk: range, places: Mapping[int, int]) -> int | None:
    """Where the lines of a hunk stand in a copy, from 0: in line with the rest, or else moved; None where nowhere."""
    first = places.get(hunk.start)
    if first is not None and all(places.get(line) == first + line - hunk.start for line in hunk):
        return first
    if not any(was[line] for line in hunk):
        return None
    owners = {new: old for old, new in places.items()}
    wanted, size = list(was[hunk.start : hunk.stop]), len(hunk)
    # a line that is in line with another one of the old file is that one, however alike
    free = [
        at
        for at in range(len(there) - size + 1)
        if there[at] == wanted[0]
        and there[at : at + size] == wanted
        and all(owners.get(at + n, hunk.start) in hunk for n in range(size))
    ]
    near = max((line for line in places if line < hunk.start), default=None)
    expected = hunk.start if near is None else places[near] + hunk.start - near
    return min(free, key=lambda at: abs(at - expected), default=None)


def show(left: Copy, right: Copy, hunks: Sequence[Hunk]) -> str:
    """Hunks as a diff without context, each side named by upstream and path."""
    text = [f"--- {left.upstream}:{left.path}", f"+++ {right.upstream}:{right.path}"]
    for hunk in hunks:
        text.append(f"@@ -{hunk.left_line},{len(hunk.left)} +{hunk.right_line},{len(hunk.right)} @@")
        text += [f"-{_line(line)}" for line in hunk.left]
        text += [f"+{_line(line)}" for line in hunk.right]
    return "\n".join(text) + "\n"


def _line(line: bytes) -> str:
    return line.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
