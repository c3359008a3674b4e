"""git: `-text`, since a checkout that turns line ends changes bytes that the lock has hashes of."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from vendor_tool.fence.block import append, probes, without

CONFIGS: Final = (".gitattributes",)
PYTHON_ONLY: Final = False
OWNER: Final = "gitattributes"
ON: Final = ("text", "!text")
OFF: Final = ("-text", "binary")


def uses(text: str, name: str) -> bool:  # noqa: ARG001 - the signature of every kind
    """Whether some attribute may change bytes on the way to the disk."""
    return any(word.split("=")[0] in ("text", "eol", "ident", "filter") for word in without(text, OWNER).split())


def missing(text: str, name: str, entries: Sequence[str]) -> list[str]:  # noqa: ARG001 - the signature of every kind
    """Entries for which no line says `-text`, or a later one turns that back: the last line prevails."""
    lines = list(_lines(text))
    return [entry for entry in entries if not _exempt(entry, lines)]


def patterns(text: str, name: str) -> list[str]:  # noqa: ARG001 - the signature of every kind
    """What the file says, line by line."""
    return text.splitlines()


def rest(text: str, name: str) -> object:  # noqa: ARG001 - the signature of every kind
    """Nothing besides: the lines are the configuration."""
    return None


def apply(text: str, name: str, entries: Sequence[str]) -> str:
    """The attributes with the tool's lines at the end, where they prevail."""
    text = without(text, OWNER)
    lines = [f"{_pattern(entry)} -text -whitespace linguist-vendored" for entry in missing(text, name, entries)]
    return append(text, lines, owner=OWNER) if lines else text


def _lines(text: str) -> Iterator[tuple[str, list[str]]]:
    """Pattern and attributes of each line, the pattern as it is written."""
    for line in text.splitlines():
        line = line.strip()
        end = line.find('" ') + 1 if line.startswith('"') else len(line.split(None, 1)[0]) if line else 0
        if end and not line.startswith("#"):
            yield line[:end], line[end:].split()


def _exempt(entry: str, lines: Sequence[tuple[str, list[str]]]) -> bool:
    found = False
    for pattern, attributes in lines:
        words = [word.split("=")[0] for word in attributes]
        if any(word in OFF for word in words):
            found = found or _covers(pattern, entry)
        elif any(word in ON for word in words) and _touches(pattern, entry):
            found = False
    return found


def _covers(pattern: str, entry: str) -> bool:
    return pattern == _pattern(entry) or (pattern.endswith("/**") and entry.startswith(pattern.removesuffix("**")))


def _touches(pattern: str, entry: str) -> bool:
    """Whether a pattern may match a file of the entry; in doubt it does."""
    bare = pattern.strip('"').lstrip("/")
    if "/" in bare:
        folder = bare.split("*")[0]
        return any(fnmatchcase(probe, bare) for probe in probes(entry)) or folder.startswith(entry)
    return entry.endswith("/") or fnmatchcase(entry.rpartition("/")[2], bare)


def _pattern(entry: str) -> str:
    glob = "".join(f"[{c}]" if c in "*?[" else c for c in entry) + ("**" if entry.endswith("/") else "")
    # a space ends a pattern unless the whole is quoted the way C does it
    return '"' + glob.replace("\\", "\\\\").replace('"', '\\"') + '"' if " " in glob or '"' in glob else glob
