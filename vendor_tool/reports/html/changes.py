"""What was done to upstream's files: rules, then patches, each with its size and where it was told of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from vendor_tool import patch as patches
from vendor_tool.documents import entry
from vendor_tool.errors import UsageError
from vendor_tool.model import Lock, Upstream
from vendor_tool.patch import FileDiff, Patch
from vendor_tool.reports.html.dossier import Dossier
from vendor_tool.reports.html.elements import (
    NOTHING,
    Html,
    address,
    code,
    element,
    joined,
    lines,
    listed,
    prose,
    table,
    text,
)
from vendor_tool.values import replace
from vendor_tool.words import count

_HEADS = ("Patch", "What and why", "Files", "Lines", "Author", "Told upstream", "Bug")
_FIELDS: Final = {"Author": ("Author", "From"), "Told upstream": ("Forwarded", "Origin"), "Bug": ("Bug",)}


def changes(upstream: Upstream, dossier: Dossier) -> Html:
    """Rules in their order and patches in theirs; that nothing was changed where there are neither."""
    if not upstream.files:
        return NOTHING
    rules = list(entry.modifications(replace(upstream, patches=()), dossier.lock, {}))
    if not rules and not upstream.patches:
        return element("p", text("Taken as it is: no rule, no patch."))
    rows = [_row(spec.path, dossier.texts) for spec in upstream.patches]
    return joined(
        part
        for part in (
            listed(map(prose, rules)),
            table(f"Patches of {upstream.name}, in the order that they are applied in", _HEADS, rows),
            NOTHING if rows else element("p", text("No patch.")),
        )
        if part
    )


def patched(upstream: Upstream, dossier: Dossier) -> dict[str, list[str]]:
    """Local path to the file names of the patches that change it."""
    found: dict[str, list[str]] = {}
    for spec in upstream.patches:
        one = _parsed(spec.path, dossier.texts)
        for path in sorted(one.paths) if isinstance(one, Patch) else ():
            found.setdefault(path, []).append(spec.path.rpartition("/")[2])
    return found


def size(lock: Lock, texts: Mapping[str, bytes]) -> str:
    """All patches of a lock in words: `2 patches, +10 −3 lines`."""
    found = [_parsed(spec.path, texts) for one in lock.upstreams.values() for spec in one.patches]
    files = [file for one in found if isinstance(one, Patch) for file in one.files]
    return count(len(found), "patch") + (f", {_lines(files)} lines" if files else "")


def _row(path: str, texts: Mapping[str, bytes]) -> Sequence[Html]:
    found = _parsed(path, texts)
    name = code(path)
    if isinstance(found, str):
        return name, prose(found), *[NOTHING] * (len(_HEADS) - 2)
    said = {label: next(filter(None, map(found.head.get, keys)), "") for label, keys in _FIELDS.items()}
    return (
        name,
        _why(found),
        lines(_file(one) for one in found.files),
        element("span", text(_lines(found.files)), class_="short"),
        text(said["Author"]),
        address(said["Told upstream"]),
        address(said["Bug"]),
    )


def _why(found: Patch) -> Html:
    words = found.head.get("Description") or found.head.get("Subject") or entry.description(found.text)
    return lines(map(text, words.splitlines()))


def _file(one: FileDiff) -> Html:
    if one.old and one.new and one.old != one.new:
        return joined([code(one.new), text(" from "), code(one.old)])
    if one.old is None:
        return joined([code(one.new or ""), text(" (new)")])
    return code(one.new) if one.new else joined([code(one.old), text(" (deleted)")])


def _lines(files: Sequence[FileDiff]) -> str:
    signs = [sign for file in files for hunk in file.hunks for sign, _line in hunk.lines]
    return f"+{signs.count('+')} −{signs.count('-')}"


def _parsed(path: str, texts: Mapping[str, bytes]) -> Patch | str:
    """The patch, or why there is none to show."""
    if path not in texts:
        return "the patch file is missing"
    try:
        return patches.parse(path, texts[path])
    except UsageError as problem:
        return f"cannot be read: {problem.message}"


def requirements(upstream: Upstream, dossier: Dossier) -> Iterator[Html]:
    """Tool versions that an entry asks for, and those known to be bad."""
    return map(prose, entry.requirements(upstream, dossier.lock))
