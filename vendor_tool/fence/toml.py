"""Just enough TOML to edit arrays of strings and switches in place: no library writes it with its comments kept."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from vendor_tool.errors import UsageError
from vendor_tool.fence.block import append, insert, without
from vendor_tool.values import dataclass

STRING: Final = r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
TOKEN: Final = re.compile(
    rf"(?P<string>{STRING})|(?P<comment>#[^\n]*)|(?P<open>[\[{{])|(?P<close>[\]}}])|\n", re.DOTALL
)
KEY: Final = re.compile(rf"(?:{STRING}|[^=\n#\"'])*", re.DOTALL)
PART: Final = re.compile(rf"{STRING}|[^.\s]+", re.DOTALL)

Name = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """`name = value`, the name with its table's before it; or a table's head, whose value is empty."""

    name: Name
    head: bool
    value: str
    start: int  # of the value; of a head, where the line after it starts
    end: int


def statements(text: str) -> Iterator[Statement]:
    """The heads and assignments of a document that is valid TOML, in order."""
    table: Name = ()
    at = 0
    while (at := _skip(text, at)) < len(text):
        if text[at] == "[":
            line = _end(text, at)
            table = _name(text[at:line].strip("[] \t\r"))
            yield Statement(table, head=True, value="", start=min(line + 1, len(text)), end=line)
            at = line
            continue
        match = KEY.match(text, at)
        assert match is not None  # it matches the empty string too
        start = match.end() + 1
        start += len(text[start:]) - len(text[start:].lstrip(" \t"))
        end = _end(text, start)
        yield Statement((*table, *_name(match[0])), head=False, value=text[start:end], start=start, end=end)
        at = max(end, at + 1)


def _skip(text: str, at: int) -> int:
    match = re.compile(r"(?:[\s\ufeff]|#[^\n]*)*").match(text, at)
    return match.end() if match else at


def _end(text: str, start: int) -> int:
    """Where the value, or the head, at `start` ends: before a comment or newline outside of all brackets."""
    depth = 0
    for token in TOKEN.finditer(text, start):
        depth += (token.lastgroup == "open") - (token.lastgroup == "close")
        if depth == 0 and token.lastgroup in (None, "comment"):
            return start + len(text[start : token.start()].rstrip())
    return start + len(text[start:].rstrip())


def _name(dotted: str) -> Name:
    return tuple(part.strip("\"'") for part in PART.findall(dotted))


def lookup(text: str, name: Name) -> Statement | None:
    """The assignment of `name`, if there is one."""
    return next((s for s in statements(text) if s.name == name and not s.head), None)


def ensure(
    text: str, table: Name, *, arrays: Mapping[str, Sequence[str]], flags: Sequence[str], owner: str, hint: str
) -> str:
    """Set the tool's lines: items in each array, and each flag `true`; all other bytes stay.

    Raises UsageError, with `hint`, where the document spells the table or array in a way that has no room for them.
    """
    text = without(text, owner)
    lines = []
    for flag in flags:
        found = lookup(text, (*table, flag))
        if found is None:
            lines.append(f"{flag} = true")
        else:
            text = text[: found.start] + "true" + text[found.end :]
    for key, items in arrays.items():
        found = lookup(text, (*table, key))
        if found is None and items:
            lines += [f"{key} = [", *(f"  {_quoted(item)}," for item in items), "]"]
        elif found is not None:
            text = _into_array(text, found, items, owner=owner, hint=hint)
    return _into_table(text, table, lines, owner=owner, hint=hint)


def _into_array(text: str, array: Statement, items: Sequence[str], *, owner: str, hint: str) -> str:
    if not items:
        return text
    if not array.value.startswith("["):
        raise UsageError(f"`{'.'.join(array.name)}` is not an array", hint=hint)
    at = array.end - 1
    values = [token for token in TOKEN.finditer(array.value) if token.lastgroup == "string"]
    if values and "," not in re.sub(r"#[^\n]*", "", array.value[values[-1].end() :]):
        comma = array.start + values[-1].end()
        text, at = text[:comma] + "," + text[comma:], at + 1
    return insert(text, at, [f"{_quoted(item)}," for item in items], owner=owner, indent="  ")


def _into_table(text: str, table: Name, lines: Sequence[str], *, owner: str, hint: str) -> str:
    if not lines:
        return text
    found = list(statements(text))
    if not table:
        root = [s for s in found if len(s.name) == 1 and not s.head]
        return insert(text, _next_line(text, root[-1].end) if root else 0, lines, owner=owner)
    head = next((s for s in found if s.head and s.name == table), None)
    if head is not None:
        return insert(text, _next_line(text, head.end), lines, owner=owner)
    if any(s.name[: len(table)] == table and not s.head and not _headed(s, table, found) for s in found):
        raise UsageError(f"`{'.'.join(table)}` is written without a `[{'.'.join(table)}]` line", hint=hint)
    return append(text, [f"[{'.'.join(table)}]", *lines], owner=owner)


def _headed(statement: Statement, table: Name, found: Sequence[Statement]) -> bool:
    """Whether the statement stands in a table below, as `[tool.ruff.lint]` is below `tool.ruff`."""
    heads = [s for s in found if s.head and s.end <= statement.start]
    return bool(heads) and heads[-1].name[: len(table)] == table


def _next_line(text: str, at: int) -> int:
    newline = text.find("\n", at)
    return len(text) if newline < 0 else newline + 1


def _quoted(item: str) -> str:
    return '"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"'
