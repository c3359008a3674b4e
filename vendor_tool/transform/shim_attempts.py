"""What a `try` or a `with` around statements answers, by whatever name the file calls `suppress` and the exceptions."""

import ast
import functools
from collections.abc import Iterator, Mapping, Sequence

from vendor_tool.transform import syntax

_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_OF_IMPORTS = frozenset({"ImportError", "ModuleNotFoundError", "OSError"})
_ANY = "BaseException"


def guards(tree: ast.Module) -> frozenset[syntax.Import]:
    """The imports that an `except ImportError` around them may answer, or a `contextlib.suppress(ImportError)`.

    An `except` outside functions that always raises answers nothing: the import is put off and raises at the first use.
    """
    found: set[syntax.Import] = set()
    for node in syntax.statements(tree.body):
        if not isinstance(node, ast.Try | ast.With) or not _IMPORT_ERRORS & answered(node, tree, raising=True):
            continue
        if _IMPORT_ERRORS & answered(node, tree, raising=False) or _is_in_function(tree, node):
            found |= {one for one in syntax.statements(node.body) if isinstance(one, ast.Import | ast.ImportFrom)}
    return frozenset(found)


def _is_in_function(tree: ast.Module, node: ast.stmt) -> bool:
    functions = (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    return any(part is node for one in functions for part in ast.walk(one))


def answers_more(node: ast.Try | ast.With, tree: ast.Module) -> bool:
    """Whether the statement answers more than an import that fails."""
    return bool(answered(node, tree, raising=True) - _OF_IMPORTS)


def answered(node: ast.Try | ast.With, tree: ast.Module, *, raising: bool) -> set[str]:
    """The exceptions that the statement answers; where `raising`, also those whose `except` always raises another."""
    if isinstance(node, ast.Try):
        return _handled(node, tree, raising=raising)
    entered = [item.context_expr for item in node.items]
    for part in ast.walk(ast.Module(node.body, [])):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "enter_context":
            entered += part.args
    return {name for context in entered for name in _suppressed(context, tree)}


def _handled(node: ast.Try, tree: ast.Module, *, raising: bool) -> set[str]:
    handlers = [one for one in node.handlers if raising or not _always_raises(one.body)]
    return {name for one in handlers for name in (_exceptions(one.type, tree) if one.type else (_ANY,))}


def _always_raises(body: Sequence[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Raise) and not any(
        isinstance(one, ast.Continue | ast.Break) for one in syntax.statements(body)
    )


def _suppressed(context: ast.expr, tree: ast.Module) -> Iterator[str]:
    """The exceptions that entering the context answers: `suppress`, or what the file has of its own."""
    if isinstance(context, ast.Name):
        for stored in _names(tree).get(context.id, ()):
            if isinstance(stored, ast.Call):
                yield from _suppressed(stored, tree)
    if not isinstance(context, ast.Call):
        return
    called = context.func
    known = _names(tree).get(called.id, ()) if isinstance(called, ast.Name) else ()
    for one in (called, *known):
        if isinstance(one, ast.expr) and ast.unparse(one).rpartition(".")[2] == "suppress":
            yield from (name for given in context.args for name in _exceptions(given, tree))
        elif isinstance(one, ast.FunctionDef):
            for part in ast.walk(one):
                if isinstance(part, ast.Try) and any(isinstance(inner, ast.Yield) for inner in ast.walk(part)):
                    yield from _handled(part, tree, raising=False)
        elif isinstance(one, ast.ClassDef) and _exit_answers(one):
            yield _ANY


def _exit_answers(node: ast.ClassDef) -> bool:
    """Whether the class has an `__exit__` that may say that all is well."""
    ends = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__exit__"]
    given = [part.value for end in ends for part in ast.walk(end) if isinstance(part, ast.Return) and part.value]
    return any(not (isinstance(one, ast.Constant) and not one.value) for one in given)


def _exceptions(caught: ast.expr, tree: ast.Module, depth: int = 0) -> Iterator[str]:
    """The names of the exceptions, as Python knows them; any there is where that cannot be told."""
    match caught:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _exceptions(part, tree, depth)
        case ast.Starred(value=inner):
            yield from _exceptions(inner, tree, depth)
        case ast.BinOp(left=left, right=right):
            yield from _exceptions(left, tree, depth)
            yield from _exceptions(right, tree, depth)
        case ast.Name(id=name) if (stored := _names(tree).get(name)) and depth < 9:
            for one in stored:
                yield from _exceptions(one, tree, depth + 1) if isinstance(one, ast.expr) else (name,)
        case ast.Name() | ast.Attribute():
            yield ast.unparse(caught).rpartition(".")[2]
        case _:
            yield _ANY


@functools.lru_cache(maxsize=4)
def _names(tree: ast.Module) -> Mapping[str, list[ast.AST]]:
    """What the file's names may stand for: assigned expressions, definitions, and what an import calls otherwise."""
    found: dict[str, list[ast.AST]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=given):
                for target in targets:
                    if isinstance(target, ast.Name):
                        found.setdefault(target.id, []).append(given)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as given):
                found.setdefault(name, []).append(given)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.setdefault(name, []).append(node)
            case ast.alias(name=name, asname=str(bound)) if bound != name:
                found.setdefault(bound, []).append(ast.Name(name.rpartition(".")[2]))
            case _:
                pass
    return found
