"""Copyright hooks that read `.licenserc.yaml`: `paths-ignore`, so that nobody stamps their line on others' code."""

import re
from collections.abc import Sequence
from typing import Final

from vendor_tool.errors import UsageError
from vendor_tool.fence import reading
from vendor_tool.fence.block import covered, globbed, insert, without
from vendor_tool.lockfile.nodes import Node

CONFIGS: Final = (".licenserc.yaml",)
PYTHON_ONLY: Final = False
OWNER: Final = "licenserc"
KEY: Final = "paths-ignore"
HEADER: Final = re.compile(r"^[ ]*[\"']?header[\"']?[ ]*:", re.M)


def uses(text: str, name: str) -> bool:  # noqa: ARG001 - the signature of every kind
    """Whether the file configures the check of headers."""
    return HEADER.search(text) is not None


def missing(text: str, name: str, entries: Sequence[str]) -> list[str]:
    """Entries whose headers the hook would check or write, by one of its rules at least."""
    left_out = [_globs(header) for header in _headers(text, name)]
    return [entry for entry in entries if not left_out or not all(covered(entry, globs) for globs in left_out)]


def patterns(text: str, name: str) -> list[str]:
    """What the configuration leaves out."""
    return [glob for header in _headers(text, name) for glob in _globs(header)]


def rest(text: str, name: str) -> object:
    """What the configuration says besides."""
    root = reading.yaml(text, name)
    others = [reading.value(header, without=KEY) for header in _headers(text, name)]
    return reading.value(root, without="header"), others


def apply(text: str, name: str, entries: Sequence[str]) -> str:
    """The configuration with what it lacks at the head of each list.

    Raises UsageError where there is no place for a list, or where it stands in brackets.
    """
    text = without(text, OWNER)
    for header in reversed(_headers(text, name)):
        globs = _globs(header)
        items = [f"- {_quoted(globbed(entry, '**'))}" for entry in entries if not covered(entry, globs)]
        if items:
            text = _with_items(text, name, header, items)
    return text


def _with_items(text: str, name: str, header: Node, items: Sequence[str]) -> str:
    ignored = reading.under(header, KEY)
    if header.flow or (ignored is not None and ignored.flow):
        what, part = ("header", "key") if header.flow else (KEY, "item")
        raise UsageError(
            f"`{what}` in `{name}` stands in brackets, which leave no room for lines", hint=f"write one {part} a line"
        )
    if ignored is None:
        place = next((key for key, _ in header.pairs() if not text[_line(text, key) : key.start].strip()), None)
        if place is None:
            raise UsageError(
                f"`{name}` has no `paths-ignore`", hint=f"add `paths-ignore:` below `header:` in `{name}`, with an item"
            )
        lines = [f"{KEY}:", *(f"  {item}" for item in items)]
        return insert(text, place.start, lines, owner=OWNER, indent=" " * (place.column - 1))
    if ignored.kind == "list" and ignored.items():
        first = ignored.items()[0]
        indent = len(text[_line(text, first) : first.start].split("-")[0])
        return insert(text, _line(text, first), items, owner=OWNER, indent=" " * indent)
    key = next(key for key, value in header.pairs() if value is ignored)
    following = text.find("\n", key.end) + 1 or len(text)
    return insert(text, following, items, owner=OWNER, indent=" " * (key.column + 1))


def _line(text: str, node: Node) -> int:
    """Where the line of a node starts."""
    return text.rfind("\n", 0, node.start) + 1


def _headers(text: str, name: str) -> list[Node]:
    """The rules, of which `header:` may hold one or several."""
    found = reading.under(reading.yaml(text, name), "header")
    rules = [] if found is None else found.items() if found.kind == "list" else [found]
    return [rule for rule in rules if rule.kind == "map"]


def _globs(header: Node) -> list[str]:
    ignored = reading.under(header, KEY)
    items = ignored.items() if ignored is not None and ignored.kind == "list" else []
    return [item.text for item in items if item.kind == "text"]


def _quoted(glob: str) -> str:
    return "'" + glob.replace("'", "''") + "'"
