"""What vendored files hand to each other at import: who reaches a stand-in, and which names are bound to its values."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from vendor_tool.errors import UsageError
from vendor_tool.model import ShimSpec, Source
from vendor_tool.transform import (
    modules,
    shim_analysis,
    shim_attempts,
    shim_stars,
    shim_tables,
    shim_walk,
    syntax,
)
from vendor_tool.transform.shim_standin import BUNDLED, GUARD
from vendor_tool.transform.shim_values import Brought, Use, Walk
from vendor_tool.values import dataclass, field, replace

_Parts: TypeAlias = tuple[str, ...]
_BY_NAME = frozenset({"__getattr__", "globals", "vars", "exec"})
"""A file that has or uses one of them may bind names that its source does not show."""


@dataclass(frozen=True, slots=True)
class _Exports:
    """What a file has for others."""

    bound: frozenset[str] = frozenset()
    kinds: Mapping[str, Brought] = field(default_factory=dict)
    tables: frozenset[str] = frozenset()  # names of tables whose keys are not known yet
    star: str | None = None  # the shimmed module that a star import brings nobody knows what of
    open: bool = False  # it may have names that the source does not show
    direct: bool = False  # it imports from a stand-in itself, and a star import of its own may be written out

    def lacks(self, name: str) -> bool:
        """Whether the name can only have come with a star import of a shimmed module."""
        return (self.direct or self.star is not None) and not self.open and name not in self.bound


@dataclass(slots=True)
class Siblings:
    """The final files of one project, with the stand-ins that they import from."""

    trees: Mapping[str, ast.Module]
    places: Mapping[_Parts, str]  # dotted name -> path
    roots: Sequence[str]  # folders that absolute imports start at
    shims: Mapping[str, ShimSpec]
    known: dict[str, _Exports] = field(default_factory=dict)
    bound: dict[str, frozenset[str]] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)

    def users(self) -> tuple[str, ...]:
        """The files that load a stand-in when they are imported, themselves or through others, or may do so.

        A file that names a shimmed module in a string of its own may load it by that.
        """
        edges = {path: set(self._loads(path)) for path in self.trees}
        reached = {path for path, tree in self.trees.items() if self._is_user(path, tree)}
        while more := {path for path, loads in edges.items() if path not in reached and loads & reached}:
            reached |= more
        self.reached = reached
        return tuple(sorted(reached))

    def uses(self, path: str) -> tuple[Use, ...]:
        """What the file does at import that cannot be put off, read from it and the files that it imports from."""
        tree = self.trees[path]
        found = shim_analysis.refusals(tree, lambda node: self.own(path, node), lambda node: self.brought(path, node))
        return tuple(
            dict.fromkeys((*found, *self._at_imports(path, tree), *self._stars(path, tree), *self._through(path, tree)))
        )

    def own(self, path: str, node: syntax.Import) -> dict[str, str]:
        """The deferred names of an import of the rewritten file, each with the module that it stands for."""
        if isinstance(node, ast.Import):
            return {}
        for module, spec in self.shims.items():
            below = _below(path, node, spec)
            if below is not None:
                origin = "builtins" if below[:1] == ("_builtins",) else module
                return {alias.asname or alias.name: origin for alias in node.names}
        return {}

    def brought(self, path: str, node: syntax.Import) -> dict[str, Brought]:
        """The names, dotted ones too, that an import binds to values of stand-ins through another vendored file."""
        found: dict[str, Brought] = {}
        for bound, (file, name) in self._named(path, node):
            kinds = self._exports(file).kinds
            if name is None:
                found |= {f"{bound}.{one}": kind for one, kind in kinds.items()}
            elif name == "*":
                found |= {one: kind for one, kind in kinds.items() if one[0] != "_" and "." not in one}
            elif name in kinds:
                found[bound] = kinds[name]
        return found

    def _stars(self, path: str, tree: ast.Module) -> Iterator[Use]:
        """The star imports of stand-ins that are left, where they could not be told or a patch brought them."""
        typed = shim_analysis.type_checking(tree)
        every = [node for node in shim_stars.stars(tree) if node not in typed]
        shimmed = {node: self._module(path, node) for node in every}
        others = [node for node in every if not shimmed[node] and not any(self._named(path, node))]
        left = {node: module for node, module in shimmed.items() if module}
        told = shim_stars.told(tree, left, others, lambda node: bool(self.own(path, node)))
        yield from (Use(line, what) for line, what in told.unknown)
        for node, names in told.names.items():
            if names:
                listed = shim_stars.listed(names)
                yield Use(node.lineno, f"{listed}, which only the star import of `{shimmed[node]}` brings,")

    def _through(self, path: str, tree: ast.Module) -> Iterator[Use]:
        """Names that a star import of another vendored file has from a star import there, which is written out."""
        given = [(node, self._named(path, node)) for node in shim_stars.stars(tree) if not self.own(path, node)]
        files = [(node, file, self._exports(file)) for node, named in given for _, (file, _) in named]
        if len(files) < len(given) or any(one.open for _, _, one in files):
            return
        if not any(one.direct or one.star for _, _, one in files):
            return
        loose = shim_stars.loose(tree).difference(*(one.bound for _, _, one in files))
        for node, file, one in files:
            if loose and (one.direct or one.star):
                yield Use(
                    node.lineno, f"{shim_stars.listed(sorted(loose))}, which only {_star(one.star)} in `{file}` brings,"
                )
                return

    def _module(self, path: str, node: ast.ImportFrom) -> str:
        """The real module that a statement imports from through a stand-in; nothing for another one."""
        for module, spec in self.shims.items():
            below = _below(path, node, spec)
            if below is not None:
                below = below[1:] if below[:1] == (GUARD,) else below
                return ".".join(below if below and below[0] in BUNDLED.get(module, ()) else (module, *below))
        return ""

    def _is_user(self, path: str, tree: ast.Module) -> bool:
        named = re.compile(rf"({'|'.join(map(re.escape, self.shims))})(\.\w+)*")
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                stem = node.module or "" if isinstance(node, ast.ImportFrom) and not node.level else "."
                names = [stem] if stem != "." else [alias.name for alias in node.names]
                if self.own(path, node) or any(name.partition(".")[0] in self.shims for name in names):
                    return True
            if isinstance(node, ast.Call):
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str) and named.fullmatch(first.value):
                    return True
        return False

    def _loads(self, path: str) -> Iterator[str]:
        """The vendored files that importing this one loads."""
        typed = shim_analysis.type_checking(self.trees[path])
        for node in _at_import(self.trees[path].body):
            if node not in typed:
                for _, (file, _name) in self._named(path, node):
                    yield file

    def _named(self, path: str, node: syntax.Import) -> Iterator[tuple[str, tuple[str, str | None]]]:
        """What each name of an import is: a file, and the name in it; None for the file as a module."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                if file := self._absolute(tuple(alias.name.split("."))):
                    yield alias.asname or alias.name, (file, None)
            return
        parts = tuple(node.module.split(".")) if node.module else ()
        here = path.split("/")[: -node.level] if node.level else []
        for alias in node.names:
            both = (*parts, alias.name)
            package, module = (
                (self.places.get((*here, *parts)), self.places.get((*here, *both)))
                if node.level
                else (self._absolute(parts), self._absolute(both))
            )
            bound = alias.asname or alias.name
            if package and package != path and (not module or alias.name in self._bound(package)):
                yield bound, (package, alias.name)
            elif module and module != path:
                yield bound, (module, None)

    def _absolute(self, parts: _Parts) -> str | None:
        for root in self.roots:
            if file := self.places.get((*filter(None, root.split("/")), *parts)):
                return file
        return None

    def _bound(self, path: str) -> frozenset[str]:
        if path not in self.bound:
            self.bound[path] = frozenset(_bound(self.trees[path]))
        return self.bound[path]

    def _exports(self, path: str) -> _Exports:
        if path not in self.known:
            # a file that is being read already, in a circle, has nothing yet
            self.known[path] = _Exports(open=True)
            self.known[path] = self._read(path, self.trees[path])
        return self.known[path]

    def _read(self, path: str, tree: ast.Module) -> _Exports:
        # most files of a project have nothing of a stand-in
        body = tree if path in self.reached else ast.Module([], [])
        seen = shim_walk.walk(body, lambda node: self.own(path, node), brought=lambda node: self.brought(path, node))
        bound, tables = set(self._bound(path)), set(_tables(body, seen))
        star: str | None = None
        # what a package lacks may be a submodule of any kind
        direct = path.rpartition("/")[2] != "__init__.py" and any(
            self.own(path, node) for node in _at_import(tree.body)
        )
        is_open = not bound.isdisjoint(_BY_NAME if direct else {"__getattr__"})
        for node in _at_import(tree.body):
            tables |= {name.rpartition(".")[2] for name in self._tables_of(path, node)}
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                given = [self._exports(file) for _, (file, _) in self._named(path, node)]
                star = next(iter(self.own(path, node).values()), star)
                bound |= {name for one in given for name in one.bound}
                is_open |= not given and star is None
        kinds = {name: (kind, _origin(seen, name)) for name, kind in seen.names.items() if kind is not None}
        return _Exports(frozenset(bound), kinds, frozenset(tables), star, is_open, direct)

    def _tables_of(self, path: str, node: syntax.Import) -> Iterator[str]:
        """Names, as the importing file writes them, of tables in other files whose keys are not known yet."""
        for bound, (file, name) in self._named(path, node):
            tables = self._exports(file).tables
            if name is None:
                yield from (f"{bound}.{one}" for one in sorted(tables))
            elif name == "*":
                yield from sorted(tables)
            elif name in tables:
                yield bound

    def _at_imports(self, path: str, tree: ast.Module) -> Iterator[Use]:
        """What is wrong with the names that the file takes from others."""
        runtime = {
            alias.asname or alias.name for node in _at_import(tree.body) if self.own(path, node) for alias in node.names
        }
        typed = shim_analysis.type_checking(tree)
        for node in _at_import(tree.body):
            for table in self._tables_of(path, node):
                # only an attribute that is looked up, and the name itself, can be told from the source
                if shim_tables.is_read(tree, table.rpartition(".")[2], None, runtime):
                    yield Use(node.lineno, f"the keys of `{table}`, which another vendored file binds,")
            for bound, (file, name) in self._named(path, node):
                given = self._exports(file)
                for one in _asked(tree, bound, name) if node not in typed else ():
                    if given.lacks(one) and (given.star or node not in shim_attempts.guards(tree)):
                        yield Use(node.lineno, f"`{one}`, which only {_star(given.star)} in `{file}` brings,")
                if name == "*" and (both := {one for one in runtime & given.bound if one not in given.kinds}):
                    names = "`, `".join(sorted(both))
                    yield Use(node.lineno, f"which of two star imports brings `{names}`")


