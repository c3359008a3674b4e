"""How a git command reaches an upstream: by which name, under which settings, and how long it may take."""

from __future__ import annotations

import os

from vendor_tool.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

NAME: Final = "vendor-tool"  # what an upstream is called where git wants a remote's name
STALL: Final = 30  # seconds without progress before a transfer is given up; `VENDOR_TOOL_TIMEOUT` overrides
OVERALL: Final = 20  # one git command may take this many times the time for a stall


@dataclass(frozen=True, slots=True)
class Command:
    """A git command as it is asked: the name of its folder, its words, and the settings that hold for it alone."""

    folder: str
    arguments: tuple[str, ...]
    config: tuple[tuple[str, str], ...] = ()


def listing(store: str, url: str, limits: Sequence[str]) -> Command:
    """The command that lists an upstream's refs; `limits` of `--heads` and `--tags` keep the list short."""
    return Command(store, ("ls-remote", "--quiet", *limits, NAME), settings(url))


def settings(url: str) -> tuple[tuple[str, str], ...]:
    """The settings under which `NAME` is an upstream's address, and a transfer that stalls is given up."""
    return ((f"remote.{NAME}.url", url), ("http.lowSpeedLimit", "1"), ("http.lowSpeedTime", str(stall())))


def stall() -> int:
    """Seconds without progress before a transfer is given up."""
    given = os.environ.get("VENDOR_TOOL_TIMEOUT", "")
    return int(given) if given.isdecimal() and int(given) > 0 else STALL


def patience() -> int:
    """Seconds after which one git command is given up, whatever it is doing."""
    return stall() * OVERALL
