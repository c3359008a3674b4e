"""A walk through what Python evaluates while it imports a file, with deferred values followed by name."""

import ast
from collections.abc import Sequence

from vendor_tool.transform import shim_attempts, shim_branches, shim_late, shim_tables, syntax
from vendor_tool.transform.shim_builtins import LOADED, LOOKS
from vendor_tool.transform.shim_values import (
    Kind,
    Own,
    Siblings,
    Walk,
    bind,
    enter,
    items,
    joined,
    named,
    refuse,
    truth,
    value,
)
from vendor_tool.values import replace


def walk(tree: ast.Module, own: Own, shadows: frozenset[str] = frozenset(), brought: Siblings = lambda _: {}) -> Walk:
    """Walks a whole file; `own` and `brought` give what its imports bind, from stand-ins and from other vendored files.

    `shadows` are functions of Python's own that can write calls down: all there are for a file that is not rewritten
    yet, none for one that imports those that it has.
    """
    seen = Walk(own, tree, _block, shim_late.check, [(tree, tree)], shadows=set(shadows))
    seen.brought = brought
    for statement in tree.body:
        seen.stack[0] = (tree, statement)
        if isinstance(statement, ast.If) and not shim_branches.never(statement.test):
            _branch(seen, statement, tree, marks=not shadows)
        else:
            _statement(seen, statement)
            _table(seen, statement, tree, marks=not shadows)
    return seen