def siblings(files: Mapping[str, bytes], shims: Mapping[str, ShimSpec], roots: Sequence[str]) -> Siblings:
    """Reads all Python `files` but the stand-ins; those that cannot be read have nothing for others."""
    trees = {}
    for path, data in files.items():
        if path.endswith(".py") and path not in {spec.to for spec in shims.values()}:
            try:
                trees[path] = syntax.tree(Source(path, path, "", data))
            except UsageError:
                continue
    return Siblings(trees, {modules.local_parts(path): path for path in trees}, roots, shims)


def _asked(tree: ast.Module, bound: str, name: str | None) -> Iterator[str]:
    """What the file takes from another one by an import: the name, or the attributes of the module that it reads."""
    if name is not None:
        yield from (name,) if name != "*" else ()
        return
    parts = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node.value) == bound]
    given = {node.attr for node in parts if not isinstance(node.ctx, ast.Load)}
    yield from sorted({node.attr for node in parts if node.attr[:2] != "__"} - given)


def _star(module: str | None) -> str:
    return f"the star import of `{module}`" if module else "a star import of a shimmed module"


def _below(path: str, node: ast.ImportFrom, spec: ShimSpec) -> _Parts | None:
    """The submodule of the stand-in that the statement imports from; None for another module."""
    parts = tuple(node.module.split(".")) if node.module else ()
    if node.level:
        here = path.split("/")[:-1]
        parts = (*here[: len(here) - node.level + 1], *parts)
        stand_in = modules.local_parts(spec.to)
    else:
        stand_in = tuple((spec.import_ or "").split("."))
    return parts[len(stand_in) :] if parts[: len(stand_in)] == stand_in else None


