"""A node together with the key path that leads to it: typed reading, with errors that name both."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, NoReturn

from vendor_tool.errors import UsageError
from vendor_tool.lockfile.nodes import Node
from vendor_tool.paths import unsafe
from vendor_tool.patterns import pattern
from vendor_tool.values import dataclass

_CONTROL = pattern(r"[\x00-\x1f\x7f]")
MODULE = pattern(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True, slots=True)
class Place:
    """A node with the key path that leads to it: what errors name."""

    name: str  # of the lockfile
    path: str
    node: Node

    def fail(self, message: str, hint: str) -> NoReturn:
        where = f"{self.name}:{self.node.line}:{self.node.column}"
        raise UsageError(f"{where}: `{self.path}`: {message}" if self.path else f"{where}: {message}", hint=hint)

    def child(self, key: str, node: Node) -> Place:
        return Place(self.name, f"{self.path}.{key}" if self.path else key, node)

    def fields(self, *allowed: str) -> dict[str, Place]:
        """The values of a map by key. UsageError for a value that is no map, and for unknown keys."""
        if self.node.kind != "map":
            self.fail("must be a mapping of keys to values", f"write `{self.path}:` with indented keys below")
        found = {}
        for key, value in self.node.pairs():
            if allowed and key.text not in allowed:
                near = nearest(key.text, allowed)
                Place(self.name, self.path, key).fail(
                    f"unknown key `{key.text}`",
                    f"did you mean `{near}`?" if near else f"known keys: {', '.join(sorted(allowed))}",
                )
            found[key.text] = self.child(key.text, value)
        return found

    def items(self) -> list[Place]:
        if self.node.kind != "list":
            self.fail("must be a list", f"write `{self.path.rpartition('.')[2]}: [...]` or indented `- ` lines")
        return [Place(self.name, f"{self.path}[{n}]", item) for n, item in enumerate(self.node.items())]

    def text(self) -> str:
        """A string. UsageError for what YAML reads as a number, a truth value, a date or nothing."""
        if self.node.kind != "text":
            self.fail("must be text", "write one value on the line")
        if self.node.tag != "str":
            shown = self.node.text or "nothing"
            self.fail(f"`{shown}` reads as {_TAGS.get(self.node.tag, self.node.tag)} in YAML", "put it in quotes")
        return self.node.text

    def line_of_text(self) -> str:
        value = self.text()
        if not value or _CONTROL.search(value):
            self.fail("must be one line of text without control characters", "write it on one line")
        return value

    def boolean(self) -> bool:
        if self.node.kind != "text" or self.node.tag != "bool":
            self.fail("must be `true` or `false`", "write `true` or `false`")
        return self.node.text.lower() in {"true", "yes", "on"}

    def number(self) -> float:
        if self.node.kind != "text" or self.node.tag not in {"int", "float"}:
            self.fail("must be a number", "write a number without quotes")
        return float(self.node.text)

    def texts(self) -> tuple[str, ...]:
        return tuple(item.line_of_text() for item in self.items())

    def mapping_of_text(self) -> dict[str, str]:
        return {key: value.line_of_text() for key, value in self.fields().items()}

    def module(self, *, local: bool = False) -> str:
        """A dotted name; with `local` a dot before it is allowed too. UsageError for anything else."""
        value = self.line_of_text()
        if not MODULE.fullmatch(value.removeprefix(".") if local else value):
            self.fail(f"`{value}` is not a dotted Python name", "write it as in an import, such as `pkg.module`")
        return value

    def local(self, *, empty: bool = False) -> str:
        """A path that stays below the folder it is joined to. UsageError for anything else."""
        value = self.text() if empty else self.line_of_text()
        reason = unsafe(value)
        if reason and not (empty and value in {"", "."}):
            shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in value)
            self.fail(f"path `{shown}` {reason}", "write a path below the folder, with `/` between names")
        return "" if value == "." else value


_TAGS = {"int": "a number", "float": "a number", "bool": "true or false", "null": "nothing", "timestamp": "a date"}


def nearest(word: str, known: tuple[str, ...]) -> str | None:
    import difflib

    return next(iter(difflib.get_close_matches(word, known, 1)), None)


def plain(node: Node) -> Any:
    """A node as dicts, lists and strings; numbers, truth values and null as such."""
    if node.kind == "map":
        return {key.text: plain(value) for key, value in node.pairs()}
    if node.kind == "list":
        return [plain(item) for item in node.items()]
    match node.tag:
        case "int":
            return int(node.text, 0) if not re.fullmatch(r"0\d+", node.text) else node.text
        case "float":
            return float(node.text)
        case "bool":
            return node.text.lower() in {"true", "yes", "on"}
        case "null":
            return None
        case _:
            return node.text


def digest(value: object) -> str:
    """Short digest of plain data, independent of the order of keys and of the layout of the file."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
