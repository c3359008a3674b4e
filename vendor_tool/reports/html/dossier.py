"""What the page is made of: the lock, and what was read of the project's files."""

from collections.abc import Mapping, Sequence

from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.model import Lock, Upstream
from vendor_tool.values import dataclass, field


@dataclass(frozen=True, slots=True)
class Dossier:
    """One project as the page shows it."""

    lock: Lock
    digest: str  # sha256 of the lockfile
    texts: Mapping[str, bytes]  # local path to content: patches, stand-ins, licence texts; what is gone is left out
    hashes: Mapping[str, Mapping[str, str | None]]  # upstream -> what its evidence rests on, as it is on the disk
    findings: Mapping[str, Sequence[Finding]] = field(default_factory=dict)  # by the command that finds them
    rules: Mapping[str, RuleInfo] = field(default_factory=dict)
    unread: int = 0  # upstream files that no rule could compare with, since the cache lacks them

    @property
    def upstreams(self) -> list[Upstream]:
        """The entries by name."""
        return [one for _name, one in sorted(self.lock.upstreams.items())]
