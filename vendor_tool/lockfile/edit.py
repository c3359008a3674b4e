"""Edits of the lock's text by the place of its nodes: every byte that is not meant keeps its place and value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vendor_tool.errors import UsageError
from vendor_tool.lockfile import emit, record
from vendor_tool.lockfile.nodes import Node
from vendor_tool.lockfile.rows import compose
from vendor_tool.model import Resolved


def record_resolved(text: str, name: str, resolved: Resolved) -> str:
    """The lock with one upstream's `revision:` and `resolved:` replaced, and nothing else changed."""
    block = record.layout(resolved)
    block["seal"] = record.seal(block)
    text = set_value(text, ("upstreams", name, "revision"), resolved.revision)
    return set_value(text, ("upstreams", name, "resolved"), block)


def add_upstream(text: str, name: str, entry: Mapping[str, Any]) -> str:
    """The lock with one more upstream, as the last one."""
    return set_value(text, ("upstreams", name), entry)


def set_value(text: str, path: tuple[str, ...], value: Any) -> str:
    """Replace the value under a key path, or add the key as the last one of its map.

    The map that holds the key must be there, or be the last missing step. Keeps the line ends of the file, the
    quotes around a text that is replaced, and a comment behind the key.
    """
    root = compose("vendor.lock.yaml", text)
    edited = _Edit(text, _newline(text))
    node = root
    for depth, key in enumerate(path):
        found = _pair(node, key)
        if found is None:
            return edited.add(node, key, _wrap(value, path[depth + 1 :]), parent_column=_column(root, path[:depth]))
        if depth == len(path) - 1:
            return edited.replace(found, value)
        node = found[1]
        if (node.kind == "text" and node.tag == "null") or (node.kind == "map" and not node.value):
            return edited.replace(found, _wrap(value, path[depth + 1 :]))
    raise UsageError("nothing to set", hint="name a key")


def append_item(text: str, path: tuple[str, ...], item: Any) -> str:
    """The lock with one more item at the end of the list under a key path, which is made where it is missing."""
    found = _find(text, path)
    if found is None or found.kind != "list" or not found.items():
        return set_value(text, path, [item])
    last = found.items()[-1]
    edited = _Edit(text, _newline(text))
    if found.flow:
        return f"{text[: last.end]}, {emit.flow(item)}{text[last.end :]}"
    dash = edited.dash(last)
    end = edited.line_end(last.end)
    pad = text[text.rfind("\n", 0, dash) + 1 : dash]
    before = text[:end].removesuffix("\r")
    return f"{before}{edited.newline}{pad}- {emit.flow(item)}{text[len(before) :] or edited.newline}"


def place_file(text: str, name: str, number: int, to: str) -> str:
    """The lock with another `to:` for the item `number`, from 0, of an upstream's `files:`; a bare path gets one."""
    found = _find(text, ("upstreams", name, "files"))
    assert found is not None
    item = found.items()[number]
    if item.kind == "text":
        return text[: item.start] + emit.flow({"path": item.text, "to": to}) + text[item.end :]
    edited = _Edit(text, _newline(text))
    pair = _pair(item, "to")
    return edited.add(item, "to", to, parent_column=item.column - 1) if pair is None else edited.replace(pair, to)


def remove_item(text: str, path: tuple[str, ...], item: str) -> str:
    """The lock without a text of the list under a key path; the comment on its own line goes with it, no other does.

    Raises UsageError where the list does not hold the text.
    """
    found = _find(text, path)
    items = found.items() if found is not None and found.kind == "list" else []
    at = next((number for number, one in enumerate(items) if one.value == item), None)
    if found is None or at is None:
        raise UsageError(f"`{item}` is not in `{'.'.join(path)}`", hint="mend vendor.lock.yaml")
    if len(items) == 1 and (found.flow or not _comments(text, found)):
        return set_value(text, path, [])
    if found.flow:
        start = items[at - 1].end if at else items[0].start
        return text[:start] + text[items[at].end if at else items[1].start :]
    edited = _Edit(text, _newline(text))
    dash = edited.dash(items[at])
    start = text.rfind("\n", 0, dash) + 1
    rest = text[min(edited.line_end(items[at].end) + 1, len(text)) :]
    if len(items) > 1:
        return text[:start] + rest
    # comments between the key and its only item stay below a list that is empty now
    return f"{text[:start]}{text[start:dash]}[]{edited.newline}{rest}"


def _comments(text: str, found: Node) -> bool:
    """Whether comments stand between the key of a block list and its first item."""
    before = text[: found.items()[0].start]
    return before.rstrip(" -").rpartition(":")[2].strip() != ""


def _find(text: str, path: tuple[str, ...]) -> Node | None:
    node = compose("vendor.lock.yaml", text)
    for key in path:
        pair = _pair(node, key)
        if pair is None:
            return None
        node = pair[1]
    return node


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _wrap(value: Any, keys: tuple[str, ...]) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _pair(node: Node, key: str) -> tuple[Node, Node] | None:
    if node.kind != "map":
        return None
    return next(((k, v) for k, v in node.pairs() if k.value == key), None)


