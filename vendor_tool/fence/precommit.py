"""pre-commit: the `exclude` at the top, which holds for every hook, those that mangle patches included."""

import re
from collections.abc import Sequence
from typing import Final

from vendor_tool.errors import UsageError
from vendor_tool.fence import reading
from vendor_tool.fence.block import append, insert, probes, without
from vendor_tool.lockfile.nodes import Node

CONFIGS: Final = (".pre-commit-config.yaml",)
PYTHON_ONLY: Final = False
OWNER: Final = "pre-commit"
KEY: Final = "exclude"
# an anchor or a tag stands before the text of a node and is part of it
HEAD: Final = re.compile(r"(?:[&!]\S*\s+)*")
BLOCK: Final = re.compile(r"[|>][-+]?(?P<indent>[1-9]?)[^\n]*\n(?:[ \t\r]*\n)*(?P<first>[ ]*)")
# within a line there is no room for comment lines, but a regular expression has comments of its own
OWNED: Final = re.compile(r"\|\(\?#vendor-tool\).*?\(\?#/vendor-tool\)")


def uses(text: str, name: str) -> bool:  # noqa: ARG001 - the signature of every kind
    """Whether the file configures pre-commit: its name says so."""
    return True


def missing(text: str, name: str, entries: Sequence[str]) -> list[str]:
    """Entries that hooks would touch.

    Raises UsageError where the expression cannot be read.
    """
    found = _find(text, name)
    if found is None:
        return list(entries)
    expression = _compiled(found, name)
    return [entry for entry in entries if not all(expression.search(probe) for probe in probes(entry))]


def patterns(text: str, name: str) -> list[str]:
    """What the configuration leaves out."""
    found = _find(text, name)
    return [found.text] if found is not None else []


def rest(text: str, name: str) -> object:
    """What the configuration says besides."""
    return reading.value(reading.yaml(text, name), without=KEY)


def apply(text: str, name: str, entries: Sequence[str]) -> str:
    """The configuration with what it lacks, added to the user's own expression where there is one.

    Raises UsageError where that is a block without `(?x)` that ends with a newline: line ends count in it.
    """
    text = OWNED.sub("", without(text, OWNER))
    lacking = missing(text, name, entries)
    if not lacking:
        return text
    found = _find(text, name)
    if found is None:
        return _with_exclude(text, reading.yaml(text, name), lacking)
    head = HEAD.match(text, found.start)
    start = head.end() if head is not None else found.start
    block = BLOCK.match(text, start)
    if block is None:
        quote = text[start] if text[start] in "'\"" else ""
        if not quote and reading.yaml(text, name).flow:
            raise UsageError(
                f"`exclude` in `{name}` stands in brackets without quotes", hint="put single quotes around it"
            )
        end = found.end - len(quote)
        return text[:end] + _inline(lacking, quote) + text[end:]
    end = start + len(text[start : found.end].rstrip())
    if text[start] == "|" and _compiled(found, name).flags & re.VERBOSE:
        following = text.find("\n", end) + 1 or len(text)
        indent = " " * int(block["indent"]) if block["indent"] else block["first"]
        return insert(text, following, ["|^(?:", *_alternatives(lacking), "  )"], owner=OWNER, indent=indent)
    added = text[:end] + _inline(lacking, "") + text[end:]
    if missing(added, name, lacking):
        raise UsageError(
            f"`exclude` in `{name}` is a block without `(?x)`",
            hint=f"add {_inline(lacking, '')} to the end of `exclude` in `{name}` by hand",
        )
    return added


def _with_exclude(text: str, root: Node, lacking: Sequence[str]) -> str:
    lines = ["exclude: |", "  (?x)^(?:", *_alternatives(lacking), "  )"]
    first = next((key for key, _ in root.pairs()), None)
    if first is None:
        return append(text, lines, owner=OWNER)
    return insert(text, first.start, lines, owner=OWNER, indent=" " * (first.column - 1))


def _find(text: str, name: str) -> Node | None:
    """The `exclude` as the user wrote it."""
    found = reading.under(reading.yaml(text, name), KEY)
    if found is not None and (found.kind, found.tag) != ("text", "str"):
        raise UsageError(f"`exclude` in `{name}` is not a text", hint=f"mend `exclude` in `{name}`")
    return found


def _compiled(found: Node, name: str) -> re.Pattern[str]:
    try:
        return re.compile(found.text)
    except re.error as cause:
        raise UsageError(
            f"`exclude` in `{name}` is not a regular expression: {cause}", hint=f"mend `exclude` in `{name}`"
        ) from cause


def _expression(entry: str) -> str:
    return re.escape(entry) if entry.endswith("/") else f"{re.escape(entry)}$"


def _alternatives(entries: Sequence[str]) -> list[str]:
    last = len(entries) - 1
    return [f"    {_expression(entry)}{'|' if index < last else ''}" for index, entry in enumerate(entries)]


def _inline(entries: Sequence[str], quote: str) -> str:
    added = f"|(?#vendor-tool)^(?:{'|'.join(_expression(entry) for entry in entries)})(?#/vendor-tool)"
    if quote == "'":
        return added.replace("'", "''")
    return added.replace("\\", "\\\\").replace('"', '\\"') if quote == '"' else added
