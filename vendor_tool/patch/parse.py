"""Reads a patch file. What is not certain is refused with the line that is at fault."""

import posixpath
import re
from collections.abc import Mapping

from vendor_tool.errors import UsageError
from vendor_tool.lines import split
from vendor_tool.patch.head import dep3_parse
from vendor_tool.patterns import pattern
from vendor_tool.values import dataclass

_HUNK = pattern(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(?: ?(.*))?", re.DOTALL)
# empty lines that an editor may have cut off; more are a sign of something else
MOST_CUT = 20
_GIT = b"diff --git "
_NO_NEWLINE = b"\\ "
_ESCAPES = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}


@dataclass(frozen=True, slots=True)
class Hunk:
    r"""One block of a diff. `lines` are (" ", "-" or "+", the line with its `\n` where it has one)."""

    old_start: int  # counted from 1 as in the file; for an empty side the line before
    new_start: int
    heading: bytes
    lines: tuple[tuple[str, bytes], ...]
    at: int  # line in the patch file, from 1
    cut: int = 0  # empty lines of context that were missing at the file's end and are assumed

    @property
    def old(self) -> list[bytes]:
        """The lines that must stand in the file."""
        return [line for op, line in self.lines if op != "+"]

    @property
    def new(self) -> list[bytes]:
        """The lines that take their place."""
        return [line for op, line in self.lines if op != "-"]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What a patch does to one file. `old` is None for a new file, `new` is None for a deleted one."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]
    at: int  # line in the patch file, from 1
    executable: bool | None = None  # the mode that the patch sets; None leaves it
    old_blob: str | None = None  # git id, maybe short, of the file that the patch was made from


@dataclass(frozen=True, slots=True)
class Patch:
    """One parsed patch file."""

    path: str  # local path of the patch file
    head: Mapping[str, str]  # DEP-3 fields in their order
    files: tuple[FileDiff, ...]
    preamble: bytes = b""  # everything above the first diff, as it stands
    text: bytes = b""  # the whole file

    @property
    def paths(self) -> frozenset[str]:
        """Every local path that the patch names."""
        return frozenset(path for file in self.files for path in (file.old, file.new) if path)


def parse(path: str, text: bytes) -> Patch:
    """Read the patch file at the local path `path`.

    Raises UsageError with `path:LINE` for anything malformed, binary or outside the project. Of what white-space
    fixers do, two things are taken: an empty context line without its space, and empty context lines cut off at the
    file's end, which `apply` then demands to be empty in the file.
    """
    reader = _Reader(path, split(text))
    while not reader.done() and not _starts_diff(reader):
        reader.at += 1
    preamble = b"".join(reader.lines[: reader.at])
    if reader.done():
        raise UsageError(f"`{path}` holds no diff", hint="a patch file is a DEP-3 head and the output of `git diff`")
    try:
        head = dep3_parse(preamble.decode())
    except UnicodeDecodeError as error:
        line = preamble[: error.start].count(b"\n") + 1
        raise UsageError(f"{path}:{line}: the head is not UTF-8", hint="save the head in UTF-8") from None
    files: list[FileDiff] = []
    while not reader.done():
        files.append(_file(reader))
        _skip_trailer(reader)
    _check_twice(path, files)
    return Patch(path, head, tuple(files), preamble, text)


class _Reader:
    """Lines of a patch file and how far they were read."""

    def __init__(self, path: str, lines: list[bytes]) -> None:
        self.path = path
        self.lines = lines
        self.at = 0

    def done(self) -> bool:
        return self.at >= len(self.lines)

    @property
    def line(self) -> bytes:
        """The current line without its end; empty past the last."""
        return b"" if self.done() else self.lines[self.at].rstrip(b"\r\n")

    def starts(self, prefix: bytes) -> bool:
        return not self.done() and self.lines[self.at].startswith(prefix)

    def fail(self, message: str, hint: str | None = None, *, at: int | None = None) -> UsageError:
        return UsageError(f"{self.path}:{(self.at if at is None else at) + 1}: {message}", hint=hint)


def _starts_diff(reader: _Reader) -> bool:
    if reader.starts(_GIT):
        return True
    after = reader.lines[reader.at + 1 : reader.at + 3]
    return reader.starts(b"--- ") and len(after) == 2 and after[0].startswith(b"+++ ") and after[1].startswith(b"@@ -")


def _skip_trailer(reader: _Reader) -> None:
    """Step over what mail programs and editors put below a diff: empty lines and a signature."""
    while not reader.done() and not reader.line.strip():
        reader.at += 1
    if reader.done() or _starts_diff(reader):
        return
    if reader.line.rstrip() == b"--":
        while not reader.done() and not _starts_diff(reader):
            reader.at += 1
        return
    if reader.starts(b"@@"):
        raise reader.fail("a hunk stands apart from its file", "take out the empty lines above it")
    raise reader.fail(
        "neither a hunk nor the start of a file's diff",
        "the line counts in the `@@` line above may be wrong; make the patch again with `git diff`",
    )


