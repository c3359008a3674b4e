"""The same patch for files that stand elsewhere now: its head lines name other paths, its hunks stay what they are."""

from collections.abc import Mapping

from vendor_tool.lines import split
from vendor_tool.patch.parse import FileDiff, Patch, parse
from vendor_tool.patch.render import git_line, name_line
from vendor_tool.patterns import pattern

_NAMES = pattern(rb"--- |\+\+\+ |rename from |rename to |diff --git ")


def moved(patch: Patch, places: Mapping[str, str]) -> Patch:
    """`patch` with every local path of `places` replaced by what it maps to; the same where none is named."""
    if not patch.paths & places.keys():
        return patch
    lines = split(patch.text)
    for index, file in enumerate(patch.files):
        following = [hunk.at for hunk in file.hunks] + [one.at for one in patch.files[index + 1 :]] + [len(lines) + 1]
        for at in range(file.at - 1, following[0] - 1):
            lines[at] = _line(lines[at], file, places)
    return parse(patch.path, b"".join(lines))


def _line(line: bytes, file: FileDiff, places: Mapping[str, str]) -> bytes:
    mark = _NAMES.match(line)
    if mark is None or line[len(mark[0]) :].startswith(b"/dev/null"):
        return line
    old, new = (places.get(path, path) for path in (file.old or file.new or "", file.new or file.old or ""))
    end = b"\r\n" if line.endswith(b"\r\n") else b"\n"
    if mark[0] == b"diff --git ":
        return git_line(old, new).encode() + end
    side = old if mark[0] in (b"--- ", b"rename from ") else new
    return name_line(mark[0].decode(), side).encode() + end
