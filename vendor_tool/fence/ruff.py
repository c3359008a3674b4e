"""ruff: `extend-exclude`, with `force-exclude` lest files that a hook names explicitly are formatted anyway."""

from collections.abc import Mapping, Sequence
from typing import Final

from vendor_tool.fence import reading, toml
from vendor_tool.fence.block import covered, globbed, without

CONFIGS: Final = (".ruff.toml", "ruff.toml", "pyproject.toml")
PYTHON_ONLY: Final = True


def uses(text: str, name: str) -> bool:
    """Whether the file configures ruff."""
    return name != "pyproject.toml" or any(s.name[:2] == ("tool", "ruff") for s in toml.statements(text))


def missing(text: str, name: str, entries: Sequence[str]) -> list[str]:
    """What the configuration lacks: entries that ruff would touch, and the switch."""
    table = reading.table(reading.toml(text, name), _table(name))
    lacking = [entry for entry in entries if not covered(entry, _patterns(table))]
    return lacking if table.get("force-exclude") is True else [*lacking, "force-exclude"]


def patterns(text: str, name: str) -> list[str]:
    """What the configuration leaves out."""
    return _patterns(reading.table(reading.toml(text, name), _table(name)))


def rest(text: str, name: str) -> object:
    """What the configuration says besides."""
    return reading.rest(reading.toml(text, name), _table(name), ("extend-exclude", "force-exclude"))


def apply(text: str, name: str, entries: Sequence[str]) -> str:
    """The configuration with what it lacks between the tool's marks."""
    lacking = missing(without(text, "ruff"), name, entries)
    items = [_pattern(entry) for entry in lacking if entry != "force-exclude"]
    flags = ["force-exclude"] if "force-exclude" in lacking else []
    hint = f"put {', '.join(items)} into `extend-exclude` of ruff by hand"
    return toml.ensure(text, _table(name), arrays={"extend-exclude": items}, flags=flags, owner="ruff", hint=hint)


def _patterns(table: Mapping[str, object]) -> list[str]:
    return [*reading.strings(table.get("exclude")), *reading.strings(table.get("extend-exclude"))]


def _pattern(entry: str) -> str:
    return globbed(entry, "").rstrip("/")


def _table(name: str) -> toml.Name:
    return ("tool", "ruff") if name == "pyproject.toml" else ()
