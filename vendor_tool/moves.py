"""Where the content of a file went that an upstream no longer has: renamed, moved or split."""

import posixpath
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, TypeAlias

from vendor_tool.lines import similarity, split
from vendor_tool.model import Entry
from vendor_tool.transform.symbols import Symbol, outline
from vendor_tool.values import dataclass

Read: TypeAlias = Callable[[Collection[str]], Mapping[str, bytes]]
"""Upstream paths of the newer revision to their contents."""

# git's own threshold for a rename
RENAME = 0.5
# a definition of the same name that shares less than this is taken for another one
SAME_NAME = 0.2
OTHER_NAME = 0.6
# files that are read at most, nearest first
READ = 200


@dataclass(frozen=True, slots=True)
class Fate:
    """Where one top-level function or class of the missing file went."""

    name: str
    status: Literal["moved", "changed", "renamed", "gone"]  # `changed` and `renamed` also moved
    path: str | None = None  # upstream path; None where gone
    to: str | None = None  # its name there
    similarity: float = 0.0  # of its lines, 0 to 1


@dataclass(frozen=True, slots=True)
class Proposal:
    """What became of one missing file."""

    path: str  # upstream path that is gone
    renamed: str | None  # upstream path with at least half of its content
    similarity: float  # of the file `renamed`, 0 to 1
    fates: tuple[Fate, ...]  # of its top-level definitions, in the order of the file

    @property
    def paths(self) -> tuple[str, ...]:
        """Upstream paths to map instead: the renamed file, or all files that its definitions went to."""
        if self.renamed:
            return (self.renamed,)
        return tuple(dict.fromkeys(fate.path for fate in self.fates if fate.path))


def propose(
    missing: Mapping[str, bytes],
    old: Mapping[str, Entry],
    new: Mapping[str, Entry],
    read: Read,
    read_old: Read | None = None,
) -> tuple[Proposal, ...]:
    """For each upstream path of `missing`, with its old content, where that content is in the listing `new`.

    A blob that moved unchanged is found by its id alone. Otherwise only files that are new or changed since the
    listing `old` can have taken content in; of those with the missing file's suffix, the nearest READ are read. With
    `read_old`, the same of the older revision, a definition that a file had before is none that moved there.
    """
    proposals = []
    for path, data in sorted(missing.items()):
        same = [p for p, entry in new.items() if path in old and entry.oid == old[path].oid and entry.kind == "blob"]
        if same:
            nearest = min(same, key=lambda p: _distance(path, p))
            fates = tuple(Fate(name, "moved", nearest, name, 1.0) for name in _definitions(data))
            proposals.append(Proposal(path, nearest, 1.0, fates))
            continue
        candidates = _candidates(path, old, new)
        held = [p for p in candidates if p in old and p not in missing] if read_old is not None else []
        before = read_old(held) if read_old is not None and held else {}
        proposals.append(_propose(path, data, read(candidates), before))
    return tuple(proposals)


def describe(proposal: Proposal) -> str:
    """The proposal in one line: "`core.py` is gone: half -> kernel/half.py (moved, changed), wrap -> gone"."""
    if proposal.renamed:
        percent = int(proposal.similarity * 100)
        others = [_told(proposal, fate) for fate in proposal.fates if fate.path != proposal.renamed]
        rest = f", but {', '.join(others)}" if others else ""
        return f"`{proposal.path}` is gone: `{proposal.renamed}` holds {percent} % of it{rest}"
    if not any(fate.path for fate in proposal.fates):
        return f"`{proposal.path}` is gone, and nothing like it was found"
    return f"`{proposal.path}` is gone: " + ", ".join(_told(proposal, fate) for fate in proposal.fates)


def _told(proposal: Proposal, fate: Fate) -> str:
    if fate.path is None:
        return f"{fate.name} -> gone"
    how = {"moved": "moved", "changed": "moved, changed", "renamed": f"moved, now {fate.to}", "gone": ""}
    return f"{fate.name} -> {posixpath.relpath(fate.path, _folder(proposal.path))} ({how[fate.status]})"


def _folder(path: str) -> str:
    return posixpath.dirname(path) or "."


