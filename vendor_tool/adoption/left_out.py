"""What copies lack of their upstream files: whole functions, classes and main blocks, for a `drop`."""

from vendor_tool.errors import UsageError
from vendor_tool.model import Source
from vendor_tool.transform import select, syntax
from vendor_tool.transform.symbols import outline


def names(upstream: bytes, local: bytes, path: str) -> tuple[str, ...]:
    """Top-level names of the upstream file that the copy has not, sorted; none where one of them is no Python."""
    if not syntax.is_python(path):
        return ()
    try:
        theirs = {name for name, symbol in outline(upstream).items() if symbol.kind != "method"} | {select.MAIN}
        wanted = sorted(theirs)
        gone = select.present(_source(upstream, path), wanted) - select.present(_source(local, path), wanted)
    except (SyntaxError, ValueError, UsageError):
        return ()
    return tuple(sorted(gone)) if len(gone) < len(theirs) else ()


def _source(data: bytes, path: str) -> Source:
    return Source(path, path, "", data)
