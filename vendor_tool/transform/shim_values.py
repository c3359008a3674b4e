"""What an expression gives while Python imports a file: a value that is not known yet, or something that holds one."""

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from vendor_tool.transform import syntax
from vendor_tool.transform.shim_builtins import KEEPS_TEXT, KEYED, NEED_VALUES, RECORDABLE
from vendor_tool.values import dataclass, field

Kind: TypeAlias = Literal["deferred", "stub", "text", "holder"] | None
"""A value that is not known yet, what a deferred decorator made of a function, text with such a value in it, an object
that may hold one, or nothing of the sort."""

Own: TypeAlias = Callable[[syntax.Import], Mapping[str, str]]
"""The names that an import binds to deferred values, each with the module that it comes from."""

Brought: TypeAlias = tuple[Kind, str]
"""What an import from another vendored file binds a name to, and the module that the value comes from."""

Siblings: TypeAlias = Callable[[syntax.Import], Mapping[str, Brought]]
"""The names, dotted ones of modules too, that an import binds to such values."""

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Use:
    """A use at import that cannot be put off."""

    line: int
    what: str


@dataclass(slots=True)
class Walk:
    """What a walk through a file has seen so far."""

    own: Own
    tree: ast.Module
    run: Callable[["Walk", Sequence[ast.stmt]], None]  # walks the body of a function that is called
    given: Callable[["Walk", "Function | ast.Lambda", ast.expr], None]  # looks at a function that the runtime gets
    stack: list[tuple["ast.Module | Function", ast.AST]] = field(default_factory=list)  # what runs, and where in it
    brought: Siblings = lambda _: {}
    names: dict[str, Kind] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)  # deferred name -> shimmed module
    plain: dict[str, str] = field(default_factory=dict)  # name of another import -> what it stands for
    functions: dict[str, Function] = field(default_factory=dict)
    classes: set[str] = field(default_factory=set)
    entered: dict[tuple[str, tuple[Kind, ...]], Kind] = field(default_factory=dict)  # calls, and what they give
    returned: list[Kind] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    shadowed: dict[str, str] = field(default_factory=dict)  # function of Python's own -> module
    shadows: set[str] = field(default_factory=set)  # functions of Python's own that the file imports from a stand-in
    recorded: dict[ast.Name, str] = field(default_factory=dict)  # calls that may get a deferred value, and of what
    waiting: dict[ast.If, tuple[str, ...]] = field(default_factory=dict)  # statements to put off, and what they bind
    keyed: list[ast.expr] = field(default_factory=list)  # tables to put off
    chosen: dict[str, int] = field(default_factory=dict)  # names that are assigned deferred values, and the line


def refuse(seen: Walk, node: ast.expr, what: str) -> None:
    """Notes a use that cannot be put off."""
    text = ast.unparse(node)
    seen.uses.append(Use(node.lineno, f"{what} of `{text if len(text) < 70 else text[:67] + '...'}`"))


def joined(*kinds: Kind) -> Kind:
    """What an object is that was made of the parts."""
    for kind in ("deferred", "stub", "text", "holder"):
        if kind in kinds:
            return kind
    return None


def bind(seen: Walk, target: ast.expr, kind: Kind) -> None:
    """Notes what an assignment binds."""
    match target:
        case ast.Name(id=name):
            seen.names[name] = kind
            seen.functions.pop(name, None)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            if kind == "deferred":
                refuse(seen, target, "unpacking the items")
            for part in parts:
                bind(seen, part, kind)
        case ast.Starred(value=value):
            bind(seen, value, "holder" if kind else None)
        case ast.Subscript(value=ast.Name(id=name)) if kind:
            seen.names[name] = joined(seen.names.get(name), "holder")


def truth(seen: Walk, test: ast.expr) -> None:
    """Walks an expression whose truth decides."""
    if value(seen, test) in ("deferred", "stub"):
        refuse(seen, test, "the truth")


def items(seen: Walk, node: ast.expr) -> Kind:
    """Walks an expression that is iterated, and gives what its items are."""
    kind = value(seen, node)
    if kind in ("deferred", "stub"):
        refuse(seen, node, "the items")
    return "holder" if kind else None


