"""How much two texts have in common, whatever stands above them and however they are indented."""

import posixpath
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from vendor_tool import lines
from vendor_tool.transform.header import STYLES

# shares of common lines from which a file counts as a copy: less where a name or a comment says so too
SAID = 0.1
NAMED = 0.25
PART = 0.5
# lines from which on a text is more than what any two files may share
TELLING = 4


def bare(data: bytes, path: str) -> list[bytes]:
    """What is told apart: lines without indentation, without empty ones, and without the comment above the file."""
    marks = STYLES.get(posixpath.splitext(path)[1].lower(), ("#",))
    mark = marks[0].encode()
    found = [line.strip() for line in data.removeprefix(b"\xef\xbb\xbf").splitlines()]
    start = next((number for number, line in enumerate(found) if line and not line.startswith(mark)), len(found))
    return [line for line in found[start:] if line]


def text(data: bytes) -> bool:
    """Whether a patch could hold a change of the file."""
    return b"\0" not in data


class Likeness(NamedTuple):
    """Shares of common lines, 0 to 1, of what `bare` leaves: of the larger text, and of the copy."""

    whole: float
    copy: float

    @property
    def namesake(self) -> bool:
        """Whether a file of the same name is what the copy is of: edited, or left out in parts."""
        return self.whole >= NAMED or self.copy >= PART


def alike(local: bytes, upstream: bytes, path: str) -> Likeness:
    """How much a copy and an upstream file share; nothing for little."""
    ours, theirs = bare(local, path), bare(upstream, path)
    # what two texts share in whatever order is soon counted, and is the most that they can share in order
    common = sum(len(line) * number for line, number in (Counter(ours) & Counter(theirs)).items())
    own, size = sum(map(len, ours)) or 1, max(sum(map(len, ours)), sum(map(len, theirs)), 1)
    if common < SAID * own:
        return Likeness(0.0, 0.0)
    whole = lines.similarity(ours, theirs)
    return Likeness(whole, whole * size / own)


def small(data: bytes, path: str) -> bool:
    """Whether a text says too little for anything that is like it to be where it is from."""
    return text(data) and len(bare(data, path)) < TELLING


def without_header(data: bytes, path: str) -> Sequence[bytes]:
    """The lines below the comment at the top, with their indentation."""
    marks = STYLES.get(posixpath.splitext(path)[1].lower(), ("#",))
    found = [line.rstrip() for line in data.splitlines()]
    mark = marks[0].encode()
    start = next((number for number, line in enumerate(found) if line and not line.startswith(mark)), 0)
    return found[start:]


def shared(local: bytes, upstream: bytes) -> bool:
    """Whether at least half of the upstream file's definitions are in the copy under their names."""
    from vendor_tool.transform.symbols import outline

    try:
        ours, theirs = outline(local), outline(upstream)
    except (SyntaxError, ValueError):
        return False
    return bool(theirs) and 2 * len(ours.keys() & theirs.keys()) >= len(theirs)
