"""Which comment block stands above a copy that its upstream file has not: the text of a `header` rule."""

import posixpath
from collections import Counter
from collections.abc import Mapping

from vendor_tool import stamp
from vendor_tool.transform import syntax
from vendor_tool.transform.header import STYLES


def header(local: bytes, upstream: bytes, path: str) -> str | None:
    """The text without comment marks; None where there is no such block, or none that the rule could write.

    Where upstream's file begins with a comment of its own, the block ends at the bare mark that stands above it.
    """
    marks = STYLES.get(posixpath.splitext(path)[1].lower(), ())
    if len(marks) != 1:
        return None
    try:
        ours = local[syntax.prelude(local) :].decode("utf-8").splitlines()
        theirs = upstream[syntax.prelude(upstream) :].decode("utf-8").splitlines()
    except UnicodeDecodeError:
        return None
    mark = marks[0]
    end = next((number for number, line in enumerate(ours) if not line.startswith(mark)), len(ours))
    block = ours[:end]
    if theirs and theirs[0].startswith(mark):
        joints = [n for n in range(end - 1) if block[n] == mark and block[n + 1] == theirs[0]]
        if not joints:
            return None
        block = block[: joints[-1]]
    elif end < len(ours) and ours[end].strip():
        return None
    return _text(block, mark)


def _text(block: list[str], mark: str) -> str | None:
    if not block or block[0] == mark or block[-1] == mark:
        return None
    found = []
    for line in block:
        if line != mark and not (line.startswith(f"{mark} ") and line == line.rstrip() and line.isprintable()):
            return None
        found.append(line[len(mark) + 1 :])
    text = "\n".join(found)
    # braces that the rule would fill in are here a text as it stands
    return None if stamp.fields(text) else text


def shared(headers: Mapping[str, str | None]) -> str | None:
    """The header that an entry can give to all of its files: the most frequent one, where no file is without any."""
    if not headers or None in headers.values():
        return None
    counted = Counter(text for text in headers.values() if text is not None)
    return min(counted, key=lambda text: (-counted[text], text))
