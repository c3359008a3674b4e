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
    to: str  # local path
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
    copied = {_dotted(texts.path) for texts in pairs}
    for texts in pairs:
        ours: dict[str, _Name] = {}
        for one in _names(texts.local, texts.to):
            ours.setdefault(one.bound, one)
        for old in _names(texts.upstream, texts.path):
            new = ours.get(old.bound)
            # a relative import of a copy beside it is what the rule makes of its own accord
            if new is None or (new.level and _among(old, copied)):
                continue
            dot = "." if new.level else ""
            if not new.level and (new.module, new.inner) == (old.module, old.inner):
                kept.add(old.module)
            elif new.inner == old.inner:
                votes.setdefault(old.module, Counter())[dot + new.module] += 1
            else:
                votes.setdefault(old.full, Counter())[dot + new.full] += 1
    found = {old: min(counted, key=lambda new: (-counted[new], new)) for old, counted in votes.items()}
    return dict(sorted({**_covered(kept, found), **found}.items()))


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _among(name: _Name, copied: set[str]) -> bool:
    """Whether what is imported, or the module that it is taken from, is one of the files that were copied."""
    return any(f".{one}".endswith((f".{name.full}", f".{name.module}")) for one in copied)


def _covered(kept: set[str], found: Mapping[str, str]) -> dict[str, str]:
    return {name: name for name in kept if name not in found and any(name.startswith(f"{old}.") for old in found)}


def _names(data: bytes, path: str) -> Iterator[_Name]:
    """Every imported name; relative ones by the path from the top of the repository that the file is in."""
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
