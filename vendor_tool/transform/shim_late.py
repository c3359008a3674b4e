"""What a function reads that is given away at import, and that the file changes before the runtime gets the function.

`@T.prim_func` reads its function's globals when it decorates. Put off, it reads them as they are at the first use.
"""

import ast
import builtins
import functools
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from vendor_tool.transform import scopes, shim_branches
from vendor_tool.transform.shim_values import Use, Walk
from vendor_tool.values import dataclass

_Scope: TypeAlias = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef

READ_AT_CALLS = frozenset({"jit", "lazy_jit", "autotune"})
"""Decorators that read a function's globals when it is called, as they do upstream; cells they read at once."""

MARKS = "requires_"
"""How those are called that mark a test and give back the very function."""

_CHANGING = frozenset(
    "add append clear discard extend insert pop popitem remove reverse setdefault sort update appendleft".split()
)
_ANY = "*"


@dataclass(frozen=True, slots=True)
class _Change:
    """A place that binds a name or changes what it stands for."""

    name: str
    node: ast.AST
    line: int
    loop: ast.AST | None  # the outermost loop around it
    always: bool = False  # in a function, which may run at any time
    part: bool = False  # the object itself stays


def check(seen: Walk, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, decorator: ast.expr | None) -> None:
    """Refuses the function where what it reads is not the same when its decorator gets it."""
    original = _original(seen.tree, decorator) if decorator is not None else ""
    late = original in READ_AT_CALLS or original.startswith(MARKS)
    if late and len(seen.stack) == 1:
        return
    around = [one for one in reversed(seen.stack[1:]) if any(part is node for part in ast.walk(one[0]))]
    for name in dict.fromkeys(_reads(seen.tree, node)):
        scope, place = next((one for one in around if name in _binds(one[0])), seen.stack[0])
        if late and isinstance(scope, ast.Module):
            continue
        change = _later(scope, place, node, name, deferred=seen.names.get(name) in ("deferred", "stub"))
        if change is not None:
            called = "the function" if isinstance(node, ast.Lambda) else f"`{node.name}`"
            seen.uses.append(Use(node.lineno, f"`{name}` as {called} finds it, before line {change.line} changes it,"))
            return


def _original(tree: ast.Module, decorator: ast.expr) -> str:
    """What the decorator was called where it was imported from."""
    while isinstance(decorator, ast.Call):
        decorator = decorator.func
    if isinstance(decorator, ast.Attribute):
        return decorator.attr
    name = decorator.id if isinstance(decorator, ast.Name) else ""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.asname == name:
                    return alias.name
    return name


def _reads(tree: ast.Module, node: ast.AST) -> Iterator[str]:
    """Names outside of the function that it reads when it runs, and those that functions which it calls read."""
    functions = {part.name: part for part in tree.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)}
    annotations = any(isinstance(part, ast.ImportFrom) and part.module == "__future__" for part in tree.body)
    known: set[str] = set()
    waiting = [node]
    while waiting:
        for name in scopes.module_names(_bare(waiting.pop(), annotations=annotations)):
            if name.id not in known:
                known.add(name.id)
                yield name.id
                if name.id in functions:
                    waiting.append(functions[name.id])


