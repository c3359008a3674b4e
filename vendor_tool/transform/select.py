"""`only:` and `drop:` take top-level functions, classes and assignments out of a file, with the imports that nothing
else uses. The block under `if __name__ == "__main__":` goes by the name `__main__`, and with every `only:`.
"""

import ast
from collections.abc import Collection, Iterator, Sequence

from vendor_tool.errors import UsageError
from vendor_tool.model import Change, Context, FileSpec, Source
from vendor_tool.patterns import pattern
from vendor_tool.transform import removal, scopes, syntax
from vendor_tool.values import dataclass

MAIN = "__main__"

_WORD = pattern(r"\w+")


@dataclass(frozen=True, slots=True)
class _Symbol:
    """A top-level statement that binds names, or the main block."""

    node: ast.stmt
    names: tuple[str, ...]


def apply(source: Source, rule: FileSpec, _context: Context) -> Change:
    """Takes the symbols out that `drop` names, or that `only` does not name.

    Names that the file lacks are passed over: see `present`. Overloads and definitions in branches go together.
    `__all__` loses the names too.

    Raises UsageError with `path:line` where something that stays uses something that goes.
    """
    if not (rule.only or rule.drop) or not syntax.is_python(source.path):
        return Change(source.data)
    tree = syntax.tree(source)
    going = [symbol for symbol in _symbols(tree.body) if _goes(source, symbol, rule)]
    if not going:
        return Change(source.data, matched=bool(present(source, (*rule.only, *rule.drop))))
    gone = {name for symbol in going for name in symbol.names}
    removed = [symbol.node for symbol in going]
    staying = list(_staying(tree.body, removed))
    _demand_unused(source, staying, gone, rule)
    imports = _unused_imports(tree, removed, staying)
    names = (*sorted(gone), *sorted({alias.asname or alias.name for alias in imports}))
    return Change(removal.without(source, removed, imports, gone), tuple(dict.fromkeys(names)), matched=True)


def present(source: Source, names: Collection[str]) -> set[str]:
    """Which of the names are top-level symbols of the file."""
    if not names or not syntax.is_python(source.path):
        return set()
    return {name for symbol in _symbols(syntax.tree(source).body) for name in symbol.names} & set(names)


def _symbols(body: Sequence[ast.stmt]) -> Iterator[_Symbol]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield _Symbol(node, (node.name,))
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = tuple(name.id for target in targets for name in scopes.stored(target))
            if names and "__all__" not in names:
                yield _Symbol(node, names)
        elif isinstance(node, ast.If) and _is_main(node):
            yield _Symbol(node, (MAIN,))
        else:
            for block in removal.blocks(node):
                yield from _symbols(block)


def _is_main(node: ast.If) -> bool:
    words = {part.id if isinstance(part, ast.Name) else getattr(part, "value", None) for part in ast.walk(node.test)}
    return isinstance(node.test, ast.Compare) and {"__name__", MAIN} <= words


def _goes(source: Source, symbol: _Symbol, rule: FileSpec) -> bool:
    if rule.only and not set(symbol.names) & set(rule.only):
        return True
    dropped = [name for name in symbol.names if name in rule.drop]
    if dropped and len(dropped) < len(symbol.names):
        others = ", ".join(f"`{name}`" for name in symbol.names if name not in dropped)
        raise UsageError(
            f"`{source.path}:{symbol.node.lineno}`: `{dropped[0]}` cannot be dropped without {others}: one statement "
            "makes them",
            hint="name them all under `drop:`, or change the statement with a patch",
        )
    return bool(dropped)


def _staying(body: Sequence[ast.stmt], removed: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """The syntax that is left: whole statements, and of a statement with removed parts its other parts."""
    for node in body:
        if node in removed:
            continue
        inner = removal.blocks(node)
        if not inner:
            yield node
            continue
        own = [child for block in inner for child in block]
        for block in inner:
            yield from _staying(block, removed)
        yield from (child for child in _headings(node) if child not in own)


def _headings(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions of a compound statement: conditions, exception types, context managers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ExceptHandler):
            yield from _headings(child)
        elif not isinstance(child, ast.stmt):
            yield child


def _demand_unused(source: Source, staying: Sequence[ast.AST], gone: set[str], rule: FileSpec) -> None:
    uses = [name for node in staying for name in scopes.module_names(node) if name.id in gone]
    if not uses:
        return
    first = {name.id: name for name in sorted(uses, key=lambda name: -name.lineno)}
    places = "\n".join(
        f"`{source.path}:{name.lineno}`: what stays uses `{name.id}`, which goes"
        for name in sorted(first.values(), key=lambda name: (name.lineno, name.col_offset, name.id))
    )
    names = ", ".join(dict.fromkeys(sorted(name.id for name in uses)))
    raise UsageError(
        places,
        hint=f"add {names} to `only:`" if rule.only else f"take {names} out of `drop:`, or drop what uses it too",
    )


def _unused_imports(tree: ast.Module, removed: Sequence[ast.stmt], staying: Sequence[ast.AST]) -> list[ast.alias]:
    """Imports of the module that only removed code used; those that nobody used before stay."""
    before = {word for node in removed for word in _words(node)}
    after = {word for node in staying for word in _words(node)}
    inside = {id(part) for node in removed for part in ast.walk(node)}
    return [
        alias
        for node in syntax.statements(tree.body)
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in inside
        if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        for alias in node.names
        if (alias.asname or alias.name.partition(".")[0]) in before - after
        if alias.asname != alias.name  # `import x as x` says that it is for others
    ]


def _words(node: ast.AST) -> Iterator[str]:
    """Variables that are read, in annotations within quotes too, and the strings of `__all__`."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        for quoted in (getattr(part, "annotation", None), getattr(part, "returns", None)):
            for text in ast.walk(quoted) if isinstance(quoted, ast.AST) else ():
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield from _WORD.findall(text.value)
    if removal.is_all(node):
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value