# ---- one file ---------------------------------------------------------------------------------------------


def _file(reader: _Reader) -> FileDiff:
    at = reader.at
    facts: dict[str, str] = {}
    if reader.starts(_GIT):
        both = reader.line[len(_GIT) :]
        reader.at += 1
        facts = _extended(reader)
        name = _git_name(both)
        if name:
            both_name = _name(reader, name, prefix=True)
            facts = {"old": both_name, "new": both_name} | facts
    if reader.starts(b"--- "):
        _plain_names(reader, facts)
    old = None if "new file mode" in facts else facts.get("old")
    new = None if "deleted file mode" in facts else facts.get("new")
    if old is None and new is None:
        raise reader.fail("names no file", "a file's diff starts with `--- a/PATH` and `+++ b/PATH`", at=at)
    hunks = _hunks(reader, gone=new is None, fresh=old is None)
    executable = _mode(reader, facts, at)
    if not hunks and old == new and executable is None:
        raise reader.fail(f"changes nothing in `{new}`", "take its lines out of the patch", at=at)
    return FileDiff(old, new, hunks, at + 1, executable, facts.get("index"))


def _extended(reader: _Reader) -> dict[str, str]:
    """Git's extended header lines: modes, renames and ids."""
    facts: dict[str, str] = {}
    while not reader.done():
        line = reader.line
        if line.startswith((b"GIT binary patch", b"Binary files ")):
            raise reader.fail("a binary change", "patches hold text only; vendor the file from another revision")
        if line.startswith((b"copy from ", b"copy to ")):
            raise reader.fail("a copied file", "make the patch again with `git diff --no-renames`")
        if line.startswith((b"rename from ", b"rename to ")):
            side = "old" if line.startswith(b"rename from ") else "new"
            facts[side] = _name(reader, line.split(b" ", 2)[2], prefix=False)
            facts["renamed"] = "yes"
        elif line.startswith((b"new file mode ", b"deleted file mode ", b"old mode ", b"new mode ")):
            key, _, mode = line.rpartition(b" ")
            facts[key.decode()] = mode.decode("ascii", "replace")
        elif line.startswith(b"index "):
            facts["index"] = line[6:].split(b"..")[0].decode("ascii", "replace")
        elif not line.startswith((b"similarity index ", b"dissimilarity index ")):
            break
        reader.at += 1
    return facts


def _plain_names(reader: _Reader, facts: dict[str, str]) -> None:
    for side, prefix, absent in (("old", b"--- ", "new file mode"), ("new", b"+++ ", "deleted file mode")):
        if not reader.starts(prefix):
            raise reader.fail(f"expected a line that starts with `{prefix.decode()}`")
        # git puts a tab after names with spaces, diff puts a time there
        raw = reader.line[4:].split(b"\t")[0].rstrip()
        if raw == b"/dev/null":
            facts.setdefault(absent, "100644")
        else:
            name = _name(reader, raw, prefix=True)
            if facts.setdefault(side, name) != name:
                raise reader.fail(f"`{name}` is not the file of the lines above, `{facts[side]}`")
        reader.at += 1
    one_sided = "new file mode" in facts or "deleted file mode" in facts
    if not one_sided and facts["old"] != facts["new"] and "renamed" not in facts:
        raise reader.fail(
            f"`{facts['old']}` becomes `{facts['new']}` without `rename from` and `rename to` lines",
            "make the patch with `git diff`",
            at=reader.at - 1,
        )


