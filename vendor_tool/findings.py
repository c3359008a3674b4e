"""What a command reports: one finding, and what the rule behind it stands for."""

from typing import Literal, TypeAlias

from vendor_tool.values import dataclass

Level: TypeAlias = Literal["error", "warning", "note"]
Side: TypeAlias = Literal["local", "record", "upstream", "both"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a command reports."""

    rule: str  # stable id, described in a RULES table
    level: Level
    message: str
    path: str | None = None  # local path
    line: int | None = None
    lock_line: int | None = None
    upstream: str | None = None
    side: Side | None = None  # which side changed
    fix: str | None = None  # the command that mends it
    digest: str | None = None  # of the bytes that it is about, so that other bytes are another finding
    revision: str | None = None  # of the upstream, that `fix` would go to


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """What a finding's id stands for; `docs/reference/findings.md` lists them all."""

    id: str
    level: Level
    title: str
    help: str
