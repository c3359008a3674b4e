"""git: `-text`, since a checkout that turns line ends changes bytes that the lock has hashes of."""

from collections.abc import Sequence
from typing import Final

from vendor_tool.fence.block import append, without

CONFIGS: Final = (".gitattributes",)
PYTHON_ONLY: Final = False
OWNER: Final = "gitattributes"


def uses(text: str, name: str) -> bool:  # noqa: ARG001 - the signature of every kind
    """Whether some attribute may change bytes on the way to the disk."""
    return any(word.split("=")[0] in ("text", "eol", "ident", "filter") for word in without(text, OWNER).split())


def missing(text: str, name: str, entries: Sequence[str]) -> list[str]:  # noqa: ARG001 - the signature of every kind
    """Entries without a line of their own that says `-text`."""
    lines = [line.rsplit(None, 3) for line in text.splitlines()]
    exempt = {words[0] for words in lines if "-text" in words[1:]}
    return [entry for entry in entries if _pattern(entry) not in exempt]


def apply(text: str, name: str, entries: Sequence[str]) -> str:
    """The attributes with the tool's lines at the end, where they prevail."""
    text = without(text, OWNER)
    lines = [f"{_pattern(entry)} -text -whitespace linguist-vendored" for entry in missing(text, name, entries)]
    return append(text, lines, owner=OWNER) if lines else text


def _pattern(entry: str) -> str:
    glob = "".join(f"[{c}]" if c in "*?[" else c for c in entry) + ("**" if entry.endswith("/") else "")
    # a space ends a pattern unless the whole is quoted the way C does it
    return '"' + glob.replace("\\", "\\\\").replace('"', '\\"') + '"' if " " in glob or '"' in glob else glob
