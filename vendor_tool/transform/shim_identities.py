"""Where a file asks whether something is some very object, and a deferred value may stand in the object's place.

Once the runtime is there, the file's own names and attributes of the runtime are real. What a caller hands in need not
be: a tuple that a loop goes through at the first use keeps its deferred values, which forward and are no other object.
"""

import ast
from collections.abc import Collection, Iterator

from vendor_tool.transform.shim_values import Walk


def named(tree: ast.Module, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """Lines, in functions too, that compare one of the names by identity, and the name."""
    for node in ast.walk(tree) if names else ():
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            for side in (node.left, *node.comparators):
                if isinstance(side, ast.Name) and side.id in names:
                    yield node.lineno, side.id


def with_attributes(tree: ast.Module, seen: Walk) -> Iterator[tuple[int, str]]:
    """`x is T.float32`, in functions too: lines, and what is compared with an attribute of the runtime."""
    compared = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    asked = [node for node in compared if isinstance(node.ops[0], ast.Is | ast.IsNot)]
    asked = [node for node in asked if isinstance(node.comparators[0], ast.Attribute)]
    names = _of_runtime(tree, seen) if asked else set()
    for node in asked:
        if isinstance(node.left, ast.Constant) or not _is_attribute(node.comparators[0], names):
            continue
        if not _is_real(node.left, names, _around(tree, node)):
            yield node.lineno, ast.unparse(node.left)


def _around(tree: ast.Module, node: ast.expr) -> ast.AST | None:
    """The innermost function with the expression in it."""
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    around = [one for one in functions if any(part is node for part in ast.walk(one))]
    return around[-1] if around else None


def _of_runtime(tree: ast.Module, seen: Walk) -> set[str]:
    """The names of the runtime that the file imports, in functions too."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    local = {name for node in nodes for name, module in seen.own(node).items() if module != "builtins"}
    return {*seen.origin, *local}


def _is_real(node: ast.expr, names: Collection[str], function: ast.AST | None) -> bool:
    """Whether the expression can only give what the runtime itself gives: its attributes, by a variable or directly."""
    if isinstance(node, ast.IfExp):
        return _is_real(node.body, names, function) and _is_real(node.orelse, names, function)
    if not isinstance(node, ast.Name) or function is None:
        return _is_attribute(node, names)
    bindings = [part for part in ast.walk(function) if _binds(part, node.id)]
    given = [
        part.value
        for part in ast.walk(function)
        if isinstance(part, ast.Assign) and any(one in bindings for one in part.targets)
    ]
    return bool(given) and len(given) == len(bindings) and all(_is_real(one, names, None) for one in given)


def _binds(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=bound, ctx=ast.Store() | ast.Del()) | ast.arg(arg=bound):
            return bound == name
        case ast.Global(names=several) | ast.Nonlocal(names=several):
            return name in several
        case (
            ast.MatchAs(name=str(bound))
            | ast.FunctionDef(name=bound)
            | ast.ClassDef(name=bound)
            | ast.ExceptHandler(name=str(bound))
        ):
            return bound == name
        case ast.alias(name=bound, asname=asname):
            return (asname or bound) == name
        case _:
            return False


def _is_attribute(node: ast.expr, names: Collection[str]) -> bool:
    stem = node
    while isinstance(stem, ast.Attribute):
        stem = stem.value
    return stem is not node and isinstance(stem, ast.Name) and stem.id in names
