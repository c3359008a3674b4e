"""coverage.py: `omit`, so that kernels that no test here runs do not count as uncovered."""

import re
from collections.abc import Sequence
from typing import Final

from vendor_tool.fence import toml
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
    if name == "pyproject.toml":
        found = toml.lookup(text, (*TABLE, "omit"))
        patterns = toml.strings(found.value) if found is not None else []
    else:
        match = _omit(text, SECTIONS[name])
        lines = re.sub(r"^\s*[#;].*$", "", match["value"] + match["more"], flags=re.MULTILINE) if match else ""
        patterns = [part.strip() for part in re.split("[\n,]", lines) if part.strip()]
    return [entry for entry in entries if not covered(entry, patterns)]


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
        return insert(text, match.end("key"), items, owner=OWNER, indent="    ")
    lines = ["omit =", *(f"    {item}" for item in items)] if items else []
    head = re.search(rf"^\[{re.escape(section)}\].*(?:\n|\Z)", text, re.MULTILINE)
    if head is not None:
        return insert(text, head.end(), lines, owner=OWNER)
    return append(text, [f"[{section}]", *lines] if lines else [], owner=OWNER)


def _omit(text: str, section: str) -> re.Match[str] | None:
    """The `omit` of a section: its first line as `key`, with the `value` in it, and the lines that go on as `more`."""
    body = rf"^\[{re.escape(section)}\].*\n(?:(?!\[).*\n)*?"
    return re.search(
        rf"{body}(?P<key>omit[ \t]*[=:](?P<value>.*(?:\n|\Z)))(?P<more>(?:[ \t]+\S.*(?:\n|\Z)|[ \t]*[#;].*\n)*)",
        text,
        re.MULTILINE,
    )
