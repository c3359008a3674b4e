"""Line-by-line difference of two byte strings: the shortest edit, placed where a reader would look for it."""

from collections.abc import Sequence
from typing import NamedTuple

# One pass of the search keeps a row for each edit, so its memory grows with the square of this.
MAX_EDITS = 600


class Span(NamedTuple):
    """`old[old_start:old_end]` is replaced by `new[new_start:new_end]`; counted from 0, either may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def split(data: bytes) -> list[bytes]:
    r"""The lines of `data` with their `\n`; only the last may lack it. A carriage return is part of its line."""
    parts = data.split(b"\n")
    lines = [part + b"\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def changes(old: Sequence[bytes], new: Sequence[bytes]) -> list[Span]:
    """What turns `old` into `new`, in order, with at least one common line between any two spans."""
    old_changed = [True] * len(old)
    new_changed = [True] * len(new)
    for i, j in _common(old, new):
        old_changed[i] = new_changed[j] = False
    _settle(old, old_changed, new_changed)
    _settle(new, new_changed, old_changed)
    return _spans(old_changed, new_changed)


def similarity(old: Sequence[bytes], new: Sequence[bytes]) -> float:
    """Share of bytes that the two have in common lines, 0 to 1, measured on the larger one."""
    size = max(sum(map(len, old)), sum(map(len, new)))
    return sum(len(old[i]) for i, _ in _common(old, new)) / size if size else 1.0


# ---- longest common subsequence ---------------------------------------------------------------------------


def _common(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """Index pairs of a longest common subsequence."""
    start = 0
    stop = min(len(old), len(new))
    while start < stop and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < stop - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    # A line that the other side lacks is in no common subsequence: without them the search stays short.
    in_old = set(old[start : len(old) - tail])
    in_new = set(new[start : len(new) - tail])
    left = [i for i in range(start, len(old) - tail) if old[i] in in_new]
    right = [j for j in range(start, len(new) - tail) if new[j] in in_old]
    pairs = [(i, i) for i in range(start)]
    pairs += [(left[i], right[j]) for i, j in _search([old[i] for i in left], [new[j] for j in right])]
    pairs += [(len(old) - k, len(new) - k) for k in range(tail, 0, -1)]
    return pairs


def _search(old: list[bytes], new: list[bytes]) -> list[tuple[int, int]]:
    """Longest common subsequence after E. Myers, "An O(ND) difference algorithm" (Algorithmica 1, 1986).

    Past MAX_EDITS edits the furthest point is kept and the search starts anew from there: still a common
    subsequence, no longer surely the longest.
    """
    pairs: list[tuple[int, int]] = []
    x = y = 0
    while x < len(old) and y < len(new):
        found, dx, dy = _pass(old[x:], new[y:])
        pairs += [(x + i, y + j) for i, j in found]
        x, y = x + dx, y + dy
    return pairs


def _pass(old: list[bytes], new: list[bytes]) -> tuple[list[tuple[int, int]], int, int]:
    """Common pairs of one search, and how far in both it came."""
    n, m = len(old), len(new)
    rows: list[list[int]] = []  # rows[d][k + d]: how far in `old` d edits reach on diagonal k; -1 is out of reach
    for edits in range(min(n + m, MAX_EDITS) + 1):
        rows.append([-1] * (2 * edits + 1))
        for k in range(-edits, edits + 1, 2):
            x = _step(rows, edits, k, n, m)
            if x < 0:
                continue
            y = x - k
            while x < n and y < m and old[x] == new[y]:
                x += 1
                y += 1
            rows[edits][k + edits] = x
            if x == n and y == m:
                return _trace(rows, k, n, m), n, m
    last = rows[-1]
    edits = len(rows) - 1
    k = max((k for k in range(-edits, edits + 1, 2) if last[k + edits] >= 0), key=lambda k: 2 * last[k + edits] - k)
    return _trace(rows, k, n, m), last[k + edits], last[k + edits] - k


def _step(rows: list[list[int]], edits: int, k: int, n: int, m: int) -> int:
    """Where the edit number `edits` lands on diagonal `k`: a deletion from k - 1 or an insertion from k + 1."""
    if edits == 0:
        return 0
    before = rows[edits - 1]
    at = k + edits - 1  # diagonal k in the row before
    best = -1
    if at + 1 < len(before) and before[at + 1] >= 0 and before[at + 1] - k <= m:
        best = before[at + 1]
    if at >= 1 and 0 <= before[at - 1] < n:
        best = max(best, before[at - 1] + 1)
    return best


def _trace(rows: list[list[int]], k: int, n: int, m: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for edits in range(len(rows) - 1, -1, -1):
        start = _step(rows, edits, k, n, m)
        end = rows[edits][k + edits]
        pairs += [(x, x - k) for x in range(end - 1, start - 1, -1)]
        if edits:
            before = rows[edits - 1]
            at = k + edits - 1
            deleted = at >= 1 and before[at - 1] >= 0 and before[at - 1] + 1 == start
            k = k - 1 if deleted else k + 1
    return pairs[::-1]


# ---- where a change is shown ------------------------------------------------------------------------------


def _settle(lines: Sequence[bytes], changed: list[bool], other: list[bool]) -> None:
    """Slide each block of changed lines to the most readable of the equal places, in place of `changed`.

    A block may slide where the line that it gives up equals the one that it takes in. Blocks that meet become one.
    Otherwise best is a place that faces a change of the other side, so that both read as one replacement; then the
    outermost indentation with an empty line above, so that whole functions are shown as added or removed.
    """
    facing = _gaps(other)
    start = kept = 0  # `kept` unchanged lines stand before `start`
    while start < len(lines):
        if not changed[start]:
            start += 1
            kept += 1
            continue
        end = start
        while end < len(lines) and changed[end]:
            end += 1
        lowest, highest = _reach(lines, changed, start, end)
        size = end - start
        meets_next = highest + size < len(lines) and changed[highest + size]
        if lowest and changed[lowest - 1]:
            best = lowest
        elif meets_next:
            best = highest
        else:
            best = _clearest(lines, range(lowest, highest + 1), facing, kept - start)
        changed[start:end] = [False] * size
        changed[best : best + size] = [True] * size
        kept += best - start
        start = best
        if best == lowest and lowest and changed[lowest - 1]:
            while start and changed[start - 1]:
                start -= 1
        elif not meets_next:
            start = best + size


def _reach(lines: Sequence[bytes], changed: list[bool], start: int, end: int) -> tuple[int, int]:
    """The first and the last place that the block `start` to `end` slides to without passing another block."""
    size = end - start
    lowest = highest = start
    while lowest and not changed[lowest - 1] and lines[lowest - 1] == lines[lowest - 1 + size]:
        lowest -= 1
    while highest + size < len(lines) and not changed[highest + size] and lines[highest] == lines[highest + size]:
        highest += 1
    return lowest, highest


def _gaps(changed: list[bool]) -> set[int]:
    """Numbers of unchanged lines that stand before a change."""
    kept = 0
    gaps = set()
    for flag in changed:
        if flag:
            gaps.add(kept)
        else:
            kept += 1
    return gaps


def _clearest(lines: Sequence[bytes], places: range, facing: set[int], shift: int) -> int:
    return min(places, key=lambda place: (place + shift not in facing, _roughness(lines, place), -place))


def _roughness(lines: Sequence[bytes], start: int) -> tuple[int, bool]:
    text = lines[start].lstrip()
    indent = len(lines[start]) - len(text) if text else len(lines[start]) + 1000
    return indent, start > 0 and bool(lines[start - 1].strip())


def _spans(old_changed: list[bool], new_changed: list[bool]) -> list[Span]:
    spans = []
    i = j = 0
    while i < len(old_changed) or j < len(new_changed):
        old_start, new_start = i, j
        while i < len(old_changed) and old_changed[i]:
            i += 1
        while j < len(new_changed) and new_changed[j]:
            j += 1
        if (i, j) != (old_start, new_start):
            spans.append(Span(old_start, i, new_start, j))
        else:
            i += 1
            j += 1
    return spans
