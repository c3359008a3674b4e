"""Python source as text and tree: the only place that parses, so that the rules of one file share their work.

`ast` finds statements, because it is ten times faster than libcst and is there anyway; libcst rewrites what was
found, because it keeps comments and layout. Text outside an edited span is never rendered again: it cannot change.
"""

import ast
import functools
import re
import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from vendor_tool.errors import UsageError
from vendor_tool.model import Source
from vendor_tool.patterns import pattern
from vendor_tool.values import dataclass

if TYPE_CHECKING:
    import libcst as cst

Import: TypeAlias = ast.Import | ast.ImportFrom

_LINE_END = pattern(r"\r\n|\r|\n")
_CODING = pattern(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_KEPT_MODULES = 16
_modules: dict[bytes, "cst.Module"] = {}


@dataclass(frozen=True, slots=True)
class Edit:
    """New text for the span of one node."""

    node: ast.stmt | ast.expr
    text: str


@dataclass(frozen=True, slots=True)
class Cut:
    """A span of the decoded text that goes, and what stands there instead."""

    start: int
    stop: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A decoded file; positions are those of `ast`, whose columns count UTF-8 bytes."""

    text: str
    encoding: str
    starts: tuple[int, ...]  # index of each line's first character

    def index(self, line: int, column: int) -> int:
        """The index in `text` of an `ast` position."""
        start = self.starts[line - 1]
        piece = self.text[start : start + column]
        if piece.isascii():
            return start + column
        return start + len(piece.encode()[:column].decode())

    def span(self, node: ast.stmt | ast.expr) -> "slice[int, int, None]":
        """Where the node stands in `text`."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return slice(
            self.index(node.lineno, node.col_offset),
            self.index(node.end_lineno, node.end_col_offset),
        )

    def line(self, number: int) -> str:
        """One line with its end."""
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : end]


def is_python(path: str) -> bool:
    """Whether the file is Python source, by its name."""
    return path.endswith((".py", ".pyi"))


def mentions(data: bytes, names: Collection[str]) -> bool:
    """Whether one of the dotted names is in the bytes, in whole words: `a.b` in `a.b.c`, not in `a.bc` or `x.a.b`."""
    present = [name for name in names if name.encode() in data]
    return bool(present) and _words(frozenset(present)).search(data) is not None


@functools.lru_cache(maxsize=64)
def _words(names: frozenset[str]) -> re.Pattern[bytes]:
    alternatives = b"|".join(re.escape(name.encode()) for name in sorted(names))
    return re.compile(rb"(?<![\w.\x80-\xff])(?:" + alternatives + rb")(?![\w\x80-\xff])")


def tree(source: Source) -> ast.Module:
    """The file as `ast` reads it.

    Raises UsageError with `path:line` where this Python cannot parse it.
    """
    try:
        return _tree(source.data)
    except (SyntaxError, ValueError, RecursionError) as problem:
        raise unreadable(source, getattr(problem, "lineno", None), str(getattr(problem, "msg", problem))) from None


@functools.lru_cache(maxsize=_KEPT_MODULES)
def _tree(data: bytes) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape is the upstream's business
        return ast.parse(data)


def unreadable(source: Source, line: int | None, why: str) -> UsageError:
    """The error for a file that is not Python to us."""
    return UsageError(
        f"`{source.path}:{line or 1}`: not Python that can be parsed: {why}",
        hint=f"this is Python {sys.version_info[0]}.{sys.version_info[1]}: run a newer one where the file asks for it, "
        "or give the file its own `transforms:` that leave its imports alone",
    )


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements, nested ones too, in source order; expressions are not looked into."""
    for statement in body:
        yield statement
        for part in ("body", "handlers", "cases", "orelse", "finalbody"):
            for child in getattr(statement, part, ()):
                if isinstance(child, ast.stmt):
                    yield from statements((child,))
                else:  # `except` and `case` are not statements themselves
                    yield from statements(child.body)


def imports(source: Source) -> tuple[Import, ...]:
    """Every import statement of the file, at any depth, in source order."""
    return tuple(node for node in statements(tree(source).body) if isinstance(node, ast.Import | ast.ImportFrom))


def text(source: Source) -> Text:
    """The file decoded as Python would.

    Raises UsageError where the declared encoding is unknown or does not fit the bytes.
    """
    try:
        return _text(source.data)
    except (LookupError, ValueError) as problem:
        raise unreadable(source, 1, str(problem)) from None


@functools.lru_cache(maxsize=_KEPT_MODULES)
def _text(data: bytes) -> Text:
    declared = encoding(data)
    decoded = data.decode(declared)
    if decoded.encode(declared) != data:
        raise ValueError(f"its encoding {declared} does not give the same bytes back")
    return Text(decoded, declared, (0, *(end.end() for end in _LINE_END.finditer(decoded))))


def encoding(data: bytes) -> str:
    """The encoding that Python reads the source in: by byte-order mark, coding line, or UTF-8."""
    if data.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    for line in data.splitlines()[:2]:
        if found := _CODING.match(line):
            return found[1].decode()
        if line.split(b"#")[0].strip():
            break
    return "utf-8"


def prelude(data: bytes) -> int:
    """How many bytes must stay first: a byte-order mark, the `#!` line, the coding line."""
    kept = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    position = kept
    for number, line in enumerate(data[kept:].splitlines(keepends=True)[:2]):
        position += len(line)
        if (number == 0 and line.startswith(b"#!")) or _CODING.match(line):
            kept = position
        elif line.split(b"#")[0].strip():
            break
    return kept


def line_end(data: bytes) -> bytes:
    """The line end that the file's first line has; `\\n` where there is none."""
    found = re.search(rb"\r\n|\r|\n", data)
    return found[0] if found else b"\n"


def splice(source: Source, edits: Sequence[Edit | Cut]) -> bytes:
    """The file with the edits made and every other byte as it was."""
    whole = text(source)
    changes = []
    for edit in edits:
        if isinstance(edit, Cut):
            changes.append((edit.start, edit.stop, edit.text))
        else:
            span = whole.span(edit.node)
            changes.append((span.start, span.stop, edit.text))
    result = whole.text
    for start, stop, new in sorted(changes, reverse=True):
        result = result[:start] + new + result[stop:]
    return result.encode(whole.encoding)


def parse(source: Source) -> "cst.Module":
    """The whole file as libcst reads it.

    Raises UsageError with `path:line` where it cannot, or would not give the same bytes back.
    """
    if (kept := _modules.get(source.data)) is not None:
        return kept
    import libcst as cst

    try:
        module = cst.parse_module(source.data)
    except cst.ParserSyntaxError as problem:
        raise unreadable(source, problem.raw_line, problem.message) from None
    except (SyntaxError, UnicodeError, LookupError, RecursionError) as problem:
        raise unreadable(source, 1, str(problem)) from None
    # libcst 1.9 loses form feeds and mixes lone carriage returns up; elsewhere it is exact
    if re.search(rb"\f|\r(?!\n)", source.data) and module.bytes != source.data:
        raise unreadable(source, 1, "form feeds or lone carriage returns would be lost")
    _keep(source.data, module)
    return module


def render(module: "cst.Module") -> bytes:
    """The module's bytes; the next rule that parses them gets this module."""
    data = module.bytes
    _keep(data, module)
    return data


def _keep(data: bytes, module: "cst.Module") -> None:
    if len(_modules) >= _KEPT_MODULES:
        del _modules[next(iter(_modules))]
    _modules[data] = module
