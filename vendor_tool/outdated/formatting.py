"""Tells a formatter's work from a change of code, by syntax tree and comments, never by running anything."""

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from itertools import groupby
from typing import Literal, TypeAlias

Difference: TypeAlias = Literal["none", "format", "imports", "comments", "code"]


def difference(old: bytes, new: bytes) -> Difference:
    """The strongest way in which two versions of a file differ.

    `format`: layout, quotes, commas, brackets. `imports`: besides, imports stand in another order. `comments`:
    besides, comments changed. `code`: anything else. Of what is not Python, only white space at the ends of lines and
    of the file is layout.
    """
    if old == new:
        return "none"
    before, after = _parse(old), _parse(new)
    if before is None or after is None:
        return "format" if _stripped(old) == _stripped(new) else "code"
    if _dump(before) == _dump(after):
        kind: Difference = "format"
    elif _dump(_sorted_imports(before)) == _dump(_sorted_imports(after)):
        kind = "imports"
    else:
        return "code"
    return kind if sorted(_comments(old)) == sorted(_comments(new)) else "comments"


def explained(recorded: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    """Which tools differ between the record and this environment: `ruff 0.9.10 in the lock, 0.12.1 here`."""
    changed = [
        f"{tool} {version} in the lock, {now[tool]} here"
        for tool, version in sorted(recorded.items())
        if now.get(tool, version) != version
    ]
    return "; ".join(changed) or None


def _parse(data: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError):
        return None


def _dump(tree: ast.Module) -> str:
    """The tree as text, docstrings without their indentation, which formatters mend."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                value = first.value.value
                if isinstance(value, str):
                    first.value.value = "\n".join(line.rstrip() for line in cleandoc(value).strip().split("\n"))
    return ast.dump(tree)


def _sorted_imports(tree: ast.Module) -> ast.Module:
    return ast.Module(body=list(_in_order(tree.body)), type_ignores=[])


def _in_order(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for is_import, group in groupby(body, key=lambda node: isinstance(node, ast.Import | ast.ImportFrom)):
        nodes = list(group)
        yield from sorted(_one_each(nodes), key=ast.dump) if is_import else nodes


def _one_each(group: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """One statement a name, so that joined and split imports compare equal."""
    for node in group:
        if isinstance(node, ast.Import):
            yield from (ast.Import(names=[alias]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (ast.ImportFrom(module=node.module, names=[alias], level=node.level) for alias in node.names)


def _comments(data: bytes) -> Iterator[str]:
    for token in tokenize.tokenize(io.BytesIO(data).readline):
        if token.type == tokenize.COMMENT:
            yield " ".join(token.string.lstrip("#").split())


def _stripped(data: bytes) -> list[bytes]:
    return [line.rstrip() for line in data.rstrip().split(b"\n")]
