"""Whether a merge by lines left every change of a Python file in the function that it was made in.

Functions that look alike are the trap: where one side puts them in another order, the lines around a change of the
other side are found again in the twin, and the merge is clean and wrong.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence

from vendor_tool.lines import changes, similarity, split
from vendor_tool.merge.text import Clash, Labels, Merged, marked_text, merge
from vendor_tool.values import dataclass

Lines = tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """One function with the comment above it; or what is left of a class or of the module without its functions."""

    text: Lines  # without line ends
    start: int = 0  # first and past the last line, from 0; of functions only
    end: int = 0
    whole: bool = False  # a function


_Outline = Mapping[str, tuple[_Piece, ...]]  # qualified name to its definitions, the module as ""


def held(base: bytes, ours: bytes, theirs: bytes, merged: bytes, labels: Labels) -> Merged:
    """`merged`, the clean merge of the three, or a conflict where it changes other functions than the sides did.

    A function that one side alone changed must be that side's, one that neither changed must be as it was. Where both
    did, the change of either must be in it. What went with a function into its new name is right as long as no other
    new function resembles the old one as much. Text that is not Python passes.
    """
    was, our, their = (_outline(text) for text in (base, ours, theirs))
    if was is None or our is None or their is None:
        return Merged(merged)
    got = _outline(merged)
    if got is None:
        return _spans(split(theirs), split(merged), "put together, the two are no longer Python", labels)
    wrong = _wrong(_Sides(was, our, their, got), labels)
    wrong = {name for name in wrong if not any(_within(name, other) for other in wrong)}
    if not wrong:
        return Merged(merged)
    texts = split(ours), split(base), split(theirs)
    return _shown(_Sides(was, our, their, got), wrong, texts, split(merged), labels)


# ---- what a file defines ----------------------------------------------------------------------------------


def _outline(data: bytes) -> _Outline | None:
    """The definitions of a file; None for what is not Python, or has line ends that Python counts and git does not."""
    if b"\r" in data.replace(b"\r\n", b""):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes are their author's business
            module = ast.parse(data)
    except (SyntaxError, ValueError):
        return None
    lines = [line.rstrip(b"\r\n") for line in split(data)]
    found: dict[str, list[_Piece]] = {}
    _collect(module, "", lines, range(len(lines)), found)
    return {name: tuple(sorted(pieces, key=lambda piece: piece.text)) for name, pieces in found.items()}


def _collect(node: ast.AST, name: str, lines: Sequence[bytes], own: range, found: dict[str, list[_Piece]]) -> None:
    inner = []
    for child in _definitions(node):
        start = min([child.lineno, *(one.lineno for one in child.decorator_list)]) - 1
        while start > own.start and lines[start - 1].lstrip().startswith(b"#"):
            start -= 1
        place = range(start, child.end_lineno or child.lineno)
        inner.append(place)
        _collect(child, f"{name}.{child.name}" if name else child.name, lines, place, found)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        piece = _Piece(tuple(lines[own.start : own.stop]), own.start, own.stop, whole=True)
    else:
        apart = {number for place in inner for number in place}
        piece = _Piece(tuple(lines[number] for number in own if number not in apart and lines[number].strip()))
    found.setdefault(name, []).append(piece)


def _definitions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Those directly below a node, whatever `if` or `try` they stand in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _definitions(child)


# ---- what the merge should have made of it ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sides:
    base: _Outline
    ours: _Outline
    theirs: _Outline
    merged: _Outline


def _texts(outline: _Outline, name: str) -> tuple[Lines, ...] | None:
    return tuple(piece.text for piece in outline[name]) if name in outline else None


def _wrong(sides: _Sides, labels: Labels) -> set[str]:
    """Names whose definition the merge did not make as it should."""
    names = {*sides.base, *sides.ours, *sides.theirs, *sides.merged}
    return {name for name in names if _parent(name) in sides.merged and not _right(sides, name, labels)}


def _parent(name: str) -> str:
    return name.rpartition(".")[0]


def _within(name: str, other: str) -> bool:
    return bool(other) and name.startswith(f"{other}.")


def _right(sides: _Sides, name: str, labels: Labels) -> bool:
    was, our, their, got = (_texts(outline, name) for outline in (sides.base, sides.ours, sides.theirs, sides.merged))
    if was == our and was is not None:
        return got == their
    if was == their and was is not None:
        return got == our
    if our == their:
        return got == our
    if got is None or our is None or their is None:
        new = our if their is None else their
        if was is not None or got is None or new is None:
            return (got is None) == (was is not None)
        return got == new or _renamed(sides, name, labels)
    if not sides.merged[name][0].whole or was is None or len(got) != 1 or len({len(was), len(our), len(their)}) != 1:
        return True  # nothing is told of what both change outside functions
    return _both(was[0], our[0], their[0], got[0], labels)


def _both(was: Lines, our: Lines, their: Lines, got: Lines, labels: Labels) -> bool:
    alone = merge(_joined(was), _joined(our), _joined(their), labels)
    return got not in (our, their) if alone.clashes else alone.data == _joined(got)


def _joined(text: Lines) -> bytes:
    return b"".join(line + b"\n" for line in text)


def _renamed(sides: _Sides, name: str, labels: Labels) -> bool:
    """Whether what the other side put into a function that is new on one side belongs there: to its old name."""
    new, other = (sides.theirs, sides.ours) if name in sides.theirs else (sides.ours, sides.theirs)
    fresh = [one for one in new if one not in sides.base and new[one][0].whole == new[name][0].whole]
    for old in sides.base.keys() - new.keys():
        if _texts(other, old) in (None, _texts(sides.base, old)) or sides.base[old][0].whole != new[name][0].whole:
            continue
        was = sides.base[old][0].text
        near = sorted(((similarity(was, new[one][0].text), one) for one in fresh), reverse=True)
        if near[0][1] != name or (len(near) > 1 and near[1][0] == near[0][0]):
            continue
        texts = (was, sides.ours[old if other is sides.ours else name][0].text)
        third = sides.theirs[name if other is sides.ours else old][0].text
        if not new[name][0].whole or _both(*texts, third, sides.merged[name][0].text, labels):
            return True
    return False


# ---- how it is shown --------------------------------------------------------------------------------------


def _shown(
    sides: _Sides,
    wrong: set[str],
    texts: tuple[list[bytes], list[bytes], list[bytes]],
    merged: list[bytes],
    labels: Labels,
) -> Merged:
    """The merge with each wrong function taken back, and a conflict at those that our side changed.

    `texts` are the lines of ours, base and theirs.
    """
    alone = all(
        len(outline.get(name, ())) == 1 and outline[name][0].whole
        for name in wrong
        for outline in (sides.base, sides.ours, sides.theirs, sides.merged)
    )
    ours = sorted(name for name in wrong if _texts(sides.base, name) != _texts(sides.ours, name))
    if not alone or not ours:
        return _spans(texts[2], merged, _landed(_changed(sides), wrong, labels), labels)
    reason = _landed(ours, wrong, labels)
    out: list[bytes | Clash] = []
    done = 0
    for name in sorted(wrong, key=lambda name: sides.merged[name][0].start):
        place = sides.merged[name][0]
        our, was, their = (outline[name][0] for outline in (sides.ours, sides.base, sides.theirs))
        clash = Clash(
            tuple(texts[0][our.start : our.end]),
            tuple(texts[1][was.start : was.end]),
            tuple(texts[2][their.start : their.end]),
            (our.start + 1, our.end),
            (was.start + 1, was.end),
            (their.start + 1, their.end),
            reason=reason,
        )
        out += merged[done : place.start]
        out += [clash] if name in ours else clash.theirs
        done = place.end
    return marked_text([*out, *merged[done:]], labels)


def _changed(sides: _Sides) -> list[str]:
    """Functions that our side changed, the innermost ones."""
    both = sides.base.keys() & sides.ours.keys()
    found = {n for n in both if sides.ours[n][0].whole and _texts(sides.base, n) != _texts(sides.ours, n)}
    return sorted(name for name in found if not any(_within(other, name) for other in found))


def _landed(names: Sequence[str], wrong: set[str], labels: Labels) -> str:
    where = sorted(wrong - {*names})
    made, landed = (", ".join(f"`{name or 'the module itself'}`" for name in part) for part in (names, where))
    if made and landed:
        return f"{labels.ours} changes {made}; merged by lines, that would land in {landed}"
    return f"merged by lines, changes would not be in the functions that they were made in: see {made or landed}"


def _spans(theirs: list[bytes], merged: list[bytes], reason: str, labels: Labels) -> Merged:
    """Everything that the merge would do to their side, for a person to look at."""
    out: list[bytes | Clash] = []
    done = 0
    for span in changes(theirs, merged):
        out += theirs[done : span.old_start]
        now, was = tuple(merged[span.new_start : span.new_end]), tuple(theirs[span.old_start : span.old_end])
        place = (span.old_start + 1, span.old_end)
        out.append(Clash(now, was, was, (span.new_start + 1, span.new_end), place, place, reason=reason))
        done = span.old_end
    return marked_text([*out, *theirs[done:]], labels)
