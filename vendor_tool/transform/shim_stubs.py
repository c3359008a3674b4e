"""What type checkers read in the place of a stand-in whose submodules files import from.

A stand-in is one file, which answers for every submodule when it runs; a checker looks for files. Beside `_x.py` a
folder `_x` with `.pyi` files only is what a checker takes and Python does not.
"""

import ast
import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from vendor_tool.errors import UsageError
from vendor_tool.model import BuiltFile, ShimSpec, Source
from vendor_tool.transform import modules, syntax
from vendor_tool.transform.shim_standin import BUNDLED, GUARD, MARK, SHADOWS, real_names

_HEAD = f"""\
{MARK.decode()} edits are lost at the next `vendor-tool sync`.
# SPDX-License-Identifier: Apache-2.0
# mypy: ignore-errors
# ruff: noqa
# fmt: off
"""
_REST = "\ndef __getattr__(name: str) -> Any: ...\n"
_BUILTINS = """\
import dataclasses as dataclasses
import functools as functools
from builtins import *
from typing import TypeVar

_Table = TypeVar("_Table")

def _loaded(*names: str) -> bool: ...
def _keyed(table: _Table) -> _Table: ...
"""


def imported(files: Iterable[BuiltFile], shims: Mapping[str, ShimSpec]) -> dict[str, tuple[str, ...]]:
    """What finished files import from submodules of stand-ins: local path of the stand-in to names as seen from it.

    `from ._x.sub import a` gives `sub.a`. `from ._x import a` gives none: the stand-in itself tells checkers of that.
    """
    found: dict[str, set[str]] = {}
    places = [(parts, spec.to) for spec in shims.values() for parts in _places(spec)]
    below = [re.compile(rb"(?<!\w)%s[\s\\]*\." % re.escape(parts[-1].encode())) for parts, _ in places]
    for file in files:
        if not syntax.is_python(file.to) or not any(pattern.search(file.final) for pattern in below):
            continue
        for module, name in _imports(file):
            for parts, to in places:
                if module[: len(parts)] == parts and len(module) > len(parts):
                    found.setdefault(to, set()).add(".".join((*module[len(parts) :], name)))
    return {to: tuple(sorted(names)) for to, names in sorted(found.items())}


def _places(spec: ShimSpec) -> Iterator[tuple[str, ...]]:
    """The dotted names, in parts, that a stand-in is imported by."""
    local = modules.local_parts(spec.to)
    return (parts for parts in (local, tuple((spec.import_ or "").split("."))) if parts and parts[-1])


def _imports(file: BuiltFile) -> Iterator[tuple[tuple[str, ...], str]]:
    """Module, in parts from the lockfile's folder, and name of each `from ... import`."""
    try:
        statements = syntax.imports(Source(file.path, file.to, file.blob, file.final))
    except UsageError:  # a patch made it so, and no checker reads it either
        return
    here = tuple(modules.parent(file.to).split("/")) if modules.parent(file.to) else ()
    for node in statements:
        if isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else ()
            module = (*base, *(node.module.split(".") if node.module else ()))
            yield from ((module, alias.name) for alias in node.names)


def paths(to: str, names: Iterable[str]) -> tuple[str, ...]:
    """The local paths of the files beside the stand-in at `to`, for `names` that `imported` found below it."""
    folder = "/".join(modules.local_parts(to))
    return tuple(sorted("/".join((folder, *module, "__init__.pyi")) for module in _modules(names)))


def render(spec: ShimSpec, names: Iterable[str]) -> dict[str, bytes]:
    """The files beside the stand-in by local path, for `names` that `imported` found below it; none where it is empty.

    The same inputs give the same bytes.
    """
    folder = "/".join(modules.local_parts(spec.to))
    found = _modules(names)
    texts = {module: _text(spec, module, sorted(found[module])) for module in sorted(found)}
    return {"/".join((folder, *module, "__init__.pyi")): (_HEAD + text).encode() for module, text in texts.items()}


def _modules(names: Iterable[str]) -> dict[tuple[str, ...], set[str]]:
    """Every submodule on the way to a name, in parts, with the names that are imported from it itself."""
    found: dict[tuple[str, ...], set[str]] = {}
    for name in names:
        *module, last = name.split(".")
        for count in range(len(module) + 1):
            found.setdefault(tuple(module[:count]), set())
        found[tuple(module)].add(last)
    return found


def _text(spec: ShimSpec, module: tuple[str, ...], names: Sequence[str]) -> str:
    if module == (SHADOWS,):
        return _BUILTINS
    below = module[1:] if module[:1] in ((GUARD,), (SHADOWS,)) else module
    bundled = BUNDLED.get(spec.module, ())
    if not below:
        lines = [textwrap.dedent(real_names(spec)), *(f"import {name} as {name}" for name in names if name in bundled)]
        return _joined([*lines, *_named(spec.module, names, {spec.module, *bundled, *spec.names})])
    whole = below[0] in bundled or module[0] == SHADOWS
    real = ".".join(below if whole else (spec.module, *below))
    top = real.partition(".")[0]
    lines = [f"from {real} import *", *_named(real, names, {top})]
    if top in names and module[0] != SHADOWS:
        # of `import a.b.c`, which binds `a` with `b` in it, checkers hand on only what `__all__` names
        shown = ", ".join(f'"{name}"' for name in names if name != "*")
        lines = [f"import {real}", *lines, f"__all__ = [{shown}]"]
    return _joined(lines)


def _named(real: str, names: Iterable[str], known: Collection[str]) -> list[str]:
    """Imports one by one: a star takes no name that the module itself has from elsewhere."""
    return [f"from {real} import {name} as {name}" for name in names if name != "*" and name not in known]


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(["from typing import Any", "", *lines, _REST])