# ---- which files to look at -------------------------------------------------------------------------------


def _candidates(path: str, old: Mapping[str, Entry], new: Mapping[str, Entry]) -> list[str]:
    suffix = posixpath.splitext(path)[1]
    known = {(p, entry.oid) for p, entry in old.items()}
    fresh = [
        p
        for p, entry in new.items()
        if entry.mode in ("100644", "100755") and p.endswith(suffix) and (p, entry.oid) not in known
    ]
    return sorted(fresh, key=lambda p: _distance(path, p))[:READ]


def _distance(path: str, other: str) -> tuple[int, int, str]:
    """Small for files that share folders, then words of the name."""
    folders = posixpath.dirname(path).split("/"), posixpath.dirname(other).split("/")
    shared = 0
    while shared < min(map(len, folders)) and folders[0][shared] == folders[1][shared]:
        shared += 1
    apart = len(folders[0]) + len(folders[1]) - 2 * shared
    words = [set(re.split(r"[\W_]+", posixpath.basename(p))) for p in (path, other)]
    return apart, -len(words[0] & words[1]), other


# ---- what is in them --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Definition:
    symbol: Symbol
    lines: tuple[bytes, ...]  # without indentation, so that a method that became a function is known again


def _propose(path: str, data: bytes, contents: Mapping[str, bytes], before: Mapping[str, bytes]) -> Proposal:
    lines = split(data)
    best, score = None, 0.0
    for other, text in contents.items():
        # git looks at size first too: a file twice as long cannot share half of itself
        if min(len(text), len(data)) < RENAME * max(len(text), len(data)):
            continue
        alike = similarity(lines, split(text))
        if alike > score:
            best, score = other, alike
    there = {other: _definitions(text) for other, text in contents.items()}
    held = {other: _definitions(text) for other, text in before.items()}
    fates = []
    for name, definition in _definitions(data).items():
        fresh = {other: _fresh(name, found, held.get(other, {})) for other, found in there.items()}
        fates.append(_fate(name, definition, fresh))
    return Proposal(path, best if score >= RENAME else None, score if score >= RENAME else 0.0, tuple(fates))


def _fresh(name: str, now: Mapping[str, _Definition], before: Mapping[str, _Definition]) -> dict[str, _Definition]:
    """The definitions that a file had not before; the one of that name also where it had another one."""
    return {
        other: one
        for other, one in now.items()
        if other not in before or (other == name and one.lines != before[other].lines)
    }


def _definitions(data: bytes) -> dict[str, _Definition]:
    """Top-level functions and classes; nothing for a file that is not Python."""
    try:
        found = outline(data)
    except (SyntaxError, ValueError):
        return {}
    lines = [line.strip() for line in split(data)]
    return {
        name: _Definition(symbol, tuple(lines[symbol.line - 1 : symbol.end_line]))
        for name, symbol in found.items()
        if symbol.kind != "method"
    }


def _fate(name: str, definition: _Definition, there: Mapping[str, Mapping[str, _Definition]]) -> Fate:
    best: Fate = Fate(name, "gone")
    for path, definitions in there.items():
        for other, candidate in definitions.items():
            least = SAME_NAME if other == name else OTHER_NAME
            if other != name and not _comparable(definition.lines, candidate.lines):
                continue
            same = other == name and candidate.symbol == _moved(definition.symbol, candidate.symbol)
            alike = 1.0 if same else similarity(definition.lines, candidate.lines)
            if alike >= least and (alike, other == name) > (best.similarity, best.to == name):
                status: Literal["moved", "changed", "renamed"] = (
                    "moved" if same else "changed" if other == name else "renamed"
                )
                best = Fate(name, status, path, other, alike)
    return best


def _moved(symbol: Symbol, to: Symbol) -> Symbol:
    return Symbol(symbol.kind, symbol.signature, symbol.digest, to.line, to.end_line)


def _comparable(ours: Sequence[bytes], theirs: Sequence[bytes]) -> bool:
    sizes = sorted((sum(map(len, ours)), sum(map(len, theirs))))
    return sizes[0] >= OTHER_NAME * sizes[1]
