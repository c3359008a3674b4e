"""Writes import statements anew: libcst keeps the comments and brackets of the ones that it changes."""

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from vendor_tool.errors import UsageError
from vendor_tool.model import Source
from vendor_tool.transform import modules, syntax
from vendor_tool.values import dataclass

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True, slots=True)
class Target:
    """Where an imported name comes from now."""

    parts: tuple[str, ...]  # of a dotted name; from the lockfile's folder where `local`
    local: bool
    object: bool  # `parts` is what is imported; otherwise the name stands inside it
    path: str | None = None  # the upstream file that it stands for
    keep: bool = False  # a rename to itself: the statement stays


@dataclass(frozen=True, slots=True)
class _Piece:
    """One name of one statement to be: `from module import name as bound`, or `import name as bound`."""

    module: str | None
    name: str
    bound: str


_Names: TypeAlias = "Sequence[cst.ImportAlias] | cst.ImportStar"


def statement(
    source: Source, node: syntax.Import, targets: Sequence[Target | None], bindings: Mapping[str, str]
) -> str | None:
    """The text that takes the statement's place, or None where it is right as it stands.

    `bindings` holds the new name for each dotted `import a.b.c` that binds `a`.
    """
    if isinstance(node, ast.Import):
        return _plain(source, node, targets, bindings)
    old = "." * node.level + (node.module or "")
    pieces = [
        _Piece(old, alias.name, alias.asname or alias.name)
        if target is None or target.keep
        else _piece(source, node, target, alias)
        for alias, target in zip(node.names, targets, strict=True)
    ]
    if all(piece.module == old and piece.name == alias.name for piece, alias in zip(pieces, node.names, strict=True)):
        return None
    return _together(source, node, _from(source, node, pieces))


def names(node: syntax.Import, targets: Sequence[Target | None]) -> list[str]:
    """The modules that a rewritten statement named, as they stood there."""
    if isinstance(node, ast.ImportFrom):
        return ["." * node.level + (node.module or "")]
    return [alias.name for alias, target in zip(node.names, targets, strict=True) if target and not target.keep]


def _plain(
    source: Source, node: ast.Import, targets: Sequence[Target | None], bindings: Mapping[str, str]
) -> str | None:
    parts: list[str] = []
    kept: list[str] = []
    for alias, target in zip(node.names, targets, strict=True):
        if target is None or target.keep:
            kept.append(_as(alias.name, alias.asname or alias.name))
            continue
        if kept:
            parts.append("import " + ", ".join(kept))
            kept = []
        module, name = _origin(source, node, target)
        new = _as(name, alias.asname or bindings.get(alias.name, alias.name))
        parts.append(f"from {module} import {new}" if module else f"import {new}")
    if not parts:
        return None
    if kept:
        parts.append("import " + ", ".join(kept))
    return _together(source, node, parts)


def _as(name: str, bound: str) -> str:
    return name if name == bound else f"{name} as {bound}"


def _piece(source: Source, node: ast.ImportFrom, target: Target, alias: ast.alias) -> _Piece:
    bound = alias.asname or alias.name
    if target.object:
        module, name = _origin(source, node, target)
        parts = target.parts[:-1]
    else:
        module, name, parts = _module_text(source, target.parts, local=target.local), alias.name, target.parts
    if target.local and node.level and parts == _meaning(source, node):
        module = "." * node.level + (node.module or "")
    return _Piece(module, name, bound)


def _meaning(source: Source, node: ast.ImportFrom) -> tuple[str, ...] | None:
    """What the module part of a relative import means where the local file stands."""
    here = tuple(modules.parent(source.to).split("/")) if modules.parent(source.to) else ()
    climb = node.level - 1
    if climb > len(here):
        return None
    return (*here[: len(here) - climb], *(node.module.split(".") if node.module else ()))


def _module_text(source: Source, parts: tuple[str, ...], *, local: bool) -> str:
    return modules.relative(source.to, parts) if local else ".".join(parts)


def _origin(source: Source, node: syntax.Import, target: Target) -> tuple[str | None, str]:
    """What to write after `from` and after `import` to get the module itself."""
    if not target.parts:
        raise UsageError(
            f"`{source.path}:{node.lineno}`: `{ast.unparse(node)}` imports the package that is the lockfile's own "
            "folder, which has no name there",
            hint="give the upstream a folder of its own with `to:`",
        )
    if target.local:
        modules.check_name(target.parts[-1], "/".join(target.parts))
        return modules.relative(source.to, target.parts[:-1]), target.parts[-1]
    return ".".join(target.parts[:-1]) or None, target.parts[-1]


