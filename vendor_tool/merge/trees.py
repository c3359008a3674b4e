"""Three-way merge of trees: which files came, went, moved or changed, on both sides."""

from collections.abc import Mapping
from typing import Literal

from vendor_tool.merge import functions
from vendor_tool.merge.text import MARKER, Clash, Labels, merge
from vendor_tool.model import Blob, Tree
from vendor_tool.values import dataclass

ConflictKind = Literal["content", "both-added", "deleted-upstream", "deleted-by-patch", "binary"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """One file that a person must settle. A version is None where the file is not there."""

    path: str
    kind: ConflictKind
    base: Blob | None
    ours: Blob | None
    theirs: Blob | None
    marked: bytes | None  # with markers in the style of diff3; None for binary files
    clashes: tuple[Clash, ...] = ()
    reason: str = ""  # what happened to the whole file, where not both sides changed it


@dataclass(frozen=True, slots=True)
class MergedTree:
    """The files that could be merged, sorted, and those that could not: each path is in one of the two."""

    tree: Tree
    conflicts: tuple[Conflict, ...]


def merge_trees(
    base: Tree, ours: Tree, theirs: Tree, labels: Labels, moved: Mapping[str, str] | None = None
) -> MergedTree:
    """Merge `ours` and `theirs`, both made from `base`; `moved` maps paths that ours renamed to their new ones."""
    for old, new in (moved or {}).items():
        base, theirs = _move(base, old, new), _move(theirs, old, new)
    tree: dict[str, Blob] = {}
    conflicts = []
    for path in sorted({*base, *ours, *theirs}):
        merged = _merge_file(path, base.get(path), ours.get(path), theirs.get(path), labels)
        if isinstance(merged, Conflict):
            conflicts.append(merged)
        elif merged is not None:
            tree[path] = merged
    return MergedTree(tree, tuple(conflicts))


def _move(tree: Tree, old: str, new: str) -> Tree:
    # a file that stands at the new path already shows as added by both
    if old not in tree or new in tree:
        return tree
    return {new if path == old else path: blob for path, blob in tree.items()}


def _merge_file(
    path: str, base: Blob | None, ours: Blob | None, theirs: Blob | None, labels: Labels
) -> Blob | Conflict | None:
    if ours == theirs or base == ours:
        return theirs
    if base == theirs:
        return ours
    if ours is None or theirs is None:
        return _half_gone(path, base, ours, theirs, labels)
    if any(blob and b"\0" in blob.data for blob in (base, ours, theirs)):
        return Conflict(path, "binary", base, ours, theirs, None, (), "both sides change a file that is not text")
    mode = ours.executable if base and base.executable == theirs.executable else theirs.executable
    texts = base.data if base else b"", ours.data, theirs.data
    merged = merge(*texts, labels)
    if not merged.clashes and path.endswith((".py", ".pyi")):
        merged = functions.held(*texts, merged.data, labels)
    if not merged.clashes:
        return Blob(merged.data, mode)
    if base is None:
        reason = f"{labels.ours} and {labels.theirs} both add this file"
        return Conflict(path, "both-added", base, ours, theirs, merged.data, merged.clashes, reason)
    return Conflict(path, "content", base, ours, theirs, merged.data, merged.clashes)


def _half_gone(path: str, base: Blob | None, ours: Blob | None, theirs: Blob | None, labels: Labels) -> Conflict:
    kind: ConflictKind = "deleted-upstream" if theirs is None else "deleted-by-patch"
    reason = (
        f"{labels.theirs} no longer has the file that {labels.ours} changes"
        if theirs is None
        else f"{labels.ours} deletes the file, and {labels.theirs} changed it"
    )
    texts = [blob.data if blob else b"" for blob in (ours, base, theirs)]
    if any(b"\0" in text for text in texts):
        return Conflict(path, kind, base, ours, theirs, None, (), reason)
    return Conflict(path, kind, base, ours, theirs, _whole(texts, labels), (), reason)


def _whole(texts: list[bytes], labels: Labels) -> bytes:
    """The whole file as one clash, since there is no half of a file to keep."""
    parts = []
    for mark, label, text in zip("<|=", (labels.ours, labels.base, ""), texts, strict=True):
        parts.append((mark * MARKER + (f" {label}" if label else "") + "\n").encode())
        parts.append(text if text.endswith(b"\n") or not text else text + b"\n")
    return b"".join(parts) + f"{'>' * MARKER} {labels.theirs}\n".encode()
