"""Renders the difference of two trees as git does, with enough context to fit in one place only."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from vendor_tool.lines import Span, changes, similarity, split
from vendor_tool.model import Blob, Tree
from vendor_tool.patch.apply import HEADING, TOP_LEVEL, candidates, headings
from vendor_tool.patch.head import dep3_head

CONTEXT = 3
# git's own threshold for calling a deleted and a new file one that moved
RENAME = 0.5
_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def render(old: Tree, new: Tree, head: Mapping[str, str] | bytes) -> bytes:
    """The patch file that turns `old` into `new`; empty where they are equal.

    `head` holds the DEP-3 fields, or the head's own bytes to keep. The diff has the format of `git diff` with three
    lines of context, without `index` lines, which change with every upstream revision. Where a block would fit at
    several places and its heading does not tell them apart, it gets more context.
    """
    moved = _renames(old, new)
    parts = []
    for path in sorted({*old, *new}):
        before = old.get(moved.get(path, path))
        after = new.get(path)
        if before == after and path not in moved:
            continue
        if path in moved.values() and after is None:
            continue
        parts.append(_file(moved.get(path, path), before, path, after))
    if not parts:
        return b""
    start = head if isinstance(head, bytes) else dep3_head(head)
    return start + b"".join(parts)


def _renames(old: Tree, new: Tree) -> dict[str, str]:
    """New path to old path of files that moved, best matches first."""
    gone = [path for path in old if path not in new]
    fresh = [path for path in new if path not in old]
    scores = sorted(
        (
            (-similarity(split(old[a].data), split(new[b].data)), a, b)
            for a in gone
            for b in fresh
            if old[a].data and new[b].data
        ),
    )
    moved: dict[str, str] = {}
    for score, a, b in scores:
        if -score >= RENAME and b not in moved and a not in moved.values():
            moved[b] = a
    return moved


def _file(old_path: str, before: Blob | None, new_path: str, after: Blob | None) -> bytes:
    lines = [git_line(old_path, new_path)]
    if before is None and after is not None:
        lines.append(f"new file mode {_mode(after)}")
    elif after is None and before is not None:
        lines.append(f"deleted file mode {_mode(before)}")
    elif before is not None and after is not None and before.executable != after.executable:
        lines += [f"old mode {_mode(before)}", f"new mode {_mode(after)}"]
    old = split(before.data) if before else []
    new = split(after.data) if after else []
    if old_path != new_path:
        lines.append(f"similarity index {int(similarity(old, new) * 100)}%")
        lines += [name_line("rename from ", old_path), name_line("rename to ", new_path)]
    body = b"".join(_hunks(old, new))
    if body:
        lines.append(name_line("--- ", old_path) if before else "--- /dev/null")
        lines.append(name_line("+++ ", new_path) if after else "+++ /dev/null")
    return "".join(line + "\n" for line in lines).encode() + body


def git_line(old_path: str, new_path: str) -> str:
    """The first line of a file's diff, as git writes it."""
    return f"diff --git {_quote('a/' + old_path)} {_quote('b/' + new_path)}"


def name_line(mark: str, path: str) -> str:
    """A line of a file's diff that names it, behind `--- `, `+++ `, `rename from ` or `rename to `."""
    prefix = {"--- ": "a/", "+++ ": "b/"}.get(mark)
    return mark + (_quote(path) if prefix is None else _tabbed(_quote(prefix + path)))


def _mode(blob: Blob) -> str:
    return "100755" if blob.executable else "100644"


def _tabbed(path: str) -> str:
    # a tab ends a name with spaces, or GNU patch would read a time into it
    return path + "\t" if " " in path and not path.startswith('"') else path


def _quote(path: str) -> str:
    data = path.encode()
    if all(32 <= byte < 127 and byte not in b'"\\' for byte in data):
        return path
    return '"' + "".join(_ESCAPES.get(c) or (chr(c) if 32 <= c < 127 else f"\\{c:03o}") for c in data) + '"'


# ---- hunks ------------------------------------------------------------------------------------------------


def _hunks(old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    spans = changes(old, new)
    if not spans:
        return
    context = [CONTEXT] * len(spans)
    while True:
        groups = _groups(spans, context, len(old))
        unclear = [group for group in groups if old and _unclear(group, old)]
        if not unclear:
            break
        for first, last, *_ in unclear:
            for i in range(first, last):
                context[i] += context[i] // 2
    for first, last, top, bottom in groups:
        yield _hunk(old, new, spans[first:last], top, bottom)


def _groups(spans: Sequence[Span], context: Sequence[int], size: int) -> list[tuple[int, int, int, int]]:
    """Spans that share a hunk (first, past the last), and the old lines that it shows (first, past the last)."""
    groups: list[tuple[int, int, int, int]] = []
    for i, (span, around) in enumerate(zip(spans, context, strict=True)):
        top, bottom = max(0, span.old_start - around), min(size, span.old_end + around)
        if groups and top <= groups[-1][3]:
            first, _, upper, lower = groups[-1]
            groups[-1] = (first, i + 1, min(upper, top), max(lower, bottom))
        else:
            groups.append((i, i + 1, top, bottom))
    return groups


def _unclear(group: tuple[int, int, int, int], old: list[bytes]) -> bool:
    """The old lines of the hunk stand elsewhere too, and its heading does not tell the places apart."""
    _, _, top, bottom = group
    heading = _heading(old, top)
    places = (at for at in candidates(old[top:bottom], old) if not heading or heading in headings(old, at))
    return len(list(islice(places, 2))) > 1


def _heading(lines: Sequence[bytes], top: int) -> bytes:
    line = next((lines[i] for i in range(top - 1, -1, -1) if TOP_LEVEL.match(lines[i])), b"")
    return line[:HEADING].rstrip()


def _hunk(old: list[bytes], new: list[bytes], spans: Sequence[Span], top: int, bottom: int) -> bytes:
    new_top = spans[0].new_start - (spans[0].old_start - top)
    new_bottom = spans[-1].new_end + (bottom - spans[-1].old_end)
    heading = _heading(old, top)
    head = f"@@ -{_range(top, bottom)} +{_range(new_top, new_bottom)} @@".encode()
    out = [head + (b" " + heading if heading else b"") + b"\n"]
    at = top
    for span in spans:
        out += [_line(b" ", line) for line in old[at : span.old_start]]
        out += [_line(b"-", line) for line in old[span.old_start : span.old_end]]
        out += [_line(b"+", line) for line in new[span.new_start : span.new_end]]
        at = span.old_end
    out += [_line(b" ", line) for line in old[at:bottom]]
    return b"".join(out)


def _range(start: int, end: int) -> str:
    count = end - start
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _line(op: bytes, line: bytes) -> bytes:
    return op + line if line.endswith(b"\n") else op + line + b"\n\\ No newline at end of file\n"
