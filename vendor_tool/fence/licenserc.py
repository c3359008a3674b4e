"""Copyright hooks that read `.licenserc.yaml`: `paths-ignore`, so that nobody stamps their line on others' code."""

import re
from collections.abc import Sequence
from typing import Final

from vendor_tool.errors import UsageError
from vendor_tool.fence.block import covered, globbed, insert, without

CONFIGS: Final = (".licenserc.yaml",)
PYTHON_ONLY: Final = False
OWNER: Final = "licenserc"
LIST: Final = re.compile(
    r"^(?P<indent>[ ]*)paths-ignore:[ \t]*\n(?P<items>(?:[ ]*- .*(?:\n|\Z)|[ \t]*#.*\n|[ \t]*\n)*)", re.M
)
ITEM: Final = re.compile(r"^(?P<indent>[ ]*)- +(?P<quote>['\"]?)(?P<glob>.*?)(?P=quote)[ \t]*(?:#.*)?$", re.M)


def uses(text: str, name: str) -> bool:  # noqa: ARG001 - the signature of every kind
    """Whether the file configures the check of headers: its name says so."""
    return True


def missing(text: str, name: str, entries: Sequence[str]) -> list[str]:  # noqa: ARG001 - the signature of every kind
    """Entries whose headers the hook would check or write."""
    found = LIST.search(text)
    patterns = [item["glob"] for item in ITEM.finditer(found["items"])] if found else []
    return [entry for entry in entries if not covered(entry, patterns)]


def apply(text: str, name: str, entries: Sequence[str]) -> str:
    """The configuration with what it lacks at the head of the list.

    Raises UsageError where there is no list yet.
    """
    text = without(text, OWNER)
    items = [f"- '{globbed(entry, '**')}'" for entry in missing(text, name, entries)]
    found = LIST.search(text)
    if found is None:
        raise UsageError(
            f"`{name}` has no `paths-ignore`", hint=f"add `paths-ignore:` below `header:` in `{name}`, with an item"
        )
    first = ITEM.search(found["items"])
    indent = first["indent"] if first else found["indent"] + "  "
    return insert(text, found.start("items"), items, owner=OWNER, indent=indent)
