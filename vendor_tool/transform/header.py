"""`header:` a comment block above each file, in the comment style that the file's name asks for."""

from collections.abc import Mapping

from vendor_tool.errors import UsageError
from vendor_tool.model import Change, Context, Header, Source
from vendor_tool.transform import syntax

_HASH, _SLASHES, _STARS, _XML = ("#",), ("//",), ("/*", " *", " */"), ("<!--", "", "-->")

STYLES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys((".py", ".pyi", ".pyx", ".pxd", ".sh", ".bash", ".toml", ".yaml", ".yml", ".cfg", ".cmake"), _HASH),
    **dict.fromkeys((".txt", ".mk", ".r", ".rb", ".pl", ".nix", ".bzl", ".bazel"), _HASH),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".cu", ".cuh", ".inl", ".hip", ".metal"), _SLASHES),
    **dict.fromkeys((".rs", ".go", ".js", ".mjs", ".ts", ".java", ".kt", ".swift", ".proto"), _SLASHES),
    ".css": _STARS,
    **dict.fromkeys((".md", ".html"), _XML),
}
"""Suffix to comment marks: one for each line, or first, middle and last of a block."""


def apply(source: Source, rule: Header, context: Context) -> Change:
    """Puts the block below the byte-order mark, the `#!` line and the coding line.

    A file that starts with a comment of its own is joined by a bare comment mark, so that both stay one block; any
    other by a blank line. Nothing is added where the block is there already.

    Raises UsageError where the file's kind has no known comment style, or its encoding lacks a letter of the text.
    """
    marks = _marks(source, context)
    end = syntax.line_end(source.data).decode()
    block = _encoded(source, end.join(_block(rule.text, marks)))
    start = syntax.prelude(source.data)
    before, rest = source.data[:start], source.data[start:]
    first, *_ = rest.splitlines() or [b""]
    if rest.startswith(block) and rest[len(block) :][:1] in (b"", b"\r", b"\n"):
        return Change(source.data, matched=True)
    joint = b""
    if first.strip():
        joint = marks[0].encode() if len(marks) == 1 and first.lstrip().startswith(marks[0].encode()) else b""
        joint += end.encode()
    return Change(before + block + end.encode() + joint + rest, matched=True)


def _marks(source: Source, context: Context) -> tuple[str, ...]:
    name = source.path.rpartition("/")[2]
    suffix = name[name.rfind(".") :].lower() if "." in name else name
    if (marks := STYLES.get(suffix)) is not None:
        return marks
    if source.data.startswith(b"#!"):
        return _HASH
    raise UsageError(
        f"`{source.path}`: no comment style is known for `{suffix}`, so that it cannot have the header of "
        f"`{context.upstream}`",
        hint="move `header` from the entry's `transforms:` to those of the files that can have one",
    )


def _block(text: str, marks: tuple[str, ...]) -> list[str]:
    lines = [line.rstrip() for line in text.strip("\n").split("\n")]
    if len(marks) == 1:
        return [f"{marks[0]} {line}" if line else marks[0] for line in lines]
    first, middle, last = marks
    inside = [f"{middle} {line}" if middle and line else middle.rstrip() or line for line in lines]
    return [first, *inside, last]


def _encoded(source: Source, block: str) -> bytes:
    encoding = syntax.encoding(source.data) if syntax.is_python(source.path) else "utf-8"
    try:
        return block.encode("utf-8" if encoding == "utf-8-sig" else encoding)
    except (LookupError, UnicodeEncodeError) as problem:
        raise UsageError(
            f"`{source.path}`: its encoding `{encoding}` cannot hold the header: {problem}",
            hint="write the header in letters that the file's own coding line covers",
        ) from None
