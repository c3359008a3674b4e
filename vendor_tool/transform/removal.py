"""Takes whole statements and single imported names out of a file, and leaves a file that still reads well."""

import ast
import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, TypeGuard

from vendor_tool.model import Source
from vendor_tool.transform import rewriting, syntax
from vendor_tool.transform.syntax import Cut, Edit, Text

if TYPE_CHECKING:
    import libcst as cst


def blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a statement that opens no scope; of any other, none."""
    if not isinstance(node, ast.If | ast.Try | ast.With):
        return []
    found = [node.body, *(handler.body for handler in getattr(node, "handlers", ()))]
    return [block for block in (*found, getattr(node, "orelse", []), getattr(node, "finalbody", [])) if block]


def is_all(node: ast.AST) -> TypeGuard[ast.Assign | ast.AnnAssign | ast.AugAssign]:
    """Whether the statement sets or extends `__all__`."""
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def without(
    source: Source, removed: Sequence[ast.stmt], imports: Collection[ast.alias], exported: Collection[str]
) -> bytes:
    """The file without the statements, the imported names, and the strings `exported` of `__all__`.

    A comment directly above a removed statement goes with it, unless it is the head of the file; a block that is left
    empty gets `pass`, and a statement whose blocks are all empty goes.
    """
    body = syntax.tree(source).body
    edits: list[Edit | Cut] = []
    whole = list(removed)
    for node in syntax.statements(body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            left = [alias for alias in node.names if alias not in imports]
            if not left:
                whole.append(node)
            elif len(left) < len(node.names):
                edits.append(Edit(node, _shorter(source, node, left)))
        elif is_all(node) and node.value is not None:
            edits.append(Edit(node.value, _without_strings(source, node.value, exported)))
    edits += _cuts(syntax.text(source), body, whole, nested=False)
    data = syntax.splice(source, edits)
    if not _empty(body[-1], whole):
        return data
    end = syntax.line_end(source.data)
    return data.rstrip(b" \t\r\n") + end if data.endswith(end) else data


def _empty(node: ast.stmt, removed: Sequence[ast.stmt]) -> bool:
    inner = blocks(node)
    return node in removed or (bool(inner) and all(_empty(child, removed) for block in inner for child in block))


def _cuts(text: Text, body: Sequence[ast.stmt], removed: Sequence[ast.stmt], *, nested: bool) -> Iterator[Cut]:
    going = [_empty(node, removed) for node in body]
    if nested and all(going):
        yield Cut(_begin(text, body[0]), text.span(body[-1]).stop, "pass")
        return
    for node, goes in zip(body, going, strict=True):
        if not goes:
            for block in blocks(node):
                yield from _cuts(text, block, removed, nested=True)
    for goes, run in itertools.groupby(zip(going, body, strict=True), key=lambda item: item[0]):
        if goes:
            nodes = [node for _, node in run]
            yield _lines(text, nodes)


def _first_line(node: ast.stmt) -> int:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.lineno
    return min((part.lineno for part in node.decorator_list), default=node.lineno)


def _begin(text: Text, node: ast.stmt) -> int:
    """The index of the statement's first character, decorators counted in."""
    start = text.starts[_first_line(node) - 1]
    if _first_line(node) == node.lineno:
        return text.span(node).start
    line = text.line(_first_line(node))
    return start + len(line) - len(line.lstrip(" \t\f"))


def _lines(text: Text, nodes: Sequence[ast.stmt]) -> Cut:
    """The lines of statements that follow each other; of the blank ones around and between, the widest gap stays."""
    start, stop = _begin(text, nodes[0]), text.span(nodes[-1]).stop
    first, last = _first_line(nodes[0]), nodes[-1].end_lineno or nodes[-1].lineno
    after = text.text[stop : text.starts[last - 1] + len(text.line(last))].strip()
    if text.text[text.starts[first - 1] : start].strip() or (after and not after.startswith("#")):
        return Cut(start, stop, "pass")  # they share a line
    first = _with_comment(text, first)
    above = _blank(text, range(first - 1, 0, -1))
    below = _blank(text, range(last + 1, len(text.starts) + 1))
    between = (_blank(text, range((node.end_lineno or node.lineno) + 1, last)) for node in nodes[:-1])
    wanted = max(below, *between, 0) if first > 1 else 0
    end = text.line(first)[len(text.line(first).rstrip("\r\n")) :]
    following = last + 1 + below
    stop = text.starts[following - 1] if following <= len(text.starts) else len(text.text)
    return Cut(text.starts[first - 1], stop, end * max(0, wanted - above))


def _blank(text: Text, numbers: Sequence[int]) -> int:
    """How many lines in a row are blank, from the first of the numbers on."""
    for count, number in enumerate(numbers):
        if text.line(number).strip():
            return count
    return len(numbers)


def _with_comment(text: Text, line: int) -> int:
    """The line where the comment block directly above begins; the same line where that is the head of the file."""
    first = line
    while first > 1 and text.line(first - 1).lstrip().startswith("#"):
        first -= 1
    return line if first == 1 else first


def _shorter(source: Source, node: syntax.Import, left: Sequence[ast.alias]) -> str:
    import libcst as cst

    text = syntax.text(source)
    module = cst.parse_module(text.text[text.span(node)])
    line = module.body[0]
    assert isinstance(line, cst.SimpleStatementLine)
    statement = line.body[0]
    assert isinstance(statement, cst.Import | cst.ImportFrom)
    assert not isinstance(statement.names, cst.ImportStar)
    kept = [new for new, old in zip(statement.names, node.names, strict=True) if old in left]
    kept[-1] = kept[-1].with_changes(comma=rewriting.closing(kept[-1].comma, statement.names[-1].comma))
    return module.code_for_node(statement.with_changes(names=kept))


def _without_strings(source: Source, value: ast.expr, gone: Collection[str]) -> str:
    import libcst as cst

    text = syntax.text(source)
    old = text.text[text.span(value)]
    module = cst.parse_module(f"({old})")

    class Shorten(cst.CSTTransformer):
        def leave_List(self, _original: cst.List, updated_node: cst.List) -> cst.List:
            return updated_node.with_changes(elements=_elements(updated_node.elements, gone))

        def leave_Tuple(self, _original: cst.Tuple, updated_node: cst.Tuple) -> cst.Tuple:
            return updated_node.with_changes(elements=_elements(updated_node.elements, gone))

    if not isinstance(value, ast.List | ast.Tuple):
        return old
    return module.visit(Shorten()).code[1:-1]


def _elements(elements: Sequence["cst.BaseElement"], gone: Collection[str]) -> list["cst.BaseElement"]:
    import libcst as cst

    return [
        element
        for element in elements
        if not (isinstance(element.value, cst.SimpleString) and element.value.evaluated_value in gone)
    ]
