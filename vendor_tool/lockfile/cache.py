"""A parsed copy of the lock, keyed by the digest of its bytes: a second run need not load yaml.

The copy lies in the user's cache folder, is rebuilt from the lock whenever it does not read, and never decides
anything by itself: another lock has another key.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from vendor_tool import __version__
from vendor_tool.lockfile.nodes import Node

FORMAT = 2


def copy_path(cache: Path, data: bytes) -> Path:
    """Where the copy of these bytes lies."""
    key = hashlib.sha256(f"{FORMAT}:{__version__}:".encode() + data).hexdigest()
    return cache / "parsed" / f"{key[:40]}.json"


def load(path: Path) -> dict[str, Any] | None:
    """The copy, or None where there is none that reads."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def save(path: Path, content: dict[str, Any]) -> None:
    """Write the copy whole or not at all; a cache that cannot be written is no failure."""
    import tempfile

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(json.dumps(content, separators=(",", ":")))  # `dump` is several times as slow
        Path(temporary).replace(path)
    except OSError:
        return


def to_json(node: Node) -> list[Any]:
    """A node as lists; records stay in the lock, from which they are read as fast."""
    if node.kind == "rows":
        return ["text", "", "null", *node[3:]]
    value: Any = node.value
    if node.kind == "map":
        value = [[to_json(key), to_json(item)] for key, item in node.pairs()]
    elif node.kind == "list":
        value = [to_json(item) for item in node.items()]
    return [node.kind, value, *node[2:]]


def from_json(raw: list[Any]) -> Node:
    """The reverse of `to_json`."""
    kind, value = raw[0], raw[1]
    if kind == "map":
        value = [(from_json(key), from_json(item)) for key, item in value]
    elif kind == "list":
        value = [from_json(item) for item in value]
    return Node(kind, value, *raw[2:])
