"""What a file does with shimmed modules while it is imported, read from its source.

Only what runs at import counts: module and class bodies, decorators, defaults, annotations, and the bodies of the
file's own functions that are called there.
"""

import ast
from collections.abc import Collection, Iterator, Mapping

from vendor_tool.transform import scopes, shim_branches, shim_identities, shim_walk, syntax
from vendor_tool.transform.shim_builtins import KEYED, LOADED, RECORDABLE
from vendor_tool.transform.shim_values import Own, Siblings, Use
from vendor_tool.values import dataclass


def type_checking(tree: ast.Module) -> frozenset[syntax.Import]:
    """The imports that only a type checker sees."""
    found: set[syntax.Import] = set()
    for node in syntax.statements(tree.body):
        if isinstance(node, ast.If) and shim_branches.is_type_checking(node.test):
            found |= {one for one in syntax.statements(node.body) if isinstance(one, ast.Import | ast.ImportFrom)}
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Needs:
    """What a file needs of its stand-ins beside the names that it imports."""

    shadows: Mapping[str, str]  # functions of Python's own, and modules with some, each with the shimmed module
    waiting: Mapping[ast.If, tuple[str, ...]]  # statements that are put off as a whole, and what they bind
    keyed: tuple[ast.expr, ...]  # tables that are put off as a whole
    modules: frozenset[str]  # that the file's deferred names come from
    recorded: tuple[ast.Name, ...] = ()  # where the functions of Python's own are called


def needs(tree: ast.Module, modules: frozenset[str], stars: Mapping[ast.ImportFrom, Collection[str]]) -> Needs:
    """What a file that is not yet rewritten does at import with values of `modules` that import lines do not show.

    `stars` gives the names that star imports of `modules` bring.
    """
    seen = shim_walk.walk(tree, lambda node: _own(node, modules, stars), RECORDABLE)
    recorded = tuple(name for name in seen.recorded if name.id in seen.shadowed)
    if seen.waiting or seen.keyed:
        taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & {LOADED, KEYED}
        if not taken:
            return Needs(seen.shadowed, seen.waiting, tuple(seen.keyed), frozenset(seen.origin.values()), recorded)
    return Needs(seen.shadowed, {}, (), frozenset(), recorded)


def _own(
    node: syntax.Import, modules: frozenset[str], stars: Mapping[ast.ImportFrom, Collection[str]]
) -> dict[str, str]:
    """Names that the statement binds to values of `modules`."""
    if isinstance(node, ast.ImportFrom):
        top = (node.module or "").partition(".")[0]
        names = stars.get(node) or [_bound(alias) for alias in node.names]
        return dict.fromkeys(names, top) if top in modules and not node.level else {}
    tops = {_bound(alias): alias.name.partition(".")[0] for alias in node.names}
    return {name: top for name, top in tops.items() if top in modules}


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def refusals(tree: ast.Module, own: Own, brought: Siblings = lambda _: {}) -> tuple[Use, ...]:
    """What a rewritten file does at import that cannot be put off.

    `own` gives the names that an import binds to deferred values, and `brought` those of other vendored files.
    """
    seen = shim_walk.walk(tree, own, brought=brought)
    # before the first use, such a name is not the very object that it stands for
    names = seen.shadows | {name for name in seen.chosen if seen.names.get(name) == "deferred"}
    others = [Use(line, f"the identity of `{name}`") for line, name in shim_identities.named(tree, names)]
    known = {use.line for use in seen.uses}
    others += [
        Use(line, f"the identity of `{x}`")
        for line, x in shim_identities.with_attributes(tree, seen)
        if line not in known
    ]
    others += _early_texts(tree, {name for name, kind in seen.names.items() if kind == "text"})
    return tuple(dict.fromkeys((*seen.uses, *others)))


def _early_texts(tree: ast.Module, texts: Collection[str]) -> Iterator[Use]:
    """Texts with deferred values that functions read, perhaps before the first use."""
    if not texts:
        return
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = {id(part) for child in ast.walk(statement) if _is_function(child) for part in ast.walk(child)}
            for name in scopes.module_names(statement):
                if name.id in texts and id(name) in inside:
                    yield Use(name.lineno, f"the text of `{name.id}`, which may be read before the first call,")


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
