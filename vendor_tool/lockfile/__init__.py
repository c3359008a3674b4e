"""vendor.lock.yaml: read strictly, edited in place, recorded into; sole user of yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vendor_tool.errors import UsageError
from vendor_tool.lockfile import cache as copies
from vendor_tool.lockfile import record, rows
from vendor_tool.lockfile.nodes import Node
from vendor_tool.lockfile.place import Place
from vendor_tool.lockfile.read import parse
from vendor_tool.model import Lock, Resolved
from vendor_tool.values import replace

NAME = "vendor.lock.yaml"


def load(path: Path, cache: Path | None = None) -> Lock:
    """Read a lock. `cache` holds parsed copies.

    Raises UsageError with `NAME:LINE:COLUMN`, the key path and a hint for everything that is not as
    `docs/reference/lockfile.md` says.
    """
    return parse_bytes(path, read_bytes(path), cache)


def parse_bytes(path: Path, data: bytes, cache: Path | None = None) -> Lock:
    """A Lock from the bytes that a lock has or will have. Raises UsageError as `load` does."""
    if cache is None:
        return parse_text(path, decode(path, data))[0]
    copy = copies.copy_path(cache, data)
    content = copies.load(copy)
    if content is not None and (found := _from_copy(path, content, data)) is not None:
        return found
    lock, root = parse_text(path, decode(path, data))
    copies.save(copy, _to_copy(lock, root))
    return lock


def read_bytes(path: Path) -> bytes:
    """The bytes of a lock; UsageError where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UsageError(
            f"no `{path.name}` in `{path.parent}`",
            hint="start one with `vendor-tool init`, or name another with `--lock FILE`",
        ) from None
    except (IsADirectoryError, PermissionError) as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror}", hint="name a file with `--lock FILE`") from None


def decode(path: Path, data: bytes) -> str:
    """The text of a lock; a byte order mark stays as its first character."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path.name}:{line}:1: not UTF-8", hint="save the lock as UTF-8") from None


def parse_text(path: Path, text: str) -> tuple[Lock, Node]:
    """A Lock and its root node from text."""
    root = rows.compose(path.name, text)

    def resolved(_name: str, place: Place) -> Resolved | None:
        found = record.read(place)
        return replace(found, sealed=record.seal(record.layout(found)) == found.seal) if found else None

    return parse(path, root, resolved), root


def _to_copy(lock: Lock, root: Node) -> dict[str, Any]:
    seals = {name: one.resolved.sealed for name, one in lock.upstreams.items() if one.resolved}
    return {"root": copies.to_json(root), "seals": seals}


def _from_copy(path: Path, content: dict[str, Any], data: bytes) -> Lock | None:
    """The Lock of a parsed copy; None where the copy does not have the shape that this program writes."""

    def resolved(name: str, place: Place) -> Resolved | None:
        found = record.read(place)
        return replace(found, sealed=content["seals"][name]) if found else None

    try:
        root = rows.put_back(copies.from_json(content["root"]), rows.find(data.decode()))
        return parse(path, root, resolved) if root else None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, AssertionError):
        return None
