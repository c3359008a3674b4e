"""Which relative paths may be written to, and which names git may be asked for. Pure."""

import re

from vendor_tool.patterns import pattern

_CONTROL = pattern(r"[\x00-\x1f\x7f]")
_NO_NAME = pattern(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|^[-/.]|//|\.lock$|[/.]$")
_PLAIN = pattern(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)*", re.ASCII)


def unsafe(path: str) -> str | None:
    """Why a relative path is refused, or None: it could leave the project, or mean another file elsewhere."""
    # nearly every path is of this shape, in which nothing can be wrong, and there may be ten thousand of them
    if _PLAIN.fullmatch(path):
        return None
    parts = path.split("/")
    if "\\" in path:
        return "holds a backslash"
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return "is absolute"
    if any(part == ".." for part in parts):
        return "leaves its folder with `..`"
    if any(part in {"", "."} for part in parts):
        return "has an empty part or a `.`"
    if _CONTROL.search(path):
        return "holds a control character"
    if any(part.lower() in {".git", ".vendor-tool"} or part.lower().startswith(".git ") for part in parts):
        return "names a folder that belongs to git or to this tool"
    return None


def revision_name(text: str) -> bool:
    """Whether a text can name a branch, a tag or a commit: nothing that git reads as an option or an expression."""
    return bool(text) and not _NO_NAME.search(text)