def _git_name(both: bytes) -> bytes | None:
    """`a/NAME` out of `a/NAME b/NAME` where both halves say the same; otherwise later lines must tell."""
    half, other = both[: len(both) // 2], both[len(both) // 2 :]
    same = half.replace(b"a/", b"b/", 1) == other[1:] and other.startswith(b" ")
    return half if same else None


def _name(reader: _Reader, raw: bytes, *, prefix: bool) -> str:
    data = _unquote(raw) if raw.startswith(b'"') else raw
    if prefix:
        if data[:2] not in (b"a/", b"b/"):
            raise reader.fail(
                f"`{data.decode(errors='replace')}` lacks the `a/` or `b/` in front",
                "paths start at the lockfile's folder: `a/vendored/...`; make the patch with `git diff`",
            )
        data = data[2:]
    try:
        name = data.decode()
    except UnicodeDecodeError:
        raise reader.fail("a file name that is not UTF-8") from None
    parts = name.split("/")
    if not name or name.startswith("/") or posixpath.normpath(name) != name or ".." in parts or "\\" in name:
        raise reader.fail(f"`{name}` is not a path inside the project")
    if "\0" in name or ".git" in (part.lower() for part in parts):
        raise reader.fail(f"`{name!r}` is not a path that a patch may name".replace("`'", "`").replace("'`", "`"))
    return name


def _unquote(raw: bytes) -> bytes:
    """Undo git's quoting of names: C escapes and three octal digits."""

    def byte(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([_ESCAPES[code] if code in _ESCAPES else int(code, 8) & 255])

    return re.sub(rb'\\([abtnvfr"\\]|[0-7]{3})', byte, raw.strip(b'"') if raw.endswith(b'"') else raw[1:])


def _mode(reader: _Reader, facts: dict[str, str], at: int) -> bool | None:
    for key in ("new file mode", "deleted file mode", "old mode", "new mode"):
        if facts.get(key, "100644") not in ("100644", "100755"):
            raise reader.fail(f"file mode {facts[key]}: not a plain file", "symbolic links are not vendored", at=at)
    mode = facts.get("new file mode") or facts.get("new mode")
    return None if mode is None else mode == "100755"


def _check_twice(path: str, files: list[FileDiff]) -> None:
    seen: dict[str, int] = {}
    for file in files:
        for name in {file.old, file.new} - {None}:
            if name in seen:
                raise UsageError(
                    f"{path}:{file.at}: `{name}` again, first at line {seen[name]}", hint="one diff for each file"
                )
            seen[str(name)] = file.at


# ---- hunks ------------------------------------------------------------------------------------------------


def _hunks(reader: _Reader, *, gone: bool, fresh: bool) -> tuple[Hunk, ...]:
    hunks: list[Hunk] = []
    while reader.starts(b"@@"):
        at = reader.at
        hunk = _hunk(reader)
        ops = {op for op, _ in hunk.lines}
        if (fresh and ops != {"+"}) or (gone and ops != {"-"}) or ((gone or fresh) and hunks):
            raise reader.fail("a new or deleted file has one hunk, all of one sign", at=at)
        if ops == {" "}:
            raise reader.fail("a hunk that changes nothing", "take it out of the patch", at=at)
        hunks.append(hunk)
    return tuple(hunks)


def _hunk(reader: _Reader) -> Hunk:
    at = reader.at
    match = _HUNK.fullmatch(reader.line)
    if not match:
        raise reader.fail("a hunk starts with `@@ -LINE,COUNT +LINE,COUNT @@`")
    reader.at += 1
    old = int(match[2]) if match[2] else 1
    new = int(match[4]) if match[4] else 1
    lines: list[tuple[str, bytes]] = []
    cut = 0
    while old or new:
        if reader.done():
            # Only the end of a file is trimmed by editors, and only of empty lines: the count must come out even.
            if old != new or not lines or old > MOST_CUT:
                raise reader.fail(
                    f"the patch ends in the middle of a hunk: {old} old and {new} new lines missing", at=at
                )
            cut = old
            lines += [(" ", b"\n")] * cut
            break
        op, line = _line(reader, old, new)
        lines.append((op, line))
        old -= op != "+"
        new -= op != "-"
        if old < 0 or new < 0:
            raise reader.fail("more lines than its `@@` line says", "correct the counts or use `git diff`", at=at)
        reader.at += 1
        if reader.starts(_NO_NEWLINE):
            lines[-1] = (op, line[:-1])
            reader.at += 1
    _check_ends(reader, lines, at)
    return Hunk(int(match[1]), int(match[3]), (match[5] or b"").rstrip(), tuple(lines), at + 1, cut)


def _line(reader: _Reader, old: int, new: int) -> tuple[str, bytes]:
    raw = reader.lines[reader.at]
    raw = raw if raw.endswith(b"\n") else raw + b"\n"
    if raw in (b"\n", b"\r\n"):
        return " ", raw
    op = chr(raw[0])
    if op in " -+":
        return op, raw[1:]
    raise reader.fail(
        f"expected {old} more old and {new} more new lines of the hunk; each starts with a space, `-` or `+`",
        "an editor may have wrapped or trimmed the line; make the patch again with `git diff`",
    )


def _check_ends(reader: _Reader, lines: list[tuple[str, bytes]], at: int) -> None:
    """A line without a newline is the last of its side."""
    for side in ("-", "+"):
        text = [line for op, line in lines if op in (" ", side)]
        if any(not line.endswith(b"\n") for line in text[:-1]):
            raise reader.fail("`\\ No newline at end of file` in the middle of a hunk", at=at)
