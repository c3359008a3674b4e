"""Comments and docstrings of a source file as lines of text: what claims of origin are looked for in."""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from vendor_tool.patterns import pattern

PYTHON = (".py", ".pyi", ".pyx")
BRACES = (
    ".c",
    ".cc",
    ".cpp",
    ".cxx",
    ".cu",
    ".cuh",
    ".h",
    ".hh",
    ".hpp",
    ".js",
    ".ts",
    ".rs",
    ".go",
    ".java",
    ".metal",
)
HASHES = (".sh", ".bash", ".yaml", ".yml", ".toml", ".cfg", ".cmake", ".jl", ".rb")
SUFFIXES = PYTHON + BRACES + HASHES

# a string that never ends is taken to the end of the file or line: trying again at each quote would take for ever
_TRIPLE = (
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:"""|\Z)|'
    r"'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'''|\Z)"
)
_SINGLE = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*(?:"|(?=\n)|\\?\Z)|\'[^\'\\\n]*(?:\\.[^\'\\\n]*)*(?:\'|(?=\n)|\\?\Z)'
# strings come first, so that a mark inside one opens no comment
_PYTHON = pattern(
    rf"(?P<doc>^[ \t]*[rRuUbBfF]{{0,2}}(?:{_TRIPLE}))|{_TRIPLE}|{_SINGLE}|(?P<line>\#[^\n]*)", re.DOTALL | re.MULTILINE
)
_BRACES = pattern(r'(?P<doc>/\*.*?(?:\*/|\Z))|(?P<line>//[^\n]*)|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
_HASHES = pattern(r'(?P<doc>(?!))|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|(?:(?<=\s)|^)(?P<line>\#[^\n]*)', re.MULTILINE)
_MARKS = pattern(r"^\s*(?:[rRuUbBfF]{0,2}(?:\"{3}|'{3})|#+:?|/{2,}[/!]?|/\*+|\*+(?!/)|--)?\s?")
_LONGEST = 2000  # letters of a line: people's claims are short, and what is longer was generated
_CLOSE = pattern(r"\s*(?:\*/|\"{3}|'{3})\s*$")


class Comment(NamedTuple):
    """One line of a comment, without its marks."""

    line: int  # from 1
    text: str
    block: int  # lines of one block follow each other without code between them


def comments(text: str, suffix: str, near: Collection[int] | None = None) -> Iterator[Comment]:
    """Every comment line and every line of a string that stands alone as a statement, in order.

    With `near` only the lines of that set: most of a file's comments are of no interest to anybody. The text is read no
    further than is asked for.
    """
    pattern = _PYTHON if suffix in PYTHON else _BRACES if suffix in BRACES else _HASHES
    end = max(near, default=0) if near is not None else None
    block, last, position, number = 0, -2, 0, 1
    for match in pattern.finditer(text):
        if match.lastgroup is None:
            continue
        number += text.count("\n", position, match.start())
        if end is not None and number > end:
            return
        position = match.start()
        lines = match.group().split("\n")
        if match.lastgroup == "doc" or number != last + 1:
            block += 1
        for offset, line in enumerate(lines, number):
            if near is None or offset in near:
                yield Comment(offset, _bare(line), block)
        last = number + len(lines) - 1


def _bare(line: str) -> str:
    line = line[:_LONGEST]
    mark = _MARKS.match(line)
    text = line[mark.end() :] if mark else line
    return _CLOSE.sub("", text).rstrip() if text.rstrip()[-1:] in ("/", '"', "'") else text.rstrip()
