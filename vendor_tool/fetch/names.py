"""From what people call a commit to its id: branches, tags, short ids."""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from vendor_tool.errors import GoneError, UpstreamError, UsageError
from vendor_tool.fetch import git, objects, store
from vendor_tool.fetch.trouble import Trouble, offline, unavailable
from vendor_tool.model import Access, Upstream
from vendor_tool.paths import revision_name
from vendor_tool.values import dataclass

SHORTEST = 7  # digits of a short id
UNIQUE = 12  # digits from which on a tip that fits is taken without a look at the rest of the history


@dataclass(frozen=True, slots=True)
class Listing:
    """What an upstream lists: full ref name to commit id, tag objects followed."""

    refs: Mapping[str, str]
    url: str  # the address that answered: a mirror's where the upstream's own did not
    moved: str | None = None  # where that address sent us on to, fit to be shown


def resolve(upstream: Upstream, rev: str, access: Access) -> str:
    """See `vendor_tool.fetch.resolve`."""
    return named(upstream, rev, access)[0]


def named(upstream: Upstream, rev: str, access: Access) -> tuple[str, str | None]:
    """See `vendor_tool.fetch.named`."""
    if not revision_name(rev):
        raise UsageError(
            f"`{rev}` cannot be a revision of upstream `{upstream.name}`",
            hint="give a commit id, a tag or a branch",
        )
    digits = rev.lower() if re.fullmatch(r"[0-9a-fA-F]{4,40}", rev) else ""
    if len(digits) >= SHORTEST and upstream.revision.startswith(digits):
        return upstream.revision, None
    if len(digits) == 40:
        return objects.snapshot(upstream, digits, access).revision, None
    if access.offline:
        return _offline(upstream, rev, digits, access), None
    return _online(upstream, rev, digits, access)


def _offline(upstream: Upstream, rev: str, digits: str, access: Access) -> str:
    home = store.repository(access, objects.addresses(upstream)[0])
    found = store.commits(home, digits) if len(digits) >= SHORTEST else []
    if not found:
        raise offline(upstream, f"what `{rev}` stands for")
    return _one(upstream, rev, {oid: oid for oid in found})


def _online(upstream: Upstream, rev: str, digits: str, access: Access) -> tuple[str, str | None]:
    limits = () if rev.startswith("refs/") or rev == "HEAD" else ("--heads", "--tags")
    listed = _listed(upstream, limits, access)
    known = (rev, f"refs/{rev}", f"refs/tags/{rev}", f"refs/heads/{rev}")
    found = {name: oid for name, oid in listed.items() if name in known}
    tips = {f"commit {oid}": oid for oid in listed.values() if len(digits) >= SHORTEST and oid.startswith(digits)}
    if found:
        oid = _one(upstream, rev, {**found, **tips})
        tag = next((name.removeprefix("refs/tags/") for name in found if name.startswith("refs/tags/")), None)
        # a tag can name a folder or a file; a branch cannot
        checked = all(name.startswith("refs/heads/") for name in found)
        return oid if checked else _commit(upstream, rev, oid, access), tag
    if not digits:
        raise _unknown(upstream, rev, listed)
    if len(digits) < SHORTEST:
        raise UsageError(f"`{rev}` is too short for a commit id", hint=f"give {SHORTEST} digits or more")
    if len(digits) >= UNIQUE and len(tips) == 1:
        return next(iter(tips.values())), None
    return _short(upstream, digits, access), None


def _commit(upstream: Upstream, rev: str, oid: str, access: Access) -> str:
    try:
        return objects.snapshot(upstream, oid, access).revision
    except UsageError as error:
        raise UsageError(
            f"`{rev}` of upstream `{upstream.name}` leads to no commit",
            hint="name a commit, or a branch or tag that leads to one",
        ) from error


def _one(upstream: Upstream, rev: str, found: dict[str, str]) -> str:
    if len(set(found.values())) > 1:
        listed = ", ".join(f"`{name}`" if name == oid else f"`{name}` ({oid[:12]})" for name, oid in found.items())
        raise UsageError(
            f"`{rev}` of upstream `{upstream.name}` is ambiguous: {listed}",
            hint="give the full commit id, or a full name such as `refs/tags/...`",
        )
    return next(iter(found.values()))


def _short(upstream: Upstream, digits: str, access: Access) -> str:
    """Git's protocol knows no short ids: fetch all commits, without folders and files, and look."""
    home = store.repository(access, objects.addresses(upstream)[0], "-commits")
    troubles: list[Trouble] = []
    with store.turn(home, access) as turn:
        for url in objects.addresses(upstream):
            for wanted in (git.NAMED, git.PROPOSED):
                access.progress(f"{upstream.name}: looking for {digits} in the history")
                trouble = git.fetch(
                    home, url, wanted, access=access, hold=turn.descriptor, partial="tree:0", negotiate=True
                )
                if trouble is not None:
                    troubles.append(trouble)
                    break
                if found := store.commits(home, digits):
                    return _one(upstream, digits, {oid: oid for oid in found})
            else:
                break
    if troubles and len(troubles) == len(objects.addresses(upstream)):
        raise unavailable(upstream, f"revision `{digits}`", troubles)
    raise GoneError(
        f"upstream `{upstream.name}` has no commit whose id begins with `{digits}` on a branch, tag or pull request",
        hint="give the full commit id: servers may still hold a commit that no ref leads to",
    )


def refs(upstream: Upstream, access: Access, patterns: Sequence[str]) -> dict[str, str]:
    """See `vendor_tool.fetch.refs`."""
    return dict(listing(upstream, access, patterns).refs)


def _limits(patterns: Iterable[str]) -> tuple[str, ...]:
    kinds = {"refs/heads/": "--heads", "refs/tags/": "--tags"}
    found = {next((kinds[start] for start in kinds if pattern.startswith(start)), "") for pattern in patterns}
    return () if "" in found else tuple(sorted(found))


def listing(upstream: Upstream, access: Access, patterns: Sequence[str]) -> Listing:
    """See `vendor_tool.fetch.listing`."""
    if access.offline:
        raise offline(upstream, "the list of branches and tags")
    found = _answer(upstream, _limits(patterns), access)
    refs = {
        name: oid for name, oid in found.refs.items() if not patterns or any(fnmatchcase(name, p) for p in patterns)
    }
    return Listing(refs, found.url, found.moved)


def _listed(upstream: Upstream, limits: Sequence[str], access: Access) -> dict[str, str]:
    return dict(_answer(upstream, limits, access).refs)


def _answer(upstream: Upstream, limits: Sequence[str], access: Access) -> Listing:
    troubles: list[Trouble] = []
    for url in objects.addresses(upstream):
        listed = git.listed(_place(access, upstream), url, limits, access)
        if not isinstance(listed, Trouble):
            return Listing(git.peeled(listed.refs), url, listed.moved)
        troubles.append(listed)
    raise unavailable(upstream, "the list of branches and tags", troubles)


def _place(access: Access, upstream: Upstream) -> Path:
    return store.repository(access, upstream.url)


def _unknown(upstream: Upstream, rev: str, listed: dict[str, str]) -> UpstreamError:
    if not listed:
        return UpstreamError(
            f"upstream `{upstream.name}` has no branch or tag at all: the repository is empty",
            hint="check its address in the lockfile",
        )
    names = sorted(name.split("/", 2)[2] for name in listed if name.count("/") >= 2)
    shown = ", ".join(f"`{name}`" for name in names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return GoneError(
        f"upstream `{upstream.name}` has no branch or tag `{rev}`", hint=f"there are {shown}; a commit id works too"
    )
