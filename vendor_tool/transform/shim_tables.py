"""Tables whose keys are deferred values.

Before the first use a look-up by what a key is equal to finds nothing, and in the middle of a loop over a set the first
use changes the set's order.
"""

import ast
from collections.abc import Iterator

from vendor_tool.transform.shim_values import Walk, value

_LOOKS_UP = frozenset({"get", "pop", "setdefault", "__contains__", "__getitem__"})


def is_table(seen: Walk, node: ast.expr) -> bool:
    """Whether the expression makes a dict or set with a key that is not known yet."""
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
        case ast.BinOp(left=left, op=ast.BitOr() | ast.Sub() | ast.BitAnd(), right=right):
            return is_table(seen, left) or is_table(seen, right)
        case ast.Call(func=ast.Name(id="set" | "frozenset"), args=[given]):
            return value(seen, given) is not None
        case _:
            return False


def is_read(tree: ast.Module, name: str, table: ast.expr | None, names: set[str]) -> bool:
    """Whether the file looks something up in the variable or attribute, or reads all of it where it is a set.

    `names` are those that the file imports from the runtime: they are known by the time of a look-up with them.
    """
    if any(name == one and not _is_of(key, names) for one, key in _look_ups(tree)):
        return True
    return not isinstance(table, ast.Dict | ast.DictComp | None) and name in _read_whole(tree)


def _read_whole(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.For(iter=table) | ast.comprehension(iter=table):
                yield _last(table)
            case ast.Call(func=ast.Name(), args=arguments):
                yield from map(_last, arguments)
            case _:
                pass


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
