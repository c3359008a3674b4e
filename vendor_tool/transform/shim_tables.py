"""Tables whose keys are deferred values: a look-up by what a key is equal to finds nothing before the first use."""

import ast
from collections.abc import Iterator

from vendor_tool.transform.shim_values import Walk, value

_LOOKS_UP = frozenset({"get", "pop", "setdefault", "__contains__", "__getitem__"})


def is_table(seen: Walk, node: ast.expr) -> bool:
    """Whether the expression is a dict or set display with a key that is not known yet."""
    match node:
        case ast.Dict(keys=keys):
            return any(value(seen, key) for key in keys if key is not None)
        case ast.Set(elts=elements):
            return any(value(seen, element) for element in elements if not isinstance(element, ast.Starred))
        case ast.DictComp(key=key, generators=generators) | ast.SetComp(elt=key, generators=generators):
            unknown = {
                part.id
                for one in generators
                if value(seen, one.iter)
                for part in ast.walk(one.target)
                if isinstance(part, ast.Name)
            }
            names = {part.id for part in ast.walk(key) if isinstance(part, ast.Name)}
            return bool(unknown & names) or any(seen.names.get(name) for name in names)
        case _:
            return False


def looked_up(tree: ast.Module, names: set[str]) -> set[str]:
    """The variables and attributes that the file looks something up in, other than a name of the runtime itself.

    `names` are those that the file imports from the runtime: they are known by the time of a look-up with them.
    """
    return {table for table, key in _look_ups(tree) if not _is_of(key, names)}


def _look_ups(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=table, slice=key, ctx=ast.Load()):
                yield _last(table), key
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[table]):
                yield _last(table), key
            case ast.Call(func=ast.Attribute(value=table, attr=attr), args=[key, *_]) if attr in _LOOKS_UP:
                yield _last(table), key
            case _:
                pass


def _last(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_of(node: ast.expr, names: set[str]) -> bool:
    if not isinstance(node, ast.Attribute):
        return False
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in names