def _bare(node: ast.AST, *, annotations: bool) -> ast.AST:
    """The function without what is evaluated where it is defined; annotations are texts that are read later."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return node
    every = node.args
    held = [
        [one if annotations else ast.arg(one.arg) for one in ones]
        for ones in (every.posonlyargs, every.args, every.kwonlyargs)
    ]
    bare = ast.arguments(
        posonlyargs=held[0],
        args=held[1],
        kwonlyargs=held[2],
        vararg=every.vararg,
        kwarg=every.kwarg,
        defaults=[],
        kw_defaults=[None] * len(held[2]),
    )
    if isinstance(node, ast.Lambda):
        return ast.Lambda(bare, node.body)
    return ast.FunctionDef(node.name, bare, node.body, [])


@functools.lru_cache(maxsize=16)
def _binds(scope: _Scope) -> frozenset[str]:
    imported, others = scopes.bound(scope)
    declared = {one for part in ast.walk(scope) if isinstance(part, ast.Global) for one in part.names}
    return frozenset((imported | others.keys()) - declared)


def _parameters(scope: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {one.arg for one in ast.walk(scope.args) if isinstance(one, ast.arg)}


@functools.lru_cache(maxsize=16)
def _by_name(scope: _Scope) -> dict[str, list[_Change]]:
    found: dict[str, list[_Change]] = {}
    for change in _changes(scope.body, None):
        found.setdefault(change.name, []).append(change)
    return found


def _later(scope: _Scope, place: ast.AST, node: ast.AST, name: str, *, deferred: bool) -> _Change | None:
    """The change of the name that comes after the place, if there is one."""
    known = _by_name(scope)
    changes: list[_Change] = [one for one in (*known.get(name, ()), *known.get(_ANY, ())) if one.node is not node]
    bound = [ast.dump(one.node) for one in changes if not one.part and not one.always]
    if len(set(bound)) == 1 and isinstance(changes[0].node, ast.Import | ast.ImportFrom):
        bound = []  # the same import again
    line = getattr(place, "lineno", 0)
    given = hasattr(builtins, name) or (not isinstance(scope, ast.Module) and name in _parameters(scope))
    if not given and all(one.line > line and one.loop is None for one in changes if not one.part and not one.always):
        return None  # nothing to read yet: whoever needs the name looks for it later, in the unmodified file too
    for change in changes:
        again = change.loop is not None and any(part is place for part in ast.walk(change.loop))
        matters = not deferred if change.part else bound or change.always
        if matters and (change.always or again or change.line > line):
            return change
    return None


def _changes(body: Sequence[ast.AST], loop: ast.AST | None) -> Iterator[_Change]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            if not isinstance(node, ast.Lambda):
                yield _Change(node.name, node, node.lineno, loop)
            yield from _inside(node)
        elif isinstance(node, ast.ClassDef):
            yield _Change(node.name, node, node.lineno, loop)
            for part in node.body:
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield from _inside(part)
        elif isinstance(node, ast.If) and shim_branches.never(node.test):
            yield from _changes(node.orelse, loop)
        elif not isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            yield from _changed(node, loop)
            around = loop or (node if isinstance(node, ast.For | ast.AsyncFor | ast.While) else None)
            yield from _changes(list(ast.iter_child_nodes(node)), around)


def _changed(node: ast.AST, loop: ast.AST | None) -> Iterator[_Change]:
    """What one node of the scope itself changes."""
    line = getattr(node, "lineno", 0)
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield _Change(name, node, line, loop)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield _Change(name, node, line, loop)
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                yield _Change(alias.asname or alias.name.partition(".")[0], node, line, loop)
        case _:
            root = _part(node)
            if root is not None:
                yield _Change(root.id, node, line, loop, part=True)


def _inside(function: ast.AST) -> Iterator[_Change]:
    """What a function changes outside of itself."""
    outer = {id(name) for name in scopes.module_names(function)}
    for node in ast.walk(function):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Global | ast.Nonlocal):
            for name in node.names:
                yield _Change(name, node, line, None, always=True)
        root = _part(node)
        if root is not None and id(root) in outer:
            yield _Change(root.id, node, line, None, always=True, part=True)


def _part(node: ast.AST) -> ast.Name | None:
    """The variable whose object the node changes."""
    match node:
        case ast.Subscript(value=inner, ctx=ast.Store() | ast.Del()):
            if ast.unparse(inner) == "globals()":
                key = node.slice.value if isinstance(node.slice, ast.Constant) else _ANY
                return ast.Name(str(key))
        case ast.Attribute(value=inner, ctx=ast.Store() | ast.Del()):
            pass
        case ast.Call(func=ast.Attribute(value=inner, attr=attr)) if attr in _CHANGING:
            pass
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[inner, *_]):
            pass
        case _:
            return None
    while isinstance(inner, ast.Attribute | ast.Subscript):
        inner = inner.value
    return inner if isinstance(inner, ast.Name) else None
