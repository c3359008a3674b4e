"""What a pin hangs on: the followed branch, the tag that it was asked for by, and whatever else holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from vendor_tool import fetch
from vendor_tool.errors import GoneError, UpstreamError
from vendor_tool.findings import Finding
from vendor_tool.model import Access, Upstream
from vendor_tool.outdated import pins
from vendor_tool.outdated.pins import Standing
from vendor_tool.values import dataclass
from vendor_tool.words import command

if TYPE_CHECKING:
    from vendor_tool.fetch.names import Listing

HEADS = "refs/heads/"
TAGS = "refs/tags/"


@dataclass(frozen=True, slots=True)
class Followed:
    """An upstream's refs, as few as will do."""

    listing: Listing
    whole: bool  # whether it lists every ref
    name: str  # of the ref that the entry follows
    moved: Mapping[str, tuple[str, str | None]]  # tags of the pin that stand for another commit now, or for none

    @property
    def tip(self) -> str | None:
        """What the followed ref stands for; None where it is not there."""
        return self.listing.refs.get(self.name)


def listing(upstream: Upstream, access: Access) -> Followed:
    """Ask for the followed branch, or tag: `branch:` may name either. UpstreamError where nobody answers."""
    tag = upstream.resolved.tag if upstream.resolved else None
    held = [tag] if tag is not None else []
    if upstream.branch is None:
        found = fetch.listing(upstream, access)
        return Followed(found, True, "HEAD", _moved(upstream, held, found))
    name = f"{HEADS}{upstream.branch}"
    found = fetch.listing(upstream, access, [f"{HEADS}*", *(f"{TAGS}{one}" for one in held)])
    if name in found.refs:
        return Followed(found, False, name, _moved(upstream, held, found))
    found = fetch.listing(upstream, access)
    if f"{TAGS}{upstream.branch}" in found.refs:
        name = f"{TAGS}{upstream.branch}"
        held = [*held, upstream.branch]
    return Followed(found, True, name, _moved(upstream, held, found))


def _moved(upstream: Upstream, tags: list[str], found: Listing) -> dict[str, tuple[str, str | None]]:
    return pins.moved_tags(dict.fromkeys(tags, upstream.revision), found.refs)


def standing(upstream: Upstream, found: Followed, access: Access) -> tuple[Standing, tuple[Finding, ...]]:
    """What holds the pin: the followed branch nearly always; only where it does not, everything else is searched."""
    pin = upstream.revision
    if found.tip == pin:
        return Standing("branch", (found.name,)), ()
    try:
        try:
            if found.tip is not None and fetch.descends(upstream, pin, found.tip, access):
                return Standing("branch", (found.name,)), ()
        except GoneError:
            pass  # told below, once it is known that no other ref holds it
        refs = found.listing.refs if found.whole else fetch.refs(upstream, access)
        containing = fetch.holders(upstream, pin, refs, access)
        told = pins.standing(pin, refs, branch=upstream.branch, containing=containing)
        return (_given(upstream, access) if told.kind == "nowhere" else told), ()
    except UpstreamError as problem:
        return Standing("unknown"), (_unclear(upstream, problem),)


def lacking(upstream: Upstream, newest: str, access: Access) -> int | None:
    """How many commits the pin has that a newer revision lacks; None where the history is not to be had."""
    try:
        return fetch.lacking(upstream, upstream.revision, newest, access)
    except UpstreamError:
        return None


def _given(upstream: Upstream, access: Access) -> Standing:
    """Whether what no ref holds is still given to those who ask for it by its id."""
    answer = fetch.given(upstream, upstream.revision, access)
    return Standing("nowhere" if answer == "given" else answer)


def _unclear(upstream: Upstream, problem: UpstreamError) -> Finding:
    message = f"what holds the pin `{upstream.revision[:12]}` could not be found out: {problem.message}"
    line = upstream.revision_at.line
    return Finding(
        "pin-unclear", "note", message, lock_line=line, upstream=upstream.name, side="upstream", fix=problem.hint
    )


def onward(upstream: Upstream, newest: str, found: Followed) -> str | None:
    """A commit that a ref holds, to go to from a pin that none holds; None where the upstream has no branch at all."""
    if newest != upstream.revision:
        return newest
    other = _other(found.listing.refs)
    return found.tip or (found.listing.refs[other] if other is not None else None)


def _other(refs: Mapping[str, str]) -> str | None:
    """The default branch, or one that looks like it: what there is instead of a branch that is gone."""
    heads = [name for name in refs if name.startswith(HEADS)]
    usual = (name for name in ("HEAD", f"{HEADS}main", f"{HEADS}master") if name in refs)
    return next(usual, heads[0] if heads else None)


def branch_gone(upstream: Upstream, found: Followed) -> Finding:
    """That the followed branch is not there, and what is."""
    refs = found.listing.refs
    heads = [name.removeprefix(HEADS) for name in refs if name.startswith(HEADS)]
    default = next((f"`{name}`" for name in ("main", "master") if name in heads), None)
    held = f"there is {default}" if default else f"there are {len(heads)} others" if heads else "there is no other"
    what = f"branch `{upstream.branch}`" if upstream.branch is not None else "the default branch"
    other = _other(refs)
    return Finding(
        "branch-gone",
        "warning",
        f"{what} is not there (any more), so that nothing is followed; {held}",
        lock_line=upstream.at.line,
        upstream=upstream.name,
        side="upstream",
        fix=command("vendor-tool", "outdated", f"{upstream.name}@{other.removeprefix(HEADS)}")
        if other is not None
        else None,
    )
