"""coverage.py: `omit`, so that kernels that no test here runs do not count as uncovered."""

import re
from collections.abc import Sequence
from typing import Final

from vendor_tool.fence import reading, toml
from vendor_tool.fence.block import append, covered, globbed, insert, without

CONFIGS: Final = (".coveragerc", "setup.cfg", "pyproject.toml")
PYTHON_ONLY: Final = True
SECTIONS: Final = {".coveragerc": "run", "setup.cfg": "coverage:run"}
OWNER: Final = "coverage"
TABLE: Final = ("tool", "coverage", "run")


def uses(text: str, name: str) -> bool:
    """Whether the file configures coverage."""
    if name == "pyproject.toml":
        return any(s.name[:2] == TABLE[:2] for s in toml.statements(text))
    return name == ".coveragerc" or "[coverage:" in text


def missing(text: str, name: str, entries: Sequence[str]) -> list[str]:
    """Entries that the configuration does not omit."""
    left_out = patterns(text, name)
    return [entry for entry in entries if not covered(entry, left_out)]


def patterns(text: str, name: str) -> list[str]:
    """What the configuration leaves out."""
    if name == "pyproject.toml":
        return reading.strings(reading.table(reading.toml(text, name), TABLE).get("omit"))
    omit = reading.ini(text, name).get(SECTIONS[name], {}).get("omit", "")
    return [part.strip() for part in re.split("[\n,]", omit) if part.strip()]


def rest(text: str, name: str) -> object:
    """What the configuration says besides."""
    if name == "pyproject.toml":
        return reading.rest(reading.toml(text, name), TABLE, ("omit",))
    return reading.rest(reading.ini(text, name), (SECTIONS[name],), ("omit",))


def apply(text: str, name: str, entries: Sequence[str]) -> str:
    """The configuration with what it lacks between the tool's marks."""
    plain = without(text, OWNER)
    items = [globbed(entry, "*") for entry in missing(plain, name, entries)]
    if name == "pyproject.toml":
        hint = f"put {', '.join(items)} into `omit` of coverage by hand"
        return toml.ensure(text, TABLE, arrays={"omit": items}, flags=[], owner=OWNER, hint=hint)
    return _into_section(plain, SECTIONS[name], items)


def _into_section(text: str, section: str, items: Sequence[str]) -> str:
    match = _omit(text, section)
    if match is not None:
        return insert(text, match.end("key"), items, owner=OWNER, indent=match["indent"] + "    ")
    lines = ["omit =", *(f"    {item}" for item in items)] if items else []
    head = re.search(rf"^\[{re.escape(section)}\].*(?:\n|\Z)", text, re.MULTILINE)
    if head is not None:
        return insert(text, head.end(), lines, owner=OWNER)
    return append(text, [f"[{section}]", *lines] if lines else [], owner=OWNER)


def _omit(text: str, section: str) -> re.Match[str] | None:
    """The first line of a section's `omit`."""
    body = rf"^\[{re.escape(section)}\].*\n(?:(?!\[).*\n)*?"
    return re.search(rf"{body}(?P<key>(?P<indent>[ \t]*)(?i:omit)[ \t]*[=:].*(?:\n|\Z))", text, re.MULTILINE)
