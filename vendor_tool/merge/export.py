"""Turns a patch of the series into a mail for upstream: on pristine bytes, under upstream's paths."""

import posixpath
from collections.abc import Mapping

from vendor_tool import patch as patches
from vendor_tool.errors import ConflictError
from vendor_tool.merge.text import Labels
from vendor_tool.merge.trees import merge_trees
from vendor_tool.model import Blob, Tree
from vendor_tool.patch import Patch

# git am knows a mail by this line; the date in it is fixed by convention
_ENVELOPE = "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001"
# what git am takes for the start of the diff
_DIFF_STARTS = ("---", "diff ", "Index: ", "From ", ">From ", "@@")


def export(patch: Patch, before: Tree, pristine: Tree, mapping: Mapping[str, str]) -> bytes:
    """The change of `patch` as a mail that `git am` applies in the upstream's repository.

    `before` is the tree that the patch applies to (plain, after the patches before it), `pristine` holds upstream's own
    bytes under upstream paths, `mapping` takes local paths to upstream ones. The change is carried over by
    merge(base = before, ours = after the patch, theirs = pristine), which undoes the rules where the patch does not
    touch what they changed. A new file goes to the upstream folder of its local neighbours.

    Raises ConflictError where that is not certain: lines that the rules or an earlier patch changed, names of local
    modules in added lines, a result that is no longer Python.
    """
    after = patches.apply(patch, before)
    places = {path: _place(patch, path, mapping) for path in sorted(patch.paths)}
    was = {places[path]: before[path] for path in places if path in before}
    now = {places[path]: after[path] for path in places if path in after}
    theirs = {path: blob for path, blob in pristine.items() if path in set(places.values())}
    _check_names(patch, mapping)
    moved = {places[f.old]: places[f.new] for f in patch.files if f.old and f.new and f.old != f.new}
    merged = merge_trees(was, now, theirs, Labels(patch.path, "the plain file", "the pristine file"), moved)
    if merged.conflicts:
        conflict = merged.conflicts[0]
        where = f", line {conflict.clashes[0].theirs_lines[0]}" if conflict.clashes else ""
        raise ConflictError(
            f"`{patch.path}` cannot be carried to pristine `{conflict.path}`{where}: "
            "it touches what the rules or an earlier patch changed",
            hint="make the change in a clone of upstream; `vendor-tool patch show` prints the patch",
        )
    for path, blob in merged.tree.items():
        _check_python(patch, path, theirs.get(path), blob)
    diff = patches.render(theirs, merged.tree, b"")
    if not diff:
        raise ConflictError(
            f"`{patch.path}` changes nothing in the pristine files",
            hint="see `vendor-tool patch list`: is it obsolete?",
        )
    return _mail(patch, diff)


def _place(patch: Patch, path: str, mapping: Mapping[str, str]) -> str:
    if path in mapping:
        return mapping[path]
    folder, name = posixpath.split(path)
    homes = {posixpath.dirname(to) for local, to in mapping.items() if posixpath.dirname(local) == folder}
    if len(homes) != 1:
        raise ConflictError(
            f"`{patch.path}` adds `{path}`, whose place upstream is not known",
            hint="put the file beside vendored files of one upstream folder",
        )
    return posixpath.join(homes.pop(), name)


def _check_names(patch: Patch, mapping: Mapping[str, str]) -> None:
    folders = {posixpath.dirname(path).replace("/", ".").encode() for path in mapping} - {b""}
    for file in patch.files:
        for hunk in file.hunks:
            for op, line in hunk.lines:
                name = next((name for name in folders if name in line), None)
                if op == "+" and name:
                    raise ConflictError(
                        f"`{patch.path}` names `{name.decode()}` in `{line.strip().decode(errors='replace')}`, "
                        "which upstream does not have",
                        hint="make the change in a clone of upstream",
                    )


def _check_python(patch: Patch, path: str, before: Blob | None, after: Blob) -> None:
    if path.endswith(".py") and not _parses(after) and (before is None or _parses(before)):
        raise ConflictError(
            f"`{patch.path}` carried to pristine `{path}` gives a file that is not Python",
            hint="make the change in a clone of upstream",
        )


def _parses(blob: Blob) -> bool:
    import ast  # only an export needs it

    try:
        ast.parse(blob.data)
    except (SyntaxError, ValueError):
        return False
    return True


def _mail(patch: Patch, diff: bytes) -> bytes:
    head = {name.lower(): value for name, value in patch.head.items()}
    title, _, body = (head.get("description") or head.get("subject") or patch.path).partition("\n")
    author = (head.get("author") or head.get("from") or "unknown <unknown@example.invalid>").split("\n")[0]
    lines = [_ENVELOPE, f"From: {_header(author)}"]
    if "last-update" in head:
        lines.append(f"Date: {head['last-update']} 00:00:00 +0000")
    subject = title.removeprefix("[PATCH]").strip()
    lines += [f"Subject: {_header('[PATCH] ' + subject)}", "MIME-Version: 1.0"]
    lines += ["Content-Type: text/plain; charset=UTF-8", "Content-Transfer-Encoding: 8bit", ""]
    paragraphs = [" " + line if line.startswith(_DIFF_STARTS) else line for line in body.strip("\n").split("\n")]
    lines += [*paragraphs, ""] if body.strip() else []
    lines += ["---", ""]
    return "\n".join(lines).encode() + diff + b"-- \nvendor-tool\n"


def _header(value: str) -> str:
    if value.isascii():
        return value
    from email.header import Header  # slow to import, and only needed here

    name, bracket, rest = value.partition(" <")
    return Header(name, "utf-8", maxlinelen=10_000).encode() + bracket + rest
