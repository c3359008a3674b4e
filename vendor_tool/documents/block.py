"""The part of a document that the tool owns, between two marker lines; every byte outside it is somebody else's."""

from vendor_tool.errors import UsageError

BEGIN = "==== begin: written by vendor-tool from vendor.lock.yaml, edits are lost ===="
END = "==== end: written by vendor-tool ===="


def replace(path: str, current: bytes | None, content: str, *, begin: str = BEGIN, end: str = END) -> bytes:
    """The document with the tool's part replaced, or put at its end where it has none yet.

    Empty content takes the part out. Line ends follow the document. Raises UsageError where one of the two marker
    lines is missing or stands twice, for then nobody can tell what is whose.
    """
    before, after = _around(path, current or b"", begin, end)
    if not content:
        return before + after
    newline = b"\r\n" if current and b"\r\n" in current else b"\n"
    if before and not before.endswith((b"\n", b"\r")):
        before += newline
    if before and before.strip() and not before.endswith(newline * 2) and begin.encode() not in (current or b""):
        before += newline
    text = f"{begin}\n{content.rstrip()}\n{end}\n"
    return before + text.encode().replace(b"\n", newline) + after


def _around(path: str, current: bytes, begin: str, end: str) -> tuple[bytes, bytes]:
    lines = current.splitlines(keepends=True)
    first = [number for number, line in enumerate(lines) if line.rstrip() == begin.encode()]
    last = [number for number, line in enumerate(lines) if line.rstrip() == end.encode()]
    if not first and not last:
        return current, b""
    if len(first) != 1 or len(last) != 1 or last[0] < first[0]:
        number = (first or last)[-1] + 1
        raise UsageError(
            f"{path}:{number}: the lines around the part that vendor-tool writes are damaged",
            hint=f"restore `{begin}` and `{end}`, once each, or delete both with all that stands between them",
        )
    return b"".join(lines[: first[0]]), b"".join(lines[last[0] + 1 :])
