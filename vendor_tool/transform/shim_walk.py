"""A walk through what Python evaluates while it imports a file, with deferred values followed by name."""

import ast
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from vendor_tool.transform import syntax
from vendor_tool.transform.shim_builtins import NEED_VALUES, RECORDABLE
from vendor_tool.values import dataclass, field

Kind: TypeAlias = Literal["deferred", "stub", "text", "holder"] | None
"""A value that is not known yet, what a deferred decorator made of a function, text with such a value in it, an object
that may hold one, or nothing of the sort."""

Own: TypeAlias = Callable[[syntax.Import], Mapping[str, str]]
"""The names that an import binds to deferred values, each with the module that it comes from."""


@dataclass(frozen=True, slots=True)
class Use:
    """A use at import that cannot be put off."""

    line: int
    what: str


@dataclass(slots=True)
class Walk:
    """What the walk has seen so far."""

    own: Own
    names: dict[str, Kind] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)  # deferred name -> shimmed module
    functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = field(default_factory=dict)
    entered: set[str] = field(default_factory=set)
    uses: list[Use] = field(default_factory=list)
    shadowed: dict[str, str] = field(default_factory=dict)  # built-in function -> module
    shadows: set[str] = field(default_factory=set)  # built-in functions that the file imports from a stand-in


def walk(tree: ast.Module, own: Own, shadows: frozenset[str] = frozenset()) -> Walk:
    """Walks a whole file, in which the built-in functions of `shadows` can write calls down already."""
    seen = Walk(own, shadows=set(shadows))
    _block(seen, tree.body)
    return seen


def _block(seen: Walk, body: list[ast.stmt]) -> None:
    for statement in body:
        _statement(seen, statement)


