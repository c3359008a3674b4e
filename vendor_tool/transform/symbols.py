"""Where source defines its names, found by reading alone: nothing of an upstream is ever imported."""

import ast
import difflib
import hashlib
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from vendor_tool.errors import UpstreamError
from vendor_tool.transform import modules, syntax
from vendor_tool.values import dataclass

Read: TypeAlias = Callable[[Collection[str]], Mapping[str, bytes]]

_Node: TypeAlias = ast.stmt | ast.alias


@dataclass(frozen=True, slots=True)
class Definition:
    """The file and line that define a name."""

    path: str  # upstream path
    line: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """One function, class or method of a file."""

    kind: Literal["function", "class", "method"]
    signature: str  # parameters and result; of a class its bases
    digest: str  # of decorators and body: formatting and comments do not count
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class _Search:
    """One dotted name being looked for."""

    dotted: str
    listing: frozenset[str]
    read: Read
    trees: dict[str, ast.Module]
    visited: set[tuple[str, str]]

    def tree(self, path: str) -> ast.Module:
        if path not in self.trees:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self.trees[path] = ast.parse(self.read([path])[path])
            except (SyntaxError, ValueError) as problem:
                raise self.lost(f"`{path}` is not Python that can be parsed: {problem}") from None
        return self.trees[path]

    def lost(self, why: str, hint: str | None = None) -> UpstreamError:
        return UpstreamError(
            f"`{self.dotted}` is not there: {why}",
            hint=hint or "correct the name under `imports:`, or choose a revision that has it",
        )


def find(dotted: str, listing: Collection[str], read: Read) -> Definition:
    """The place that defines an importable dotted name: a module (line 1), or a name in one, through re-exports
    (`from .x import y as z`, star imports with `__all__`), or a member of a class.

    `read` gives the contents of upstream paths; it is asked for the files on the way only. The package may stand in
    the root, or in a folder such as `src`.

    Raises UpstreamError for the first step that is missing, with names that are near it.
    """
    search = _Search(dotted, frozenset(listing), read, {}, set())
    starts = modules.roots("", search.listing, script=True)
    parts = dotted.split(".")
    for count in range(max(1, len(parts) - 1), 0, -1):
        found = modules.resolve(".".join(parts[:count]), starts, search.listing)
        if found.path is not None or found.folder is not None:
            return _descend(search, found, parts[count:])
    near = _near(parts[0], modules.tops("", search.listing))
    raise search.lost(f"the upstream has no module `{parts[0]}`", near)


def _descend(search: _Search, module: modules.Found, names: Sequence[str]) -> Definition:
    if not names:
        if module.path is None:
            raise search.lost(f"the folder `{module.folder}` has no `__init__.py`")
        return Definition(module.path, 1)
    name, rest = names[0], names[1:]
    if module.path is not None and (node := _bound(search, module.path, name)) is not None:
        return _follow(search, module, node, rest)
    if module.folder is not None:
        inner = modules.locate(name, module.folder, search.listing)
        if inner.path is not None or inner.folder is not None:
            return _descend(search, inner, rest)
    # last, because it reads further files; a name that is both comes from the star, but nobody writes that
    if module.path is not None and (starred := _starred(search, module.path, name)) is not None:
        return _descend(search, starred, names)
    where = module.path or module.folder
    raise search.lost(f"`{where}` defines no `{name}`", _near(name, _known(search, module)))


def _bound(search: _Search, path: str, name: str) -> _Node | None:
    """The statement that binds the name in the module; None also where the search was here already."""
    if (path, name) in search.visited:
        return None
    search.visited.add((path, name))
    nodes = [node for bound, node in _bindings(search.tree(path)) if bound == name]
    # a definition says more than an import of the same name in another branch
    defined = [node for node in nodes if not isinstance(node, ast.alias)]
    return (defined or nodes or [None])[-1]


def _starred(search: _Search, path: str, name: str, above: frozenset[str] = frozenset()) -> modules.Found | None:
    """The module whose star import brings the name."""
    above |= {path}
    for node in reversed(list(syntax.statements(search.tree(path).body))):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            target = _origin(search, path, node)
            if target.path is None or target.path in above or not _exports(search.tree(target.path), name):
                continue
            bound = any(name == other for other, _ in _bindings(search.tree(target.path)))
            if bound or _starred(search, target.path, name, above):
                return target
    return None


