"""Star imports of shimmed modules: which names they bring, told without the modules from what else binds the names.

A name that the file reads and nothing in it binds must come from its one star import. What could come from several
places is not told, and the star stays for `prove` to refuse.
"""

import ast
import builtins
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from vendor_tool.transform import scopes, syntax
from vendor_tool.values import dataclass

_BUILT_INS: Mapping[str, str] = {
    "tilelang": "compile",
    "tilelang.jit": "compile",
    "tilelang.dtypes": "bool float int",
    "tilelang.language": "abs bool float int max min pow print round",
    "tilelang.language.dtypes": "bool float int",
    "tilelang.language.eager": "bool float int",
    **dict.fromkeys(
        (
            f"tilelang.{name}"
            for name in "autotuner cache carver engine env intrinsics layout math profiler quantize testing tileop "
            "tools transform utils utils.target utils.tensor".split()
        ),
        "",
    ),
}
"""Names of Python's own that a star import of a module replaces, in 0.1.8, 0.1.11 and 0.1.15 alike. Of a module that is
not here nothing is known."""

_NEWER = frozenset({"BaseExceptionGroup", "ExceptionGroup", "EncodingWarning", "PythonFinalizationError"})
"""Built-in names that not every Python has which may run this: the result must not depend on it."""

_BUILT_IN = frozenset(name for name in vars(builtins) if name[0] != "_") | _NEWER


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of the star imports of shimmed modules in one file."""

    names: Mapping[ast.ImportFrom, tuple[str, ...]]  # what each brings, sorted; none of any where one is unknown
    unknown: tuple[tuple[int, str], ...] = ()  # lines, and what of the star imports there cannot be told


def stars(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    """The star imports of a file; Python allows them in no function."""
    for node in syntax.statements(tree.body):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            yield node


def told(
    tree: ast.Module,
    shimmed: Mapping[ast.ImportFrom, str],
    others: Collection[ast.ImportFrom],
    is_own: Callable[[ast.ImportFrom], bool],
) -> Told:
    """What the star imports of shimmed modules bring, each given with the dotted name of its module.

    `others` are those of modules of which nothing is known, and `is_own` says of an import whether it is of the same
    modules.
    """
    if not shimmed:
        return Told({})
    read, bound = _reads(tree), _bound(tree)
    unbound = sorted(loose(tree))
    built_in = sorted(read & _BUILT_IN - bound)
    names = {
        node: tuple(sorted({*unbound, *(name for name in _BUILT_INS.get(module, "").split() if name in built_in)}))
        for node, module in shimmed.items()
    }
    unknown = [
        (node.lineno, f"whether the star import of `{module}` {what} {listed(of)}")
        for node, module in shimmed.items()
        for what, of in (
            ("brings", () if module in _BUILT_INS else built_in),
            ("replaces", sorted(read & _bound_before(tree, node, is_own))),
        )
        if of
    ]
    either = sorted(set().union(*names.values())) if others else unbound if len(set(shimmed.values())) > 1 else ()
    if either:
        unknown.append((max(node.lineno for node in shimmed), f"which of two star imports brings {listed(either)}"))
    return Told(dict.fromkeys(shimmed, ()), tuple(unknown)) if unknown else Told(names)


def loose(tree: ast.Module) -> set[str]:
    """Names that the file reads, and that nothing in it but a star import can bind."""
    return _reads(tree) - _bound(tree) - _BUILT_IN


def listed(names: Collection[str]) -> str:
    """The names as a message shows them."""
    shown = [f"`{name}`" for name in names]
    return ", ".join(shown[:5]) + (f" and {len(shown) - 5} more" if len(shown) > 5 else "")


def _reads(tree: ast.Module) -> set[str]:
    """Names of the module that the file reads or hands on."""
    found = {name.id for name in scopes.module_names(tree)}
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            parts = (part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant))
            found |= {name for name in parts if isinstance(name, str)}
    return {name for name in found if not (name[:2] == "__" and name[-2:] == "__")}


def _bound(tree: ast.Module) -> set[str]:
    """Names that the module itself has, star imports aside."""
    imported, others = scopes.bound(tree)
    declared = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    return {*others, *declared, *(name.partition(".")[0] for name in imported)}


def _bound_before(tree: ast.Module, star: ast.ImportFrom, is_own: Callable[[ast.ImportFrom], bool]) -> set[str]:
    """Names that the file binds before the star, which may bind them anew.

    A whole module, a name of the same modules and one of `typing` would be the same object then.
    """
    found: set[str] = set()
    for node in _before(tree.body, star.lineno):
        same = isinstance(node, ast.ImportFrom) and (is_own(node) or (node.module == "typing" and not node.level))
        if not isinstance(node, ast.Import) and not same:
            found |= scopes.bound(ast.Module([node], []))[1].keys() - {"*"}
    return found - _bound_after(tree, star)


def _bound_after(tree: ast.Module, star: ast.ImportFrom) -> set[str]:
    """Names that statements behind the star bind in any case: `HAVE = True`."""
    suites = [tree.body, *(one.body for one in ast.walk(tree) if isinstance(one, ast.Try | ast.If | ast.With))]
    behind: list[ast.stmt] = [
        node
        for suite in suites
        if star in suite
        for node in suite[suite.index(star) :]
        if isinstance(node, ast.Assign | ast.FunctionDef)
    ]
    return set(scopes.bound(ast.Module(behind, []))[1])


def _before(body: Sequence[ast.AST], line: int) -> Iterator[ast.stmt]:
    """The statements that end before the line; of one around it the parts that do."""
    for node in body:
        if isinstance(node, ast.stmt) and (node.end_lineno or 0) < line:
            yield node
        elif isinstance(node, ast.stmt | ast.ExceptHandler) and node.lineno < line:
            yield from _before([part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.expr)], line)