def _at_import(body: Sequence[ast.stmt]) -> Iterator[syntax.Import]:
    """The imports that run when the file is imported."""
    for statement in body:
        match statement:
            case ast.Import() | ast.ImportFrom():
                yield statement
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                pass
            case ast.Try(body=inner, handlers=handlers, orelse=orelse, finalbody=finalbody):
                answers = [one for handler in handlers for one in handler.body]
                yield from _at_import([*inner, *answers, *orelse, *finalbody])
            case _:
                yield from _at_import([*getattr(statement, "body", ()), *getattr(statement, "orelse", ())])


def _bound(tree: ast.Module) -> set[str]:
    """Names that the file may bind, star imports aside, and what it binds others with; too many is safe."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=context) if isinstance(context, ast.Store) or name in _BY_NAME:
                found.add(name)
            case ast.alias(name=name, asname=asname) if name != "*":
                found.add(asname or name.partition(".")[0])
            case _:
                pass
    return found


def _tables(tree: ast.Module, seen: Walk) -> Iterator[str]:
    quiet = replace(seen, uses=[])
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as table) if shim_tables.is_table(
                quiet, table
            ):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as table) if shim_tables.is_table(
                quiet, table
            ):
                yield name
            case _:
                pass


def _origin(seen: Walk, name: str) -> str:
    return seen.origin.get(name) or next(iter(seen.origin.values()), "")
