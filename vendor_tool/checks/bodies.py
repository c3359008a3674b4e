"""Code compared with code: what is left of a file when comments, imports and layout are put aside."""

import re
from typing import TYPE_CHECKING

from vendor_tool import lines

if TYPE_CHECKING:
    import ast

_COMMENT = re.compile(rb"\s*(?:#|//|/\*|\*(?!\w)).*")


def similarity(local: bytes, upstream: bytes) -> float:
    """Share of the code, 0 to 1, that two files have in common lines; comments, blank lines and indents aside."""
    return lines.similarity(_code(local), _code(upstream))


def same_code(local: bytes, upstream: bytes) -> bool | None:
    """Whether two Python files differ in nothing but imports, comments, docstrings and layout; None if not Python."""
    import ast

    try:
        return _outline(ast.parse(local)) == _outline(ast.parse(upstream))
    except (SyntaxError, ValueError):
        return None


def folded(data: bytes) -> str:
    """A text in lower case with its white space and comment marks folded, to look for one text in another."""
    text = data.decode("utf-8", "replace")
    return " ".join(re.sub(r"^[ \t]*(?:#|//|\*|>)+[ \t]?", "", text, flags=re.MULTILINE).split()).casefold()


def _code(data: bytes) -> list[bytes]:
    found = (line.strip() for line in data.splitlines())
    return [line + b"\n" for line in found if line and not _COMMENT.fullmatch(line)]


def _outline(module: "ast.Module") -> str:
    import ast

    for node in ast.walk(module):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [one for one in body if not isinstance(one, (ast.Import, ast.ImportFrom)) and not _is_text(one)]
            node.body = kept  # type: ignore[attr-defined]  # every node with a list for a body
    return ast.dump(module)


def _is_text(node: "ast.stmt") -> bool:
    import ast

    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