def _table(seen: Walk, node: ast.stmt, tree: ast.Module, *, marks: bool) -> None:
    """Notes a table of the module itself that must be deferred as a whole, or is looked up too early."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as table):
            pass
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as table):
            pass
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=key)]) if value(seen, key):
            if seen.names.get(name) != "deferred" and shim_tables.is_read(tree, name, None, set(seen.origin)):
                refuse(seen, key, "the key")
            return
        case ast.ClassDef(body=body):
            for part in body:
                _attribute_table(seen, part, tree)
            return
        case _:
            return
    if not shim_tables.is_table(seen, table) or not shim_tables.is_read(tree, name, table, set(seen.origin)):
        return
    if marks or not shim_branches.is_bound_once(tree, name):
        refuse(seen, table, "the keys")
    else:
        seen.keyed.append(table)
        seen.names[name] = "deferred"


def _attribute_table(seen: Walk, node: ast.stmt, tree: ast.Module) -> None:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as table) if shim_tables.is_table(seen, table):
            if shim_tables.is_read(tree, name, table, set(seen.origin)):
                refuse(seen, table, "the keys")
        case _:
            pass


def _branch(seen: Walk, node: ast.If, tree: ast.Module, *, marks: bool) -> None:
    """Walks an `if` of the module itself, which may be put off as a whole: where it is marked, or could be."""
    if marks and not (shim_branches.is_marked(node) and LOADED in seen.shadows):
        _statement(seen, node)
        return
    if not marks:
        trial = replace(
            seen,
            names=dict(seen.names),
            functions=dict(seen.functions),
            entered=dict(seen.entered),
            uses=list(seen.uses),
            shadowed=dict(seen.shadowed),
            recorded=dict(seen.recorded),
        )
        _statement(trial, node)
        if len(trial.uses) == len(seen.uses):
            _statement(seen, node)
            return
    bound = shim_branches.bound(shim_branches.unmarked(node), seen, tree)
    if bound is None:
        _statement(seen, node)
        return
    seen.waiting[node] = bound
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef) and part.decorator_list:
            shim_late.check(seen, part, part.decorator_list[0] if len(part.decorator_list) == 1 else None)
    for name in bound:
        seen.names[name] = "deferred"
        seen.functions.pop(name, None)


def _block(seen: Walk, body: Sequence[ast.stmt]) -> None:
    for statement in body:
        _statement(seen, statement)


def _statement(seen: Walk, node: ast.stmt) -> None:
    seen.stack[-1] = (seen.stack[-1][0], node)
    match node:
        case ast.Import() | ast.ImportFrom():
            _import(seen, node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _function(seen, node)
        case ast.ClassDef():
            _class(seen, node)
        case ast.Return(value=ast.expr() as given):
            seen.returned.append(value(seen, given))
        case ast.Assign(targets=targets, value=given):
            kind = value(seen, given)
            for target in targets:
                bind(seen, target, kind)
                if isinstance(target, ast.Name) and kind == "deferred":
                    seen.chosen[target.id] = node.lineno
                if isinstance(target, ast.Name) and isinstance(given, ast.Lambda):
                    seen.functions[target.id] = named(target.id, given)
        case ast.AnnAssign(target=target, annotation=annotation, value=given):
            value(seen, annotation)
            if given is not None:
                bind(seen, target, value(seen, given))
        case ast.AugAssign(target=ast.Name(id=name), value=given):
            seen.names[name] = joined(seen.names.get(name), value(seen, given))
        case ast.Assert(test=test):
            truth(seen, test)
        case ast.If() | ast.While() | ast.For() | ast.Match() | ast.With() | ast.Try():
            _compound(seen, node)
        case _:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    value(seen, child)


def _compound(seen: Walk, node: ast.If | ast.While | ast.For | ast.Match | ast.With | ast.Try) -> None:
    """A statement with others in it, all of which may run."""
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            if not shim_branches.never(test):
                truth(seen, test)
                _block(seen, body)
            _block(seen, orelse)
        case ast.While(test=test, body=body, orelse=orelse):
            truth(seen, test)
            _block(seen, [*body, *orelse])
        case ast.For(target=target, iter=given, body=body, orelse=orelse):
            bind(seen, target, items(seen, given))
            _block(seen, [*body, *orelse])
        case ast.Match(subject=subject, cases=cases):
            if value(seen, subject) in ("deferred", "stub"):
                refuse(seen, subject, "the pattern")
            for case in cases:
                if case.guard is not None:
                    truth(seen, case.guard)
                _block(seen, case.body)
        case ast.With(items=entered, body=body):
            for item in entered:
                if value(seen, item.context_expr) in ("deferred", "stub"):
                    refuse(seen, item.context_expr, "entering the context")
            _block(seen, body)
            if shim_attempts.answers_more(node, seen.tree):
                _attempts(seen, body)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
            _block(seen, body)
            if shim_attempts.answers_more(node, seen.tree):
                _attempts(seen, body)
            _block(seen, orelse)
            for handler in handlers:
                _block(seen, handler.body)
            _block(seen, finalbody)


def _attempts(seen: Walk, body: Sequence[ast.stmt]) -> None:
    """What may fail in a `try` whose `except` would answer it, and fails later instead."""
    for statement in body:
        for node in ast.walk(statement) if not isinstance(statement, ast.FunctionDef | ast.ClassDef) else ():
            if isinstance(node, ast.Attribute | ast.Call) and value(replace(seen, uses=[]), node) in (
                "deferred",
                "stub",
            ):
                refuse(seen, node, "the success")
                return


def _import(seen: Walk, node: syntax.Import) -> None:
    for alias in node.names:
        bound = alias.asname or alias.name.partition(".")[0]
        seen.names.pop(bound, None)
        stem = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        seen.plain[bound] = stem + alias.name if stem or alias.asname else bound
    for name, module in seen.own(node).items():
        if module == "builtins":
            seen.shadows.add(name)
            seen.plain[name] = shim_branches.plain_name(node, name)
            continue
        seen.names[name] = "deferred"
        seen.origin[name] = module
    for name, (kind, module) in seen.brought(node).items():
        seen.names[name] = kind
        if kind == "deferred":
            seen.origin[name] = module


def _function(seen: Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    annotations = [one.annotation for one in every if one is not None]
    for expression in [*arguments.defaults, *arguments.kw_defaults, *annotations, node.returns]:
        if expression is not None:
            value(seen, expression)
    made: Kind = None
    for decorator in reversed(node.decorator_list):
        made = _decorated(seen, decorator, made)
        if made in ("deferred", "stub"):
            shim_late.check(seen, node, decorator)
    seen.names[node.name] = made
    if made is None:
        seen.functions[node.name] = node


def _decorated(seen: Walk, decorator: ast.expr, made: Kind) -> Kind:
    if isinstance(decorator, ast.Name) and decorator.id in seen.functions:
        return enter(seen, decorator.id, [made]) or ("holder" if made else None)
    kind = value(seen, decorator)
    return "stub" if kind in ("deferred", "stub") else "holder" if made else None


def _class(seen: Walk, node: ast.ClassDef) -> None:
    bases = [value(seen, base) for base in [*node.bases, *(keyword.value for keyword in node.keywords)]]
    outer = dict(seen.names)
    seen.classes.add(node.name)
    _block(seen, node.body)
    if any(ast.unparse(base).endswith(("Enum", "Flag")) for base in node.bases):
        for member in node.body:
            # equal values make one member of two, and which are equal is not known yet
            if isinstance(member, ast.Assign) and value(seen, member.value) == "deferred":
                refuse(seen, member.value, "the value")
    seen.names = outer
    made: Kind = joined(*bases)
    for decorator in reversed(node.decorator_list):
        looks = _looks(seen, decorator)
        if looks and made in ("deferred", "stub"):
            _shadowed(seen, decorator, *looks)
        else:
            made = _decorated(seen, decorator, made)
    seen.names[node.name] = "deferred" if made == "stub" else made


def _looks(seen: Walk, decorator: ast.expr) -> tuple[str, str] | None:
    """The module and name of a decorator that looks into the class that it gets."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    first, _, rest = ast.unparse(called).partition(".")
    module, _, name = f"{seen.plain.get(first, first)}.{rest}".rstrip(".").rpartition(".")
    return (module, name) if name in LOOKS.get(module, ()) else None


def _shadowed(seen: Walk, decorator: ast.expr, module: str, name: str) -> None:
    """A decorator whose call must be written down: its class is not there yet."""
    seen.shadowed[module] = next(iter(seen.origin.values()))
    first = ast.unparse(decorator).partition("(")[0].partition(".")[0]
    if first not in seen.shadows:
        refuse(seen, decorator, f"the class, by `{name}`,")
