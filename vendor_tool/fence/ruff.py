"""ruff: `extend-exclude`, with `force-exclude` lest files that a hook names explicitly are formatted anyway."""

from collections.abc import Sequence
from typing import Final

from vendor_tool.fence import toml
from vendor_tool.fence.block import covered, globbed, without

CONFIGS: Final = (".ruff.toml", "ruff.toml", "pyproject.toml")
PYTHON_ONLY: Final = True


def uses(text: str, name: str) -> bool:
    """Whether the file configures ruff."""
    return name != "pyproject.toml" or any(s.name[:2] == ("tool", "ruff") for s in toml.statements(text))


def missing(text: str, name: str, entries: Sequence[str]) -> list[str]:
    """What the configuration lacks: entries that ruff would touch, and the switch."""
    table = _table(name)
    patterns: list[str] = []
    for key in ("exclude", "extend-exclude"):
        found = toml.lookup(text, (*table, key))
        patterns += toml.strings(found.value) if found is not None else []
    force = toml.lookup(text, (*table, "force-exclude"))
    lacking = [entry for entry in entries if not covered(entry, patterns)]
    return lacking if force is not None and force.value == "true" else [*lacking, "force-exclude"]


def apply(text: str, name: str, entries: Sequence[str]) -> str:
    """The configuration with what it lacks between the tool's marks."""
    lacking = missing(without(text, "ruff"), name, entries)
    items = [_pattern(entry) for entry in lacking if entry != "force-exclude"]
    flags = ["force-exclude"] if "force-exclude" in lacking else []
    hint = f"put {', '.join(items)} into `extend-exclude` of ruff by hand"
    return toml.ensure(text, _table(name), arrays={"extend-exclude": items}, flags=flags, owner="ruff", hint=hint)


def _pattern(entry: str) -> str:
    return globbed(entry, "").rstrip("/")


def _table(name: str) -> toml.Name:
    return ("tool", "ruff") if name == "pyproject.toml" else ()
