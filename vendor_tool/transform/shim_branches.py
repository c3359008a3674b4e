"""Which `if` statements can wait as a whole until the runtime is there, and what they bind then.

One that waits must mean the same later: it reads nothing that the file binds twice, calls nothing but the runtime and
pure built-in functions, and changes nothing but the runtime and names that nothing else binds after it. It may choose
between definitions; a flag or a number would have others believe it at once.
"""

import ast
import builtins
import functools
from collections.abc import Iterator, Mapping, Sequence

from vendor_tool.transform import shim_identities, syntax
from vendor_tool.transform.shim_builtins import LOADED, PURE
from vendor_tool.transform.shim_values import Walk

_Names = Mapping[str, Sequence[ast.stmt]]
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def never(test: ast.expr) -> bool:
    """Whether a branch does not run while the file is imported."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return any(map(never, values))
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return {ast.unparse(left), ast.unparse(right)} == {"__name__", "'__main__'"}
        case _:
            return is_type_checking(test)


def is_type_checking(test: ast.expr) -> bool:
    """Whether only a type checker takes the branch."""
    return isinstance(test, ast.Name | ast.Attribute) and ast.unparse(test).rpartition(".")[2] == "TYPE_CHECKING"


# ---- the mark in a rewritten file ---------------------------------------------------------------------------


def is_marked(node: ast.If) -> bool:
    """Whether the statement asks first whether the runtime is loaded."""
    first = node.test.values[0] if isinstance(node.test, ast.BoolOp) else node.test
    return isinstance(first, ast.Call) and isinstance(first.func, ast.Name) and first.func.id == LOADED


def unmarked(node: ast.If) -> ast.If:
    """The statement as it was before it was marked."""
    test, orelse = node.test, node.orelse
    if is_marked(node) and isinstance(test, ast.BoolOp):
        test = test.values[1] if len(test.values) == 2 else ast.BoolOp(test.op, test.values[1:])
    if len(orelse) == 1 and isinstance(orelse[0], ast.If):
        following = orelse[0]
        bare = is_marked(following) and isinstance(following.test, ast.Call)
        orelse = following.body if bare else [unmarked(following)]
    return ast.copy_location(ast.If(test, node.body, orelse), node)


def plain_name(node: syntax.Import, name: str) -> str:
    """What a name stands for that a stand-in hands on: `dataclass` of `from ._tilelang._builtins.dataclasses`."""
    last = (node.module or "").rpartition(".")[2] if isinstance(node, ast.ImportFrom) else ""
    originals = {alias.asname or alias.name: alias.name for alias in node.names}
    return originals[name] if last == "_builtins" else f"{last}.{originals[name]}"


def edits(source: syntax.Text, node: ast.If, names: Sequence[str]) -> Iterator[syntax.Edit | syntax.Cut]:
    """Marks the statement; no line is added."""
    asked = f"{LOADED}({', '.join(repr(name) for name in names)})".replace("'", '"')
    yield syntax.Edit(node.test, f"{asked} and ({source.text[source.span(node.test)]})")
    if not node.orelse:
        return
    first = node.orelse[0]
    start = source.span(node.body[-1]).stop
    between = source.text[start : source.span(first).start]
    lines = [line.partition("#")[0] for line in between.splitlines(keepends=True)]
    if isinstance(first, ast.If) and source.text[source.span(first)].startswith("elif"):
        yield from edits(source, first, ())
        return
    whole = "".join(line.ljust(len(old)) for line, old in zip(lines, between.splitlines(keepends=True), strict=True))
    place = start + whole.index("else")
    yield syntax.Cut(place, place + len("else"), f"elif {LOADED}()")


# ---- what may wait --------------------------------------------------------------------------------------------


def bound(node: ast.If, seen: Walk, tree: ast.Module) -> tuple[str, ...] | None:
    """The names that the statement of `tree` binds, in order; None where it may not wait."""
    names = _bindings(tree)
    every = tuple(dict.fromkeys(_bound_by(node)))
    sure = _sure([node])
    assert node.end_lineno is not None
    span = range(node.lineno, node.end_lineno + 1)
    for name in every:
        outside = [place for place in names.get(name, ()) if place.lineno not in span]
        if any(place.lineno >= span.stop or not isinstance(place, ast.Assign | ast.FunctionDef) for place in outside):
            return None
        if (name not in sure and not outside) or (name[:2] == "__" and name[-2:] == "__"):
            return None
    known = {name: places for name, places in names.items() if name not in every}
    fits = all(_may_wait(statement, seen, known, frozenset(every)) for statement in _flat([node]))
    return every if fits and not any(shim_identities.named(tree, every)) else None


@functools.lru_cache(maxsize=4)
def _bindings(tree: ast.Module) -> dict[str, list[ast.stmt]]:
    """The statements of the module itself that bind each name, or say `global` of it, in source order."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _bound_by(statement):
            found.setdefault(name, []).append(statement)
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            for name in node.names:
                found.setdefault(name, []).append(node)
    return found


