"""What is installed beside this program, told without importing it."""

from __future__ import annotations

from collections.abc import Iterable


def at_hand(names: Iterable[str]) -> bool:
    """Whether something installed here holds one of these dotted names."""
    return any(_found(name.partition(".")[0]) for name in names)


def _found(module: str) -> bool:
    import importlib.util

    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def versions(names: Iterable[str]) -> dict[str, str]:
    """The versions of those of the distributions that are installed."""
    found: dict[str, str] = {}
    for name in names:
        from importlib import metadata  # loads much, and most locks ask for none

        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