def _column(root: Node, path: tuple[str, ...]) -> int:
    """Column, from 0, of the key that the path ends with; -2 for the root, so that its keys stand at 0."""
    column, node = -2, root
    for key in path:
        found = _pair(node, key)
        if found is None:
            break
        column, node = found[0].column - 1, found[1]
    return column


class _Edit:
    """One text and its line end; offsets are those of the nodes."""

    def __init__(self, text: str, newline: str) -> None:
        self.text = text
        self.newline = newline

    def replace(self, pair: tuple[Node, Node], value: Any) -> str:
        key, old = pair
        if old.kind == "text" and old.tag != "null" and isinstance(value, str):
            return self.text[: old.start] + self._requote(old, value) + self.text[old.end :]
        if self._in_flow(key) or not (isinstance(value, Mapping | list | tuple) and value):
            return self._splice(key, old, emit.flow(value))
        indent = key.column - 1
        lines = emit.block(value, indent + 2)
        return self._splice_block(key, old, lines)

    def _requote(self, old: Node, value: str) -> str:
        quote = self.text[old.start]
        if quote == '"' or (quote == "'" and "'" not in value and "\\" not in value):
            written = emit.scalar(value)
            return written if written.startswith('"') else f"{quote}{value}{quote}"
        return emit.scalar(value)

    def _in_flow(self, key: Node) -> bool:
        """Whether the key stands inside braces: then there is other text before it on its line."""
        line_start = self.text.rfind("\n", 0, key.start) + 1
        before = self.text[line_start : key.start].lstrip("\ufeff")
        return bool(before.strip(" -"))

    def _splice(self, key: Node, old: Node, written: str) -> str:
        start, end = self._span(key, old)
        return f"{self.text[:start]} {written}{self.text[end:]}"

    def _span(self, key: Node, old: Node) -> tuple[int, int]:
        """From behind the key's colon to the end of the old value; comments between the two go with it."""
        colon = self.text.index(":", key.end) + 1
        return colon, max(old.end, colon)

    def _splice_block(self, key: Node, old: Node, lines: list[str]) -> str:
        colon, end = self._span(key, old)
        key_line_end = self.line_end(colon)
        if end <= key_line_end:  # an empty or one-line value: a comment behind it stays behind the key
            tail = self.text[end:key_line_end].rstrip("\r")
            stop = key_line_end
        else:
            tail = self.text[colon:key_line_end].rstrip("\r")
            tail = tail if tail.strip().startswith("#") else ""
            stop = end if self.text[end - 1 : end] == "\n" else self.line_end(end)
        body = self.newline.join(lines)
        after = self.text[stop:]
        if stop > 0 and self.text[stop - 1 : stop] == "\n":
            after = self.newline + after
        elif self.text[stop - 1 : stop] == "\r":
            after = self.text[stop:]
        return f"{self.text[:colon]}{tail.rstrip()}{self.newline}{body}{self._eol(after)}"

    def _eol(self, after: str) -> str:
        """What follows a block: its own line end, in the file's form."""
        if not after:
            return self.newline
        return self.newline + after[1:] if after.startswith("\n") else after

    def dash(self, item: Node) -> int:
        """Offset of the dash that an item of a block list stands behind."""
        return self.text.rindex("-", 0, item.start)

    def line_end(self, offset: int) -> int:
        found = self.text.find("\n", offset)
        return len(self.text) if found < 0 else found

    def add(self, node: Node, key: str, value: Any, *, parent_column: int) -> str:
        if node.kind != "map":
            raise UsageError(f"`{key}` cannot be added: its parent is no mapping", hint="mend vendor.lock.yaml")
        pairs = list(node.pairs())
        if node.flow:
            inner = f"{emit.scalar(key)}: {emit.flow(value)}"
            close = self.text.rindex("}", node.start, node.end)
            head = self.text[:close].rstrip()
            comma = "" if not pairs or head.endswith(",") else ","
            return f"{head}{comma}{' ' if pairs else ''}{inner}{self.text[close:]}"
        indent = pairs[0][0].column - 1 if pairs else parent_column + 2
        lines = emit.block({key: value}, indent)
        record = next((name for name, _ in pairs if name.value == "resolved"), None)
        if record is not None:  # what people own stands above what the tool owns
            at = self.text.rfind("\n", 0, record.start) + 1
            return self.text[:at] + self.newline.join(lines) + self.newline + self.text[at:]
        end = pairs[-1][1].end if pairs else len(self.text)
        at = end if self.text[end - 1 : end] == "\n" else min(self.line_end(end) + 1, len(self.text))
        before = self.text[:at]
        if before and not before.endswith("\n"):
            before += self.newline
        return before + self.newline.join(lines) + self.newline + self.text[at:]


def write_bytes(path: Path, text: str) -> bytes:
    """The bytes of an edited lock, proven to read before anything is written."""
    compose(path.name, text)
    return text.encode("utf-8")