def value(seen: Walk, node: ast.expr) -> Kind:
    """Walks an expression, and gives what it is."""
    match node:
        case ast.Name(id=name):
            return seen.names.get(name)
        case ast.Attribute() if (dotted := ast.unparse(node)) in seen.names:
            return seen.names[dotted]
        case ast.Attribute(value=inner):
            return _attribute(seen, node, value(seen, inner))
        case ast.Subscript(value=inner, slice=index):
            return _part(seen, inner, index)
        case ast.Call():
            return _call(seen, node)
        case ast.BoolOp(values=values):
            for one in values[:-1]:
                truth(seen, one)
            return joined(*(value(seen, one) for one in values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            truth(seen, operand)
            return None
        case ast.IfExp(test=test, body=body, orelse=orelse):
            truth(seen, test)
            return joined(value(seen, body), value(seen, orelse))
        case ast.Compare():
            return _compare(seen, node)
        case ast.JoinedStr(values=values):
            return _joined_text(seen, values)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            return _comprehension(seen, node)
        case ast.Lambda(args=arguments):
            for default in [*arguments.defaults, *arguments.kw_defaults]:
                if default is not None:
                    value(seen, default)
            return None
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=right):
            return "text" if value(seen, right) else None
        case ast.BinOp(left=left, right=right):
            sides = value(seen, left), value(seen, right)
            return "text" if "text" in sides else joined(*sides)
        case ast.NamedExpr(target=target, value=inner):
            kind = value(seen, inner)
            bind(seen, target, kind)
            return kind
        case ast.UnaryOp(operand=operand):
            return value(seen, operand)
        case ast.Starred(value=inner):
            return items(seen, inner)
        case _:
            kinds = [value(seen, child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
            return "holder" if any(kinds) else None


def _attribute(seen: Walk, node: ast.Attribute, kind: Kind) -> Kind:
    if kind == "text":
        refuse(seen, node.value, f"`.{node.attr}`")
    return "deferred" if kind in ("deferred", "stub") else kind


def _part(seen: Walk, whole: ast.expr, index: ast.expr) -> Kind:
    inner = value(seen, index)
    kind = value(seen, whole)
    if kind == "text":
        refuse(seen, whole, "a part")
    return kind if kind in ("deferred", "holder") else "holder" if inner else None


def _compare(seen: Walk, node: ast.Compare) -> Kind:
    operands = [node.left, *node.comparators]
    kinds = [value(seen, operand) for operand in operands]
    if "text" in kinds:
        refuse(seen, node, "the text")
    ordered = not any(isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) for op in node.ops)
    if (
        "deferred" not in kinds
        and "stub" not in kinds
        and (kinds[0] != "holder" or isinstance(node.ops[0], ast.Is | ast.IsNot))
    ):
        return "deferred" if "holder" in kinds and ordered else None
    if len(node.ops) > 1 or any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
        refuse(seen, node, "the truth")
        return None
    if isinstance(node.ops[0], ast.Is | ast.IsNot):
        # nothing is told of it, and `getattr(x, "y", None) is None` asks for presence
        refuse(seen, node, "the identity")
        return None
    return "deferred"


def _joined_text(seen: Walk, values: list[ast.expr]) -> Kind:
    kinds = []
    for one in values:
        if isinstance(one, ast.FormattedValue):
            kinds.append(kind := value(seen, one.value))
            padded = one.conversion != -1 and one.format_spec is not None
            if kind in ("deferred", "stub") and (padded or one.conversion not in (-1, ord("s"))):
                refuse(seen, one.value, "the text")
    return "text" if any(kind in ("deferred", "stub", "text") for kind in kinds) else None


def _comprehension(seen: Walk, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Kind:
    outer = dict(seen.names)
    for part in node.generators:
        bind(seen, part.target, items(seen, part.iter))
        for test in part.ifs:
            truth(seen, test)
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    kinds = [value(seen, part) for part in parts]
    seen.names = outer
    return "holder" if any(kinds) else None


def _call(seen: Walk, node: ast.Call) -> Kind:
    function = value(seen, node.func)
    kinds = [value(seen, argument) for argument in [*node.args, *(keyword.value for keyword in node.keywords)]]
    if function == "stub":
        refuse(seen, node, "building or running")
        return "deferred"
    if function == "deferred":
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if isinstance(argument, ast.Name) and argument.id in seen.functions:
                seen.given(seen, seen.functions[argument.id], node.func)
            elif isinstance(argument, ast.Lambda):
                seen.given(seen, argument, node.func)
        first = node.args[0] if node.args else None
        return "stub" if isinstance(first, ast.Name) and first.id in seen.functions else "deferred"
    if isinstance(node.func, ast.Lambda) and any(kinds):
        seen.functions["<lambda>"] = named("<lambda>", node.func)
        seen.entered = {key: kind for key, kind in seen.entered.items() if key[0] != "<lambda>"}
        return enter(seen, "<lambda>", kinds[: len(node.args)]) or "holder"
    if isinstance(node.func, ast.Name):
        name = node.func.id
        if name in seen.functions:
            given = enter(
                seen, name, kinds[: len(node.args)], [(key.arg, kind) for key, kind in _keywords(node, kinds)]
            )
            return given or ("holder" if any(kinds) else None)
        if name == KEYED and name in seen.shadows:
            return "deferred"
        if name == "print" and any(kind in ("deferred", "stub", "text") for kind in kinds):
            refuse(seen, node, "the text")
            return None
        if name in ("sorted", "max", "min") and name not in seen.names and "holder" in kinds:
            refuse(seen, node, "the order")
        if any(kinds) and name in RECORDABLE and name not in seen.names:
            seen.recorded[node.func] = name
        if node.args and kinds[0] in ("deferred", "stub") and name not in seen.names:
            return _builtin(seen, node, name)
    return _foreign(seen, node, kinds) or ("holder" if function else None)


def named(name: str, node: ast.Lambda) -> ast.FunctionDef:
    """The lambda as a function of the file."""
    function = ast.FunctionDef(name, node.args, [ast.Return(node.body, lineno=node.lineno, col_offset=0)], [])
    return ast.copy_location(function, node)


def _foreign(seen: Walk, node: ast.Call, kinds: Sequence[Kind]) -> Kind:
    """A call of something that is neither the runtime's nor a function of the file."""
    match node.func:
        case ast.Attribute(value=ast.Constant(value=str()), attr="join" | "format"):
            return "text" if any(kinds) else None
        case ast.Name(id=name) | ast.Attribute(attr=name):
            pass
        case _:
            name = ""
    if "text" in kinds and name not in KEEPS_TEXT and name not in seen.classes:
        # whoever reads it now sees a mark in the place of the value
        refuse(seen, node, "the text")
    return "text" if name == "str" and "text" in kinds else "holder" if any(kinds) else None


def _keywords(node: ast.Call, kinds: Sequence[Kind]) -> list[tuple[ast.keyword, Kind]]:
    return list(zip(node.keywords, kinds[len(node.args) :], strict=True))


def _builtin(seen: Walk, node: ast.Call, name: str) -> Kind:
    original = seen.plain.get(name, name) if name in seen.shadows else name
    if original in RECORDABLE:
        seen.shadowed[original] = _module_of(seen, node.args[0])
        if name not in seen.shadows:
            refuse(seen, node, NEED_VALUES.get(original, "the answer"))
            return None
        return "deferred"
    if name == "str":
        return "text"
    if name in NEED_VALUES:
        refuse(seen, node, NEED_VALUES[name])
        return None
    return "holder"


def _module_of(seen: Walk, node: ast.expr) -> str:
    """The shimmed module that a deferred value comes from; any one of them where that cannot be told."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    module = seen.origin.get(node.id, "") if isinstance(node, ast.Name) else ""
    return module or next(iter(seen.origin.values()))


def enter(seen: Walk, name: str, positional: Sequence[Kind], keywords: Sequence[tuple[str | None, Kind]] = ()) -> Kind:
    """Walks the body of a function of the file that is called at import, once for each kind of arguments.

    Gives what it returns, and None for a call of itself.
    """
    key = (name, (*positional, *(kind for _, kind in keywords)))
    if key in seen.entered:
        return seen.entered[key]
    seen.entered[key] = None
    names, functions, returned = dict(seen.names), dict(seen.functions), seen.returned
    seen.returned = []
    node = seen.functions[name]
    seen.names |= _arguments(seen, node.args, positional, dict(keywords))
    seen.stack.append((node, node))
    seen.run(seen, node.body)
    seen.stack.pop()
    seen.entered[key] = joined(*seen.returned)
    seen.names, seen.functions, seen.returned = names, functions, returned
    return seen.entered[key]


def _arguments(
    seen: Walk, node: ast.arguments, positional: Sequence[Kind], keywords: Mapping[str | None, Kind]
) -> dict[str, Kind]:
    places = [*node.posonlyargs, *node.args]
    missing = len(places) - len(node.defaults)
    kinds: dict[str, Kind] = {}
    for index, place in enumerate(places):
        default = value(seen, node.defaults[index - missing]) if index >= missing else None
        kinds[place.arg] = positional[index] if index < len(positional) else keywords.get(place.arg, default)
    for place, preset in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        kinds[place.arg] = keywords.get(place.arg, value(seen, preset) if preset is not None else None)
    if node.vararg is not None:
        kinds[node.vararg.arg] = "holder" if any(positional[len(places) :]) else None
    if node.kwarg is not None:
        kinds[node.kwarg.arg] = "holder" if any(keywords.values()) else None
    return kinds
