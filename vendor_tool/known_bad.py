"""Versions of tools that are wrong together: the lock's own list, and the measured one that ships with the tool.

Nothing here imports a runtime: some of these pairs end the process on import.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from vendor_tool.model import KnownBad, Lock
from vendor_tool.values import dataclass


@dataclass(frozen=True, slots=True)
class Bad:
    """A combination of versions, as PEP 440 ranges by distribution, that is wrong; all of them must match."""

    versions: Mapping[str, str]
    reason: str
    link: str | None = None
    aborts: bool = False  # the process ends on import, and nothing can catch it
    line: int | None = None  # in the lock


@dataclass(frozen=True, slots=True)
class Shipped:
    """The measured matrix that ships with the tool."""

    bad: tuple[Bad, ...]
    releases: Mapping[str, Sequence[str]]  # distribution -> versions that were measured, oldest first
    needs: Mapping[str, Mapping[str, Mapping[str, str]]]  # distribution -> version -> what it asks for


def known_bad(lock: Lock) -> list[Bad]:
    """The lock's own combinations, then those that ship with the tool."""
    return [*(_own(one) for one in lock.known_bad if one.versions), *shipped().bad]


@lru_cache(maxsize=1)
def shipped() -> Shipped:
    """`data/known_bad.json`, read once."""
    # not importlib.resources, which costs more than all of the rest: `check` comes by here on every run
    data = json.loads(Path(__file__).with_name("data").joinpath("known_bad.json").read_text("utf-8"))
    bad = tuple(
        Bad(row["versions"], row["reason"], row.get("link"), aborts=row["effect"] == "abort") for row in data["bad"]
    )
    return Shipped(bad, data["releases"], data["needs"])


def matches(ranges: Mapping[str, str], versions: Mapping[str, str]) -> bool:
    """Whether every named distribution is there in a version of its range. Pre-releases count as their release."""
    if not ranges.keys() <= versions.keys():
        return False
    from packaging.specifiers import SpecifierSet  # most runs of most commands come by without it

    return all(SpecifierSet(wanted).contains(versions[name], prereleases=True) for name, wanted in ranges.items())


def canonical(name: str) -> str:
    """A distribution's name as PEP 503 normalises it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _own(one: KnownBad) -> Bad:
    return Bad({canonical(name): spec for name, spec in one.versions.items()}, one.reason, one.link, line=one.at.line)
