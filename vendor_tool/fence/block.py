"""The lines that the tool owns in a file of the user: between two marks, put in and taken out as one."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from glob import escape
from pathlib import PurePosixPath
from typing import Final

MARK: Final = "# vendor-tool fence for"


def begin(owner: str) -> str:
    """The line above the lines that the tool owns; one file may hold a block for each of several owners."""
    return f"{MARK} {owner}: written by `vendor-tool fence`"


def end(owner: str) -> str:
    """The line below them."""
    return f"{MARK} {owner}: end"


def without(text: str, owner: str) -> str:
    """The text as it is without the tool's lines for that owner."""
    first, last = re.escape(begin(owner)), re.escape(end(owner))
    return re.sub(rf"^[ \t]*{first}\r?\n(?:.*\n)*?[ \t]*{last}(?:\r?\n|\Z)", "", text, flags=re.MULTILINE)


def insert(text: str, at: int, lines: Sequence[str], *, owner: str, indent: str = "") -> str:
    """Put `lines` between the marks at offset `at`, on lines of their own, with the newlines that the text uses."""
    if not lines:
        return text
    newline = _newline(text, at)
    block = "".join(f"{indent}{line}{newline}" for line in (begin(owner), *lines, end(owner)))
    start = text.rfind("\n", 0, at) + 1
    if text[start:at].strip():
        return text[:at] + newline + block + text[at:]
    return text[:start] + block + text[start:]


def _newline(text: str, at: int) -> str:
    """The line end that the text uses there: that of the line before, else of the line itself."""
    ends = text.rfind("\n", 0, at)
    if ends < 0:
        ends = text.find("\n", at)
    return "\r\n" if ends > 0 and text[ends - 1] == "\r" else "\n"


def append(text: str, lines: Sequence[str], *, owner: str) -> str:
    """Put `lines` between the marks at the end, on lines of their own."""
    return insert(text, len(text), lines, owner=owner)


def probes(entry: str) -> tuple[str, ...]:
    """Paths that stand for an entry of the fence: the file itself, or two made-up ones in the folder."""
    return (f"{entry}x.py", f"{entry}x/x") if entry.endswith("/") else (entry,)


def globbed(entry: str, everything: str) -> str:
    """An entry of the fence as a glob, with `everything` for what is in a folder."""
    return escape(entry) + everything if entry.endswith("/") else escape(entry)


def covered(entry: str, patterns: Sequence[str]) -> bool:
    """Whether globs leave out an entry: its path, its name, or a folder above it."""
    return all(any(_matches(probe, pattern) for pattern in patterns) for probe in probes(entry))


def _matches(path: str, pattern: str) -> bool:
    pattern = pattern.removeprefix("./").rstrip("/")
    above = [PurePosixPath(path), *PurePosixPath(path).parents]
    return any(fnmatchcase(str(p), pattern) or fnmatchcase(p.name, pattern) for p in above if p.name)
