"""The records of files as this tool writes them, line by line: set aside before YAML reads the rest of the lock.

Ten thousand records are 90,000 values, and YAML makes an object with two places of each: that took longer than all else
that a `sync` does, and most of its memory. A list in any other form, and one that stands where no record does, is read
as YAML like everything else.
"""

from __future__ import annotations

import contextlib
import re
from functools import lru_cache

from vendor_tool.errors import UsageError
from vendor_tool.lockfile import emit, nodes
from vendor_tool.lockfile.nodes import Node
from vendor_tool.model import At, Recorded
from vendor_tool.paths import unsafe

_KEY = " files:\n"
_WHERE = ("upstreams", "*", "resolved", "files")


def compose(name: str, text: str) -> Node:
    """The nodes of a lock's text; a list of records is one node of the kind "rows", whose value are the records.

    Raises UsageError with `name:line:column` for bad syntax and for keys that stand twice.
    """
    if found := find(text):
        with contextlib.suppress(UsageError):  # told below, from the text as it stands
            root = put_back(nodes.compose(name, _without(text, found)), found)
            if root is not None:
                return root
    return nodes.compose(name, text)


def find(text: str) -> dict[int, Node]:
    """Lists of records by the offset where their key ends, as far as can be told without reading YAML."""
    found = {}
    at = text.find(_KEY)
    while at >= 0:
        body = at + len(_KEY)
        start = text.rfind("\n", 0, at) + 1
        if not text[start:at].strip(" ") and (rows := _rows(text, body, at + 1 - start)):
            found[at + len(_KEY) - 2] = rows
        at = text.find(_KEY, body)
    return found


def put_back(root: Node, found: dict[int, Node]) -> Node | None:
    """The nodes with each list in its place, which is a key without a value under `resolved:`.

    None where a list has no such place, since it is a part of some text.
    """
    left = dict(found)
    whole = _filled(root, _WHERE, left)
    return None if left else whole


def _filled(node: Node, path: tuple[str, ...], left: dict[int, Node]) -> Node:
    if node.kind != "map" or node.flow or not node.value:
        return node
    pairs = []
    for key, value in node.pairs():
        if path[0] in ("*", key.value):
            if len(path) > 1:
                value = _filled(value, path[1:], left)
            elif value.tag == "null":
                value = left.pop(key.end, value)
        pairs.append((key, value))
    return node._replace(value=pairs, end=pairs[-1][1].end)


def _without(text: str, found: dict[int, Node]) -> str:
    """The text with blanks and as many line ends for each list: every other place in it stays what it is."""
    pieces, last = [], 0
    for rows in found.values():
        lines = text.count("\n", rows.start, rows.end)
        pieces += [text[last : rows.start], " " * (rows.end - rows.start - lines), "\n" * lines]
        last = rows.end
    return "".join([*pieces, text[last:]])


def _rows(text: str, body: int, indent: int) -> Node | None:
    row, end = _row(indent + 2), body
    first = line = text.count("\n", 0, body) + 1
    records = []
    while match := row.match(text, end):
        path, blob, to, sha256 = (match[n] or match[n + 1] for n in (1, 3, 5, 7))
        if unsafe(to):
            return None
        records.append(Recorded(path, blob, to, sha256, At(line, indent + 5), match[9] is not None, license=match[10]))
        end = match.end()
        line += 4 + (match[9] is not None) + (match[10] is not None)
    if not records or text.startswith(" " * (indent + 1), end):  # none, or it goes on in another form
        return None
    return Node("rows", tuple(records), "seq", first, indent + 3, body + indent + 2, end - 1, False)


@lru_cache(maxsize=4)
def _row(indent: int) -> re.Pattern[str]:
    pad = " " * indent
    quoted, name = r"[ !#-\[\]-~]+", r"[A-Za-z_/0-9][A-Za-z0-9_./@+-]*"
    sure = rf"(?!(?:{emit.AMBIGUOUS.pattern})\n)"
    path = rf'(?:"({quoted})"|(?i:{sure})({name}))\n'

    def digest(size: int) -> str:
        return rf'(?:"([0-9a-f]{{{size}}})"|(?!0b|\d*e?\d*\n)([0-9a-f]{{{size}}}))\n'

    return re.compile(
        f"{pad}- path: {path}{pad}  blob: {digest(40)}{pad}  to: {path}{pad}  sha256: {digest(64)}"
        rf"(?:{pad}  executable: (true)\n)?(?:{pad}  license: (?i:{sure})({name}(?: [A-Za-z0-9_./@+()-]+)*)\n)?"
    )
