"""Why an address did not give what was asked for, as a value, and how the user is told."""

from collections.abc import Sequence
from typing import Final, Literal

from vendor_tool.errors import GoneError, UpstreamError
from vendor_tool.model import Upstream
from vendor_tool.values import dataclass

Kind = Literal["foreign", "denied", "broken", "gone", "refused", "busy", "unreachable", "cut"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """What one address answered instead."""

    url: str  # fit to be shown
    kind: Kind
    lines: tuple[str, ...]  # the last words of git or of the server, without credentials


def unavailable(
    upstream: Upstream, what: str, troubles: Sequence[Trouble], further: Sequence[Trouble] = ()
) -> UpstreamError:
    """The error for `what` no address gave: where it was looked for, what was answered, and what to do.

    A GoneError where every address says that it does not hold it. `further` are those of archives: they are told, and
    do not decide what to do.
    """
    lines = [f"upstream `{upstream.name}`: {what} could not be fetched"]
    for trouble in (*troubles, *further):
        lines += [f"  {trouble.url}: {FACTS[trouble.kind]}", *(f"    {line}" for line in trouble.lines)]
    kinds = [trouble.kind for trouble in troubles]
    worst: Kind = next((kind for kind in HINTS if kind in kinds), "cut")
    kind = GoneError if set(kinds) == {"gone"} else UpstreamError
    return kind("\n".join(lines), hint=HINTS[worst].format(name=upstream.name))


def offline(upstream: Upstream, what: str) -> UpstreamError:
    """The error for what the cache lacks while the network may not be used."""
    return UpstreamError(
        f"upstream `{upstream.name}`: {what} is not in the cache, and `--offline` forbids to fetch",
        hint=f"run `vendor-tool sync {upstream.name}` without `--offline` once",
    )


FACTS: Final[dict[Kind, str]] = {
    "foreign": "this repository does not use SHA-1 ids, which the lockfile needs",
    "denied": "this server refuses access",
    "broken": "this server's copy is damaged",
    "gone": "this server does not hold it (any more)",
    "refused": "this server does not give commits by their id",
    "busy": "this server is busy, or asks to wait longer than is sensible",
    "unreachable": "this server cannot be reached",
    "cut": "the transfer broke off",
}

# in this order: the first that applies is told
HINTS: Final[dict[Kind, str]] = {
    "foreign": "vendor from a SHA-1 repository of the same project: name it as `url` of `{name}`",
    "denied": "check the address and your access to it (`git ls-remote` with the same address must work)",
    "gone": "the history may have been rewritten, or the branch deleted; nothing else was taken in its place: name a "
    "mirror or fork that still has the commit under `mirrors` of `{name}`, or move on: `vendor-tool sync {name}@REV`",
    "broken": "tell the people who run the server, or name a mirror under `mirrors` of `{name}`",
    "refused": "name a mirror that allows it under `mirrors` of `{name}`",
    "busy": "try again later, or name a mirror under `mirrors` of `{name}`",
    "unreachable": "check the network and proxy settings; with a filled cache `vendor-tool sync --offline` works "
    "without either",
    "cut": "run the same command again: nothing half-fetched was kept",
}