def _statement(seen: Walk, node: ast.stmt) -> None:
    match node:
        case ast.Import() | ast.ImportFrom():
            _import(seen, node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _function(seen, node)
        case ast.ClassDef():
            _class(seen, node)
        case ast.Assign(targets=targets, value=value):
            kind = _kind(seen, value)
            for target in targets:
                _bind(seen, target, kind)
        case ast.AnnAssign(target=target, annotation=annotation, value=value):
            _kind(seen, annotation)
            if value is not None:
                _bind(seen, target, _kind(seen, value))
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            seen.names[name] = _joined(seen.names.get(name), _kind(seen, value))
        case ast.If(test=test, body=body, orelse=orelse):
            if not _is_main(test) and not _is_type_checking(test):
                _truth(seen, test)
                _block(seen, body)
            _block(seen, orelse)
        case ast.While(test=test, body=body, orelse=orelse):
            _truth(seen, test)
            _block(seen, [*body, *orelse])
        case ast.For(target=target, iter=items, body=body, orelse=orelse):
            _bind(seen, target, _items(seen, items))
            _block(seen, [*body, *orelse])
        case ast.Assert(test=test):
            _truth(seen, test)
        case ast.With(items=items, body=body):
            for item in items:
                if _kind(seen, item.context_expr) in ("deferred", "stub"):
                    _refuse(seen, item.context_expr, "entering the context")
            _block(seen, body)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
            _block(seen, [*body, *orelse])
            for handler in handlers:
                _block(seen, handler.body)
            _block(seen, finalbody)
        case _:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    _kind(seen, child)


def _import(seen: Walk, node: syntax.Import) -> None:
    for alias in node.names:
        seen.names.pop(alias.asname or alias.name.partition(".")[0], None)
    for name, module in seen.own(node).items():
        if module == "builtins":
            seen.shadows.add(name)
            continue
        seen.names[name] = "deferred"
        seen.origin[name] = module


def _function(seen: Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    annotations = [one.annotation for one in every if one is not None]
    for expression in [*arguments.defaults, *arguments.kw_defaults, *annotations, node.returns]:
        if expression is not None:
            _kind(seen, expression)
    made: Kind = None
    for decorator in reversed(node.decorator_list):
        kind = _kind(seen, decorator)
        made = "stub" if kind in ("deferred", "stub") else "holder" if made else None
    seen.names[node.name] = made
    if made is None:
        seen.functions[node.name] = node


def _class(seen: Walk, node: ast.ClassDef) -> None:
    bases = [_kind(seen, base) for base in [*node.bases, *(keyword.value for keyword in node.keywords)]]
    decorators = [_kind(seen, decorator) for decorator in node.decorator_list]
    outer = dict(seen.names)
    _block(seen, node.body)
    if any(ast.unparse(base).endswith(("Enum", "Flag")) for base in node.bases):
        for member in node.body:
            # equal values make one member of two, and which are equal is not known yet
            if isinstance(member, ast.Assign) and _kind(seen, member.value) == "deferred":
                _refuse(seen, member.value, "the value")
    seen.names = outer
    seen.names[node.name] = "holder" if any(bases) or any(decorators) else None


def _bind(seen: Walk, target: ast.expr, kind: Kind) -> None:
    match target:
        case ast.Name(id=name):
            seen.names[name] = kind
            seen.functions.pop(name, None)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            if kind == "deferred":
                _refuse(seen, target, "unpacking the items")
            for part in parts:
                _bind(seen, part, kind)
        case ast.Starred(value=value):
            _bind(seen, value, "holder" if kind else None)
        case ast.Subscript(value=ast.Name(id=name)) if kind:
            seen.names[name] = _joined(seen.names.get(name), "holder")


def _joined(*kinds: Kind) -> Kind:
    """What an object is that was made of the parts."""
    for kind in ("deferred", "stub", "text", "holder"):
        if kind in kinds:
            return kind
    return None


def _refuse(seen: Walk, node: ast.expr, what: str) -> None:
    text = ast.unparse(node)
    seen.uses.append(Use(node.lineno, f"{what} of `{text if len(text) < 70 else text[:67] + '...'}`"))


def _truth(seen: Walk, test: ast.expr) -> None:
    if _kind(seen, test) in ("deferred", "stub"):
        _refuse(seen, test, "the truth")


def _items(seen: Walk, node: ast.expr) -> Kind:
    kind = _kind(seen, node)
    if kind in ("deferred", "stub"):
        _refuse(seen, node, "the items")
    return "holder" if kind else None


def _kind(seen: Walk, node: ast.expr) -> Kind:
    match node:
        case ast.Name(id=name):
            return seen.names.get(name)
        case ast.Attribute(value=value):
            return _attribute(seen, node, _kind(seen, value))
        case ast.Subscript(value=value, slice=index):
            inner = _kind(seen, index)
            kind = _kind(seen, value)
            if kind == "text":
                _refuse(seen, value, "a part")
            return kind if kind in ("deferred", "holder") else "holder" if inner else None
        case ast.Call():
            return _call(seen, node)
        case ast.BoolOp(values=values):
            for value in values[:-1]:
                _truth(seen, value)
            return _joined(*(_kind(seen, value) for value in values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            _truth(seen, operand)
            return None
        case ast.IfExp(test=test, body=body, orelse=orelse):
            _truth(seen, test)
            return _joined(_kind(seen, body), _kind(seen, orelse))
        case ast.Compare():
            return _compare(seen, node)
        case ast.JoinedStr(values=values):
            return _joined_text(seen, values)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            return _comprehension(seen, node)
        case ast.Lambda(args=arguments):
            for default in [*arguments.defaults, *arguments.kw_defaults]:
                if default is not None:
                    _kind(seen, default)
            return None
        case ast.BinOp(left=left, right=right):
            sides = _kind(seen, left), _kind(seen, right)
            return "text" if "text" in sides else _joined(*sides)
        case ast.NamedExpr(target=target, value=value):
            kind = _kind(seen, value)
            _bind(seen, target, kind)
            return kind
        case ast.UnaryOp(operand=operand):
            return _kind(seen, operand)
        case ast.Starred(value=value):
            return _items(seen, value)
        case _:
            kinds = [_kind(seen, child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
            return "holder" if any(kinds) else None


def _attribute(seen: Walk, node: ast.Attribute, kind: Kind) -> Kind:
    if kind == "text":
        _refuse(seen, node.value, f"`.{node.attr}`")
    return "deferred" if kind in ("deferred", "stub") else kind


def _compare(seen: Walk, node: ast.Compare) -> Kind:
    operands = [node.left, *node.comparators]
    kinds = [_kind(seen, operand) for operand in operands]
    if "text" in kinds:
        _refuse(seen, node, "the text")
    if "deferred" not in kinds and "stub" not in kinds:
        return None
    if len(node.ops) > 1 or any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
        _refuse(seen, node, "the truth")
        return None
    if isinstance(node.ops[0], ast.Is | ast.IsNot):
        _refuse(
            seen, node, "the identity"
        )  # nothing is told of it, and `getattr(x, "y", None) is None` asks for presence
        return None
    return "deferred"


def _joined_text(seen: Walk, values: list[ast.expr]) -> Kind:
    kinds = []
    for value in values:
        if isinstance(value, ast.FormattedValue):
            kinds.append(kind := _kind(seen, value.value))
            padded = value.conversion != -1 and value.format_spec is not None
            if kind in ("deferred", "stub") and (padded or value.conversion not in (-1, ord("s"))):
                _refuse(seen, value.value, "the text")
    return "text" if any(kind in ("deferred", "stub", "text") for kind in kinds) else None


def _comprehension(seen: Walk, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Kind:
    outer = dict(seen.names)
    for part in node.generators:
        _bind(seen, part.target, _items(seen, part.iter))
        for test in part.ifs:
            _truth(seen, test)
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    kinds = [_kind(seen, part) for part in parts]
    seen.names = outer
    return "holder" if any(kinds) else None


def _call(seen: Walk, node: ast.Call) -> Kind:
    function = _kind(seen, node.func)
    kinds = [_kind(seen, argument) for argument in [*node.args, *(keyword.value for keyword in node.keywords)]]
    if function == "stub":
        _refuse(seen, node, "building or running")
        return "deferred"
    if function == "deferred":
        first = node.args[0] if node.args else None
        return "stub" if isinstance(first, ast.Name) and first.id in seen.functions else "deferred"
    if isinstance(node.func, ast.Name):
        name = node.func.id
        if name in seen.functions:
            _enter(seen, name)
        elif kinds and kinds[0] in ("deferred", "stub") and name not in seen.names:
            return _builtin(seen, node, name)
    return "holder" if any(kinds) or function else None


def _builtin(seen: Walk, node: ast.Call, name: str) -> Kind:
    if name in RECORDABLE:
        base = node.args[0]
        while isinstance(base, ast.Attribute | ast.Subscript | ast.Call):
            base = base.func if isinstance(base, ast.Call) else base.value
        module = seen.origin.get(base.id, "") if isinstance(base, ast.Name) else ""
        seen.shadowed[name] = module or next(iter(seen.origin.values()))
        if name not in seen.shadows:
            _refuse(seen, node, NEED_VALUES.get(name, "the answer"))
            return None
        return "deferred"
    if name in NEED_VALUES:
        _refuse(seen, node, NEED_VALUES[name])
        return None
    return "holder"


def _enter(seen: Walk, name: str) -> None:
    """Walks the body of a function of the file that is called at import, once."""
    if name in seen.entered:
        return
    seen.entered.add(name)
    outer = dict(seen.names)
    node = seen.functions[name]
    for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]:
        if argument is not None:
            seen.names.pop(argument.arg, None)
    _block(seen, node.body)
    seen.names = outer


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