def _bound_by(node: ast.AST) -> Iterator[str]:
    """Names that running the node binds in its own scope."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.alias(name=name, asname=asname):
            yield asname or name.partition(".")[0]
        case _:
            pass
    if not isinstance(node, _SCOPES):
        for child in ast.iter_child_nodes(node):
            yield from _bound_by(child)


def is_bound_once(tree: ast.Module, name: str) -> bool:
    """Whether one statement of the module binds the name, and none says `global` of it."""
    return len(_bindings(tree).get(name, ())) == 1


def _sure(body: Sequence[ast.stmt]) -> set[str]:
    """Names that the statements bind whichever way they go."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.If):
            found |= _sure(statement.body) & _sure(statement.orelse)
        else:
            found |= set(_bound_by(statement))
    return found


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, ast.If):
            yield from _flat([*statement.body, *statement.orelse])


def _may_wait(node: ast.stmt, seen: Walk, known: _Names, own: frozenset[str]) -> bool:
    def plain(*parts: ast.expr | None) -> bool:
        return all(_plain(part, seen, known, own) for part in parts if part is not None)

    match node:
        case ast.If(test=test):
            return plain(test)
        case ast.Pass():
            return True
        case ast.Expr(value=value):
            return plain(value)
        case ast.Assign(targets=targets, value=value):
            others = [target for target in targets if not isinstance(target, ast.Name)]
            chosen = len(others) == len(targets) or _is_definition(value, seen)
            return plain(value) and chosen and all(_of_runtime(target, seen) for target in others)
        case ast.AugAssign(target=ast.Attribute() | ast.Subscript() as target, value=value):
            return plain(value) and _of_runtime(target, seen)
        case ast.Import() | ast.ImportFrom():
            return len(seen.own(node)) == len(node.names)
        case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            defaults = [*arguments.defaults, *arguments.kw_defaults]
            return plain(*node.decorator_list, *defaults, *(one.annotation for one in every), node.returns)
        case _:
            return False


def _is_definition(node: ast.expr, seen: Walk) -> bool:
    if isinstance(node, ast.Dict | ast.List | ast.Set | ast.Tuple):
        return True
    return any(isinstance(part, ast.Name) and seen.names.get(part.id) for part in ast.walk(node))


def _of_runtime(node: ast.expr, seen: Walk) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and seen.names.get(node.id) in ("deferred", "stub")


def _plain(node: ast.expr, seen: Walk, known: _Names, own: frozenset[str]) -> bool:
    """Whether the expression gives the same later as it would now."""
    match node:
        case ast.Name(id=name):
            places = known.get(name, ())
            if seen.names.get(name) in ("deferred", "stub") or name in own:
                return len(places) < 2 or all(isinstance(place, ast.Import | ast.ImportFrom) for place in places)
            return not places and hasattr(builtins, name)
        case ast.Call(func=ast.Name(id=name)) if not _of_runtime(node, seen):
            if name not in PURE or (known.get(name) and name not in seen.shadows):
                return False
        case ast.Call():
            if not _of_runtime(node, seen):
                return False
        case ast.NamedExpr() | ast.Lambda() | ast.Await() | ast.Yield() | ast.YieldFrom():
            return False
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            return False
        case _:
            pass
    return all(_plain(part, seen, known, own) for part in _parts(node))


def _parts(node: ast.AST) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.keyword | ast.FormattedValue):
            yield child.value