def _together(source: Source, node: syntax.Import, parts: Sequence[str]) -> str:
    """The statements below each other where the old one had its lines to itself, otherwise on its line."""
    whole = syntax.text(source)
    span = whole.span(node)
    assert node.end_lineno is not None
    before = whole.text[whole.starts[node.lineno - 1] : span.start]
    last = whole.line(node.end_lineno)
    after = whole.text[span.stop : whole.starts[node.end_lineno - 1] + len(last)].strip()
    if before.strip() or (after and not after.startswith("#")):
        return "; ".join(parts)
    end = last[len(last.rstrip("\r\n")) :] or syntax.line_end(source.data).decode()
    return (end + before).join(parts)


def _from(source: Source, node: ast.ImportFrom, pieces: Sequence[_Piece]) -> list[str]:
    whole = syntax.text(source)
    old_text = whole.text[whole.span(node)]
    if old_text == ast.unparse(node):  # no layout of its own to keep: loading libcst costs more than all the rest
        return _written(node, pieces)
    import libcst as cst

    module = cst.parse_module(old_text)
    line = module.body[0]
    assert isinstance(line, cst.SimpleStatementLine)
    old = line.body[0]
    assert isinstance(old, cst.ImportFrom)
    written = []
    for place in dict.fromkeys(piece.module for piece in pieces):
        chosen = [index for index, piece in enumerate(pieces) if piece.module == place]
        if place is None:
            written += [f"import {_as(pieces[index].name, pieces[index].bound)}" for index in chosen]
            continue
        new = _with_module(old, place).with_changes(names=_with_names(old.names, pieces, chosen))
        written.append(module.code_for_node(new))
    return written


def _written(node: ast.ImportFrom, pieces: Sequence[_Piece]) -> list[str]:
    written: dict[str, list[str]] = {}
    for piece, alias in zip(pieces, node.names, strict=True):
        same = alias.asname is not None and piece.name == alias.name  # `x as x` says that it is for others
        new = f"{piece.name} as {piece.bound}" if same else _as(piece.name, piece.bound)
        head = f"from {piece.module} import " if piece.module is not None else f"import {new}"
        written.setdefault(head, []).append(new if piece.module is not None else "")
    return [head + ", ".join(names) for head, names in written.items()]


def _with_module(old: "cst.ImportFrom", place: str) -> "cst.ImportFrom":
    import libcst as cst

    rest = place.lstrip(".")
    space = cst.SimpleWhitespace(" ")
    return old.with_changes(
        relative=[cst.Dot()] * (len(place) - len(rest)),
        module=cst.parse_expression(rest) if rest else None,
        whitespace_after_from=old.whitespace_after_from if not old.whitespace_after_from.empty else space,
        whitespace_before_import=old.whitespace_before_import if not old.whitespace_before_import.empty else space,
    )


def _with_names(old: _Names, pieces: Sequence[_Piece], chosen: Sequence[int]) -> _Names:
    import libcst as cst

    if isinstance(old, cst.ImportStar):
        return old
    new = []
    for index in chosen:
        alias, piece = old[index], pieces[index]
        if alias.evaluated_name != piece.name:
            asname = alias.asname or cst.AsName(cst.Name(piece.bound))
            alias = alias.with_changes(name=cst.Name(piece.name), asname=None if piece.name == piece.bound else asname)
        new.append(alias)
    if chosen[-1] != len(old) - 1:
        new[-1] = new[-1].with_changes(comma=closing(new[-1].comma, old[-1].comma))
    return new


def closing(
    comma: "cst.Comma | cst.MaybeSentinel", last: "cst.Comma | cst.MaybeSentinel"
) -> "cst.Comma | cst.MaybeSentinel":
    """The comma of a name that is the last one now: laid out as the old last one, its own comment kept."""
    import libcst as cst

    space = comma.whitespace_after if isinstance(comma, cst.Comma) else None
    if not isinstance(space, cst.ParenthesizedWhitespace) or space.first_line.comment is None:
        return last
    end = last.whitespace_after if isinstance(last, cst.Comma) else None
    if isinstance(end, cst.ParenthesizedWhitespace):
        space = space.with_changes(indent=end.indent, last_line=end.last_line)
    return comma.with_changes(whitespace_after=space) if isinstance(comma, cst.Comma) else comma