def _follow(search: _Search, module: modules.Found, node: _Node, rest: Sequence[str]) -> Definition:
    path = module.path
    assert path is not None
    if isinstance(node, ast.alias):
        statement = next(
            s
            for s in syntax.statements(search.tree(path).body)
            if isinstance(s, ast.Import | ast.ImportFrom) and node in s.names
        )
        return _through(search, path, statement, node, rest)
    if rest and isinstance(node, ast.ClassDef):
        for name, member in _bindings(node):
            if name == rest[0]:
                return _follow(search, module, member, rest[1:])
        raise search.lost(
            f"class `{node.name}` in `{path}:{node.lineno}` has no `{rest[0]}`",
            _near(rest[0], {name for name, _ in _bindings(node)}),
        )
    if rest:
        raise search.lost(f"what `{rest[0]}` belongs to is made at run time, in `{path}:{node.lineno}`")
    return Definition(path, node.lineno)


def _through(search: _Search, path: str, statement: syntax.Import, alias: ast.alias, rest: Sequence[str]) -> Definition:
    """Follows a name through the import that binds it."""
    if isinstance(statement, ast.Import):
        name = alias.name if alias.asname else alias.name.partition(".")[0]
        target = modules.resolve(name, modules.roots(path, search.listing, script=False), search.listing)
        names = rest
    else:
        target = _origin(search, path, statement)
        names = [alias.name, *rest]
    if target.path is None and target.folder is None:
        raise search.lost(
            f"`{path}:{statement.lineno}` takes it from outside the upstream: `{ast.unparse(statement)}`",
            "name the module that it comes from",
        )
    if (target.path or "", names[0] if names else "") in search.visited and target.path != path:
        raise search.lost(f"`{path}:{statement.lineno}` imports it in a circle: `{ast.unparse(statement)}`")
    return _descend(search, target, names)


def _origin(search: _Search, path: str, node: ast.ImportFrom) -> modules.Found:
    module = node.module or ""
    if not node.level:
        return modules.resolve(module, modules.roots(path, search.listing, script=False), search.listing)
    folder = modules.parent(path)
    for _ in range(node.level - 1):
        folder = modules.parent(folder)
    return modules.locate(module, folder, search.listing)


def _bindings(scope: ast.Module | ast.ClassDef) -> Iterator[tuple[str, _Node]]:
    """Names that the scope binds, in order, with their statements; branches count, insides of functions do not."""
    for node in _own_statements(scope.body):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for alias in names:
                    yield alias.asname or alias.name.partition(".")[0], alias
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for part in (part for target in targets for part in ast.walk(target)):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        yield part.id, node
            case _:
                pass


def _own_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node
        else:
            inner = [child for child in syntax.statements((node,)) if child is not node]
            yield node
            yield from (child for child in inner if not _inside_definition(child, inner))


def _inside_definition(node: ast.stmt, others: Sequence[ast.stmt]) -> bool:
    return any(
        isinstance(other, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and other is not node
        and other.lineno <= node.lineno <= (other.end_lineno or 0)
        for other in others
    )


def _exports(tree: ast.Module, name: str) -> bool:
    """Whether `from module import *` brings the name."""
    listed: set[str] | None = None
    for node in syntax.statements(tree.body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            words = {c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
            listed = (listed or set()) | words
    return name in listed if listed is not None else not name.startswith("_")


def _known(search: _Search, module: modules.Found) -> set[str]:
    names = {name for name, _ in _bindings(search.tree(module.path))} if module.path else set()
    if module.folder is not None:
        below = f"{module.folder}/" if module.folder else ""
        inside = (path[len(below) :].partition("/")[0] for path in search.listing if path.startswith(below))
        names |= {name.removesuffix(".py") for name in inside}
    return {name for name in names if name.isidentifier()}


def _near(name: str, known: Collection[str]) -> str | None:
    close = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(f'`{word}`' for word in close)}?" if close else None


def outline(data: bytes) -> dict[str, Symbol]:
    """The functions, classes and methods of a Python file by qualified name, the last one where a name comes twice.

    Digests compare within one version of Python only. Raises SyntaxError for what is not Python.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(data)
    return dict(_symbols(tree, ""))


def _symbols(scope: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, Symbol]]:
    for node in _own_statements(scope.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            signature = f"({ast.unparse(node.args)}){result}"
            yield prefix + node.name, _symbol(node, "method" if prefix else "function", signature)
        elif isinstance(node, ast.ClassDef):
            bases = ", ".join(ast.unparse(part) for part in (*node.bases, *(k.value for k in node.keywords)))
            yield prefix + node.name, _symbol(node, "class", f"({bases})")
            yield from _symbols(node, f"{prefix}{node.name}.")


def _symbol(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
    kind: Literal["function", "class", "method"],
    signature: str,
) -> Symbol:
    inside = "\n".join(ast.dump(part) for part in (*node.decorator_list, *node.body))
    digest = hashlib.sha256(inside.encode()).hexdigest()
    first = min((part.lineno for part in node.decorator_list), default=node.lineno)
    return Symbol(kind, signature, digest, first, node.end_lineno or node.lineno)
