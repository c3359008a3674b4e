"""Configurations as values, to tell what they say from how they are written; UsageError for what is not valid."""

import sys
from collections.abc import Iterator, Mapping

from vendor_tool.errors import UsageError
from vendor_tool.lockfile import nodes
from vendor_tool.lockfile.nodes import Node


def yaml(text: str, name: str) -> Node:
    """A YAML document, whose top is a map."""
    root = nodes.compose(name, text, strict=False)
    if root.kind != "map":
        raise UsageError(f"`{name}` does not hold keys and values", hint=f"mend `{name}`")
    return root


def under(node: Node, key: str) -> Node | None:
    """The value of a key; of two that are the same the last one, which counts."""
    found = [value for name, value in node.pairs() if name.value == key]
    return found[-1] if found else None


def value(node: Node, *, without: str | None = None) -> object:
    """What a node says, wherever it stands; `without` leaves a key of it out."""
    if node.kind == "text":
        return node.tag, node.text
    if node.kind == "list":
        return [value(item) for item in node.items()]
    return [(value(key), value(item)) for key, item in node.pairs() if without is None or key.value != without]


def toml(text: str, name: str) -> Mapping[str, object]:
    """A TOML document."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found]  # a dependency on Python 3.10 only
    try:
        return dict(tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n")))
    except tomllib.TOMLDecodeError as problem:
        raise UsageError(f"`{name}` is not valid TOML: {problem}", hint=f"mend `{name}`") from None


def table(document: Mapping[str, object], name: tuple[str, ...]) -> Mapping[str, object]:
    """A table of a document; an empty one where it is not there."""
    found: object = document
    for part in name:
        found = found.get(part) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def rest(document: Mapping[str, object], path: tuple[str, ...], keys: tuple[str, ...]) -> Mapping[str, object]:
    """The document without keys of the table at `path`, and without tables that hold nothing."""

    def kept(found: Mapping[str, object], left: tuple[str, ...] | None) -> Iterator[tuple[str, object]]:
        for key, item in found.items():
            if left == () and key in keys:
                continue
            inner = left[1:] if left and left[0] == key else None
            new = dict(kept(item, inner)) if isinstance(item, Mapping) else item
            if new != {}:
                yield key, new

    return dict(kept(document, path))


def strings(found: object) -> list[str]:
    """The texts of an array; none where it is something else."""
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def ini(text: str, name: str) -> Mapping[str, Mapping[str, str]]:
    """Sections of an INI file, and their options."""
    import configparser

    parser = configparser.RawConfigParser()
    try:
        parser.read_string(text.removeprefix("\ufeff"))
    except configparser.Error as problem:
        told = " ".join(str(problem).split())
        raise UsageError(f"`{name}` is not valid: {told}", hint=f"mend `{name}`") from None
    return {section: dict(parser[section]) for section in parser.sections()}
