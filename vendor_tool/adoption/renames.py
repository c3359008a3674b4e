"""Which modules the imports of copies name where upstream's files name others: the `rename` of an `imports` rule."""

import ast
import posixpath
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class Texts(NamedTuple):
    """One upstream file and the copy of it."""

    path: str  # upstream path
    upstream: bytes
    local: bytes


class _Name(NamedTuple):
    """One imported name: the module that is named, what of it (None for the module itself), and what it is bound to."""

    module: str
    inner: str | None
    bound: str
    level: int

    @property
    def full(self) -> str:
        return f"{self.module}.{self.inner}" if self.inner else self.module


def renames(pairs: Sequence[Texts]) -> dict[str, str]:
    """Old to new dotted name, for what most copies import from elsewhere under the name that upstream's file gives it.

    Names that a rename would cover and that copies import as they are stand for themselves.
    """
    votes: dict[str, Counter[str]] = {}
    kept: set[str] = set()
    for texts in pairs:
        ours: dict[str, list[_Name]] = {}
        for one in _names(texts.local, texts.path):
            ours.setdefault(one.bound, []).append(one)
        for old in _names(texts.upstream, texts.path):
            new = next(iter(ours.get(old.bound, ())), None)
            if new is None:
                continue
            if new.level:
                kept.update({old.module} if not old.level else ())
                continue
            if (new.module, new.inner) == (old.module, old.inner):
                kept.add(old.module)
            elif new.inner == old.inner:
                votes.setdefault(old.module, Counter())[new.module] += 1
            else:
                votes.setdefault(old.full, Counter())[new.full] += 1
    found = {old: min(counted, key=lambda new: (-counted[new], new)) for old, counted in votes.items()}
    return dict(sorted({**_covered(kept, found), **found}.items()))


def _covered(kept: set[str], found: Mapping[str, str]) -> dict[str, str]:
    return {name: name for name in kept if name not in found and any(name.startswith(f"{old}.") for old in found)}


def _names(data: bytes, path: str) -> Iterator[_Name]:
    """Every imported name; relative ones of an upstream file by the path from the top of its repository."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                yield _Name(alias.name, None, bound, 0)
        elif isinstance(node, ast.ImportFrom):
            module = _module(node, path)
            for alias in node.names:
                yield _Name(module, alias.name, alias.asname or alias.name, node.level)


def _module(node: ast.ImportFrom, path: str) -> str:
    if not node.level:
        return node.module or ""
    folder = posixpath.dirname(path)
    for _ in range(node.level - 1):
        folder = posixpath.dirname(folder)
    return ".".join(filter(None, (folder.replace("/", "."), node.module)))
