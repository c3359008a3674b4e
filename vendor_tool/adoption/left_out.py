"""What copies lack of their upstream files, whole functions, classes and main blocks: for a `drop` or an `only`."""

import ast
from collections.abc import Iterator
from typing import Literal

from vendor_tool.errors import UsageError
from vendor_tool.model import Source
from vendor_tool.transform import select, syntax
from vendor_tool.transform.symbols import outline

# names left out for each that was kept, from which on the lock says what is kept
LITTLE = 3


def choices(upstream: bytes, local: bytes, path: str) -> Iterator[tuple[Literal["only", "drop"], tuple[str, ...]]]:
    """What may be written into an item of `files:`, the shorter list first; nothing where nothing was left out."""
    gone = _gone(upstream, local, path)
    if not gone:
        return
    kept = _kept(upstream, local, path)
    if kept and LITTLE * len(kept) <= len(gone):
        yield "only", kept
    yield "drop", gone


def _gone(upstream: bytes, local: bytes, path: str) -> tuple[str, ...]:
    """Top-level names of the upstream file that the copy has not, sorted; none where one of them is no Python."""
    if not syntax.is_python(path):
        return ()
    try:
        theirs = {name for name, symbol in outline(upstream).items() if symbol.kind != "method"} | {select.MAIN}
        wanted = sorted(theirs)
        gone = select.present(_source(upstream, path), wanted) - select.present(_source(local, path), wanted)
    except (SyntaxError, ValueError, UsageError):
        return ()
    return tuple(sorted(gone))


def _kept(upstream: bytes, local: bytes, path: str) -> tuple[str, ...]:
    """Top-level names, those of assignments too, that both have; both are Python."""
    bound = {one.id for node in ast.parse(local).body for one in ast.walk(node) if isinstance(one, ast.Name)}
    defined = {name for name, symbol in outline(local).items() if symbol.kind != "method"}
    both = (bound | defined) & select.present(_source(local, path), sorted(bound | defined))
    return tuple(sorted(select.present(_source(upstream, path), sorted(both))))


def _source(data: bytes, path: str) -> Source:
    return Source(path, path, "", data)
