"""Whether a pin will still be there tomorrow: what of an upstream's branches, tags and requests holds it."""

from collections.abc import Collection, Mapping
from typing import Final, Literal

from vendor_tool.patterns import pattern
from vendor_tool.values import dataclass

REQUEST: Final = pattern(r"refs/(?:pull|merge-requests|pull-requests)/(\d+)/(?:head|merge|from)")


@dataclass(frozen=True, slots=True)
class Standing:
    """The strongest hold on a pin, and the refs that give it, sorted.

    `branch` is the followed one (or the default branch), `other-branch` and `tag` are as they say; `request` is a
    pull or merge request alone, which its author can take away. No ref reaches the pin where it is `nowhere`, which the
    upstream still gives by its id; `gone`, which it does not; or `refused`, since it gives no commits by their ids.
    """

    kind: Literal["branch", "other-branch", "tag", "request", "nowhere", "gone", "refused", "unknown"]
    refs: tuple[str, ...] = ()


def standing(pin: str, refs: Mapping[str, str], *, branch: str | None, containing: Collection[str] | None) -> Standing:
    """Sort a pin by what reaches it.

    `refs` maps full names to commits, as the upstream advertises them, `HEAD` included. `containing` names the refs
    whose history holds the pin, None where no history is at hand: then only tips that are the pin itself count, and
    anything else is unknown.
    """
    holding = {name for name, commit in refs.items() if commit == pin} | set(containing or ())
    followed = f"refs/heads/{branch}" if branch is not None else "HEAD"
    heads = sorted(name for name in holding if name.startswith("refs/heads/"))
    tags = sorted(name for name in holding if name.startswith("refs/tags/"))
    requests = sorted((name for name in holding if REQUEST.fullmatch(name)), key=request)
    if followed in holding:
        return Standing("branch", (followed,))
    if heads:
        return Standing("other-branch", tuple(heads))
    if tags:
        return Standing("tag", tuple(tags))
    if requests:
        return Standing("request", tuple(requests))
    return Standing("unknown" if containing is None else "nowhere")


def request(ref: str) -> int:
    """The number of a pull or merge request, from the name of its ref."""
    match = REQUEST.fullmatch(ref)
    return int(match[1]) if match else 0


def moved_tags(before: Mapping[str, str], refs: Mapping[str, str]) -> dict[str, tuple[str, str | None]]:
    """Tags that are not where they were: name to old and new commit, None where the tag is gone.

    `before` maps tags, without `refs/tags/`, to the commits that they stood for.
    """
    now = {name: refs.get(f"refs/tags/{name}") for name in before}
    return {name: (commit, now[name]) for name, commit in sorted(before.items()) if now[name] != commit}
