"""pre-commit: the `exclude` at the top, which holds for every hook, those that mangle patches included."""

import re
from collections.abc import Sequence
from textwrap import dedent
from typing import Final

from vendor_tool.errors import UsageError
from vendor_tool.fence.block import append, insert, probes, without
from vendor_tool.values import dataclass

CONFIGS: Final = (".pre-commit-config.yaml",)
PYTHON_ONLY: Final = False
OWNER: Final = "pre-commit"
ONE_LINE: Final = re.compile(
    r"""^exclude:[ \t]+(?P<value>'(?:[^'\n]|'')*'|"(?:[^"\\\n]|\\.)*"|[^'"|>#\s][^\n]*?)[ \t]*(?:\s#.*)?$""", re.M
)
BLOCK: Final = re.compile(
    r"^exclude:[ \t]+[|>][-+]?[ \t]*\r?\n(?P<value>(?:[ \t]+.*\n|[ \t]*\n)*(?:[ \t]+.*\Z)?)", re.M
)
FIRST_KEY: Final = re.compile(r"^[A-Za-z_]+:", re.M)
# within a line there is no room for comment lines, but a regular expression has comments of its own
OWNED: Final = re.compile(r"\|\(\?#vendor-tool\).*?\(\?#/vendor-tool\)")


@dataclass(frozen=True, slots=True)
class Exclude:
    """The `exclude` as the user wrote it: the expression, and where its text stands."""

    expression: str
    start: int
    end: int
    quote: str  # "'", '"', "" for a plain one, "|" for a block


def uses(text: str, name: str) -> bool:  # noqa: ARG001 - the signature of every kind
    """Whether the file configures pre-commit: its name says so."""
    return True


def missing(text: str, name: str, entries: Sequence[str]) -> list[str]:
    """Entries that hooks would touch.

    Raises UsageError where the expression cannot be read.
    """
    found = _find(text)
    if found is None:
        return list(entries)
    try:
        pattern = re.compile(found.expression)
    except re.error as cause:
        raise UsageError(
            f"`exclude` in `{name}` is not a regular expression: {cause}", hint=f"mend `exclude` in `{name}`"
        ) from cause
    return [entry for entry in entries if not all(pattern.search(probe) for probe in probes(entry))]


def apply(text: str, name: str, entries: Sequence[str]) -> str:
    """The configuration with what it lacks, added to the user's own expression where there is one.

    Raises UsageError where that is a block that does not start with `(?x)`: line ends would count in it.
    """
    text = OWNED.sub("", without(text, OWNER))
    lacking = missing(text, name, entries)
    if not lacking:
        return text
    found = _find(text)
    if found is None:
        first = FIRST_KEY.search(text)
        lines = ["exclude: |", "  (?x)^(?:", *_alternatives(lacking), "  )"]
        return insert(text, first.start(), lines, owner=OWNER) if first else append(text, lines, owner=OWNER)
    if found.quote != "|":
        return text[: found.end] + _inline(lacking, found.quote) + text[found.end :]
    if not found.expression.lstrip().startswith("(?x)"):
        raise UsageError(
            f"`exclude` in `{name}` is a block without `(?x)`",
            hint=f"add {_inline(lacking, '')} to the end of `exclude` in `{name}` by hand",
        )
    return insert(text, found.end, ["|^(?:", *_alternatives(lacking), "  )"], owner=OWNER, indent="  ")


def _find(text: str) -> Exclude | None:
    block = BLOCK.search(text)
    if block is not None:
        value = block["value"]
        return Exclude(dedent(value), block.start("value"), block.start("value") + len(value.rstrip()) + 1, "|")
    line = ONE_LINE.search(text)
    if line is None:
        return None
    value, start, end = line["value"], line.start("value"), line.end("value")
    if value[0] == "'":
        return Exclude(value[1:-1].replace("''", "'"), start, end - 1, "'")
    if value[0] == '"':
        return Exclude(value[1:-1].replace("\\\\", "\\").replace('\\"', '"'), start, end - 1, '"')
    return Exclude(value, start, end, "")


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
