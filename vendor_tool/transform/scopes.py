"""What the names of a Python file mean: which scope binds them, and which of them reach the module."""

import ast
from collections.abc import Iterator
from typing import TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def identifiers(tree: ast.AST) -> Iterator[str]:
    """Every word that the file uses or binds as a variable."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias():
                yield node.asname or node.name.partition(".")[0]
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case _:
                pass


def stored(target: ast.AST) -> Iterator[ast.Name]:
    """The variables that an assignment target binds."""
    return (node for node in ast.walk(target) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))


def bound(scope: ast.Module | ast.ClassDef | Function) -> tuple[set[str], dict[str, ast.AST]]:
    """What the scope's own code binds: modules imported by their dotted names, and every other name with its place."""
    imported: set[str] = set()
    others: dict[str, ast.AST] = {}
    if isinstance(scope, _FUNCTIONS):
        for argument in ast.walk(scope.args):
            if isinstance(argument, ast.arg):
                others[argument.arg] = argument
    waiting: list[ast.AST] = list(scope.body) if isinstance(scope.body, list) else [scope.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    others[alias.asname] = node
                else:
                    imported.add(alias.name)
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            others[node.name] = node
            continue
        if isinstance(node, (ast.Lambda, *_COMPREHENSIONS)):
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            others[node.id] = node
        elif isinstance(node, ast.Global | ast.Nonlocal | ast.ImportFrom | ast.ExceptHandler | ast.pattern):
            others.update(dict.fromkeys(_own_names(node), node))
        waiting.extend(ast.iter_child_nodes(node))
    return imported, others


def _own_names(node: ast.AST) -> list[str]:
    match node:
        case ast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
        case _:
            return []


def module_names(node: ast.AST) -> Iterator[ast.Name]:
    """The uses below a module-level statement that mean a name of the module, as far as reading can tell."""
    return _reaching(node, frozenset(), frozenset())


def _reaching(node: ast.AST, here: frozenset[str], below: frozenset[str]) -> Iterator[ast.Name]:
    """`here`: names that mean something else at this place. `below`: the same inside of functions defined here, which
    see nothing of a class around them.
    """
    if isinstance(node, ast.Name):
        if node.id not in here and isinstance(node.ctx, ast.Load):
            yield node
        return
    inside: list[ast.AST] = []
    if isinstance(node, _FUNCTIONS):
        inside = list(node.body) if isinstance(node.body, list) else [node.body]
        imported, others = bound(node)
        hidden = (below | others.keys() | {name.partition(".")[0] for name in imported}) - _declared(inside)
        for child in inside:
            yield from _reaching(child, hidden, hidden)
    elif isinstance(node, ast.ClassDef):
        inside = list(node.body)
        for child in inside:
            yield from _reaching(child, here | bound(node)[1].keys(), here)
    elif isinstance(node, _COMPREHENSIONS):
        names = {name.id for part in node.generators for name in stored(part.target)}
        here, below = here | names, below | names
    for child in ast.iter_child_nodes(node):
        if child not in inside:
            yield from _reaching(child, here, below)


def _declared(body: list[ast.AST]) -> set[str]:
    return {name for part in body for node in ast.walk(part) if isinstance(node, ast.Global) for name in node.names}
