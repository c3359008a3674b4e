"""YAML text as nodes that know their place; the only module that loads yaml.

A node can go through JSON, so that a parsed copy can be kept (`cache.py`) and yaml need not be loaded again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from vendor_tool.errors import UsageError
from vendor_tool.model import At, Recorded

# a lock with 10,000 recorded files has about 120,000 nodes; aliases could make a small file count without end
MAX_NODES = 3_000_000


class Node(NamedTuple):
    """`kind` is "text", "map" or "list"; `value` the text, the pairs of (key node, value node), or the items.

    A list of records of files is of the kind "rows" (`rows.py`); `value` are the records.

    `tag` is what YAML 1.1 makes of an unquoted text: "str", "int", "float", "bool", "null", "timestamp", ...
    `start` and `end` are character offsets into the text; the end of a block collection is where its last leaf ends.
    """

    kind: str
    value: object
    tag: str
    line: int
    column: int
    start: int
    end: int
    flow: bool

    @property
    def at(self) -> At:
        return At(self.line, self.column)

    @property
    def text(self) -> str:
        assert isinstance(self.value, str)
        return self.value

    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """Keys and values of a map, in the order of the file."""
        assert isinstance(self.value, list | tuple)
        yield from self.value

    def items(self) -> list[Node]:
        """Items of a list."""
        assert isinstance(self.value, list | tuple)
        return list(self.value)

    @property
    def records(self) -> tuple[Recorded, ...]:
        """The records of a list of them."""
        assert isinstance(self.value, tuple)
        return self.value

    def get(self, key: str) -> Node | None:
        """Value under a key of a map; None where the key is not there."""
        for name, value in self.pairs():
            if name.value == key:
                return value
        return None


def compose(name: str, text: str, *, strict: bool = True) -> Node:
    """Parse YAML text. Raises UsageError with `name:line:column` for bad syntax.

    A lock may not hold keys that stand twice, merge keys and keys that are no text; other files may: not `strict`.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # yaml drops a byte order mark and counts on without it
    shift = 1 if text.startswith("\ufeff") else 0
    try:
        root = yaml.compose(text[shift:], Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        raise UsageError(f"{place}: not valid YAML: {error.problem or error.context}", hint=f"mend `{name}`") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{name}: not valid YAML: {error}", hint=f"mend `{name}`") from None
    if root is None:
        return Node("map", [], "map", 1, 1, 0, 0, False)
    return _Converter(name, shift, strict=strict).convert(root)


class _Converter:
    """Walks yaml's nodes once; counts them, so that nested aliases end in an error and not in a full memory."""

    def __init__(self, name: str, shift: int, *, strict: bool) -> None:
        self.name = name
        self.strict = strict
        self.shift = shift
        self.count = 0
        self.open: set[int] = set()  # collections that are being walked: an alias to one of them has no end

    def convert(self, node: object) -> Node:
        import yaml

        self.count += 1
        if self.count > MAX_NODES:
            raise UsageError(f"{self.name}: more than {MAX_NODES:,} values", hint="write aliased values out")
        assert isinstance(node, yaml.Node)
        line, column, start = node.start_mark.line + 1, node.start_mark.column + 1, node.start_mark.index + self.shift
        tag = node.tag.rpartition(":")[2]
        if isinstance(node, yaml.ScalarNode):
            return Node("text", node.value, tag, line, column, start, node.end_mark.index + self.shift, False)
        assert isinstance(node, yaml.CollectionNode)
        if id(node) in self.open:
            raise UsageError(f"{self.name}:{line}:{column}: an alias stands in itself", hint="write the value out")
        self.open.add(id(node))
        found = self._collection(node, tag, line, column, start)
        self.open.discard(id(node))
        return found

    def _collection(self, node: Any, tag: str, line: int, column: int, start: int) -> Node:
        import yaml

        flow = bool(node.flow_style)
        if isinstance(node, yaml.SequenceNode):
            items = [self.convert(item) for item in node.value]
            end = node.end_mark.index + self.shift if flow or not items else items[-1].end
            return Node("list", items, tag, line, column, start, end, flow)
        pairs = self._pairs(node.value)
        end = node.end_mark.index + self.shift if flow or not pairs else pairs[-1][1].end
        return Node("map", pairs, tag, line, column, start, end, flow)

    def _pairs(self, raw: list[tuple[object, object]]) -> list[tuple[Node, Node]]:
        pairs: list[tuple[Node, Node]] = []
        seen: dict[str, Node] = {}
        for raw_key, raw_value in raw:
            key = self.convert(raw_key)
            if not self.strict:
                pairs.append((key, self.convert(raw_value)))
                continue
            place = f"{self.name}:{key.line}:{key.column}"
            if key.kind != "text":
                raise UsageError(f"{place}: a key must be plain text", hint="write the key on one line")
            if key.tag == "merge":
                raise UsageError(f"{place}: merge keys (`<<`) are not read", hint="write the merged keys out")
            if key.text in seen:
                raise UsageError(
                    f"{place}: duplicate key `{key.text}`, first on line {seen[key.text].line}",
                    hint="keep one of the two; a merge of two branches may have left both",
                )
            seen[key.text] = key
            pairs.append((key, self.convert(raw_value)))
        return pairs
