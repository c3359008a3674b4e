"""Commits and blobs of one upstream: from the cache, else from its addresses in turn, else from archives."""

from collections.abc import Collection, Sequence
from pathlib import Path

from vendor_tool.errors import UpstreamError, UsageError
from vendor_tool.fetch import git, store
from vendor_tool.fetch.git import Trouble
from vendor_tool.fetch.store import Turn
from vendor_tool.model import Access, Snapshot, Upstream
from vendor_tool.urls import check_url, plain_url

PINS = "refs/vendor-tool/pins"
_NAMED = ("+refs/heads/*:refs/vendor-tool/heads/*", "+refs/tags/*:refs/vendor-tool/tags/*")
_PROPOSED = ("+refs/pull/*/head:refs/vendor-tool/pull/*", "+refs/merge-requests/*/head:refs/vendor-tool/merge/*")


def snapshot(upstream: Upstream, revision: str, access: Access) -> Snapshot:
    """See `vendor_tool.fetch.snapshot`."""
    home = store.repository(access, addresses(upstream)[0])
    found = _snapshot(home, revision)
    if found is None:
        bring_commit(upstream, revision, access, home)
        found = _snapshot(home, revision)
    if found is None:
        named = store.kind(home, revision)
        if named in ("tree", "blob", "tag"):
            raise UsageError(
                f"`{revision[:12]}` of upstream `{upstream.name}` leads to no commit",
                hint="name a commit, or a branch or tag that leads to one",
            )
        raise store.damaged(home, f"`{revision[:12]}` was fetched and is not whole")
    return found


def _snapshot(home: Path, revision: str) -> Snapshot | None:
    commit = store.commit(home, revision)
    if commit is None:
        return None
    entries = store.listing(home, commit[0])
    return None if entries is None else Snapshot(commit[0], commit[1], entries)


def blobs(upstream: Upstream, revision: str, oids: Collection[str], access: Access) -> dict[str, bytes]:
    """See `vendor_tool.fetch.blobs`."""
    home = store.repository(access, addresses(upstream)[0])
    wanted = frozenset(oids)
    found = store.read(home, wanted)
    if len(found) == len(wanted):
        return found
    if access.offline:
        raise offline(upstream, f"{_count(len(wanted) - len(found))} of `{revision[:12]}`")
    access.progress(f"{upstream.name}: fetching {_count(len(wanted) - len(found))}")
    with store.turn(home, access) as turn:
        if turn.waited:
            found |= store.read(home, wanted - found.keys())
        troubles: list[Trouble] = []
        for url in addresses(upstream):
            if len(found) < len(wanted):
                troubles += _bring_blobs(home, url, revision, wanted - found.keys(), access, turn)
                found |= store.read(home, wanted - found.keys())
    if len(found) < len(wanted):
        raise unavailable(upstream, revision, troubles)
    return found


def _bring_blobs(
    home: Path, url: str, revision: str, missing: Collection[str], access: Access, turn: Turn
) -> list[Trouble]:
    trouble = git.fetch_blobs(home, url, missing, access=access, hold=turn.descriptor)
    if trouble is None or trouble.kind not in ("gone", "refused"):
        return [trouble] if trouble else []
    # some servers give blobs only as part of a commit
    refspec = [f"+{revision}:{PINS}/{revision}"]
    second = git.fetch(home, url, refspec, access=access, hold=turn.descriptor, partial=None, depth="--depth=1")
    if second is not None and second.kind == "refused":
        second = _search(home, url, revision, access, turn)
    return [second] if second else []


def bring_commit(upstream: Upstream, revision: str, access: Access, home: Path) -> None:
    """Make the store hold a commit and its folders. UpstreamError where no address has it."""
    if access.offline:
        raise offline(upstream, f"the listing of `{revision[:12]}`")
    access.progress(f"{upstream.name}: fetching the listing of {revision[:12]}")
    troubles: list[Trouble] = []
    with store.turn(home, access) as turn:
        if turn.waited and _snapshot(home, revision) is not None:
            return
        for url in addresses(upstream):
            refspec = [f"+{revision}:{PINS}/{revision}"]
            trouble = git.fetch(home, url, refspec, access=access, hold=turn.descriptor, depth="--depth=1")
            if trouble is not None and trouble.kind == "refused":
                trouble = _search(home, url, revision, access, turn)
            if trouble is None:
                return
            troubles.append(trouble)
    raise unavailable(upstream, revision, troubles)


def _search(home: Path, url: str, revision: str, access: Access, turn: Turn) -> Trouble | None:
    """Find a commit on a server that gives only what its refs name: by its tips, then by their whole history."""
    refs = git.advertised(home, url, (), access)
    if isinstance(refs, Trouble):
        return refs
    tips = [name.removesuffix("^{}") for name, oid in refs.items() if oid == revision and name != "HEAD"]
    trouble: Trouble | None = None
    for wanted in ([f"+{name}:{PINS}/{revision}" for name in tips[:1]], _NAMED, _PROPOSED):
        if not wanted:
            continue
        access.progress(f"{plain_url(url)} gives no single commits; looking in its refs")
        trouble = git.fetch(home, url, wanted, access=access, hold=turn.descriptor, partial=None)
        if store.commit(home, revision) is not None:
            return None
    return trouble or Trouble(plain_url(url), "gone", ("no ref of this server leads to the commit",))


def addresses(upstream: Upstream) -> tuple[str, ...]:
    """The address and the mirrors in the order in which they are tried. UsageError where one is refused."""
    for url in (upstream.url, *upstream.mirrors):
        reason = check_url(url)
        if reason is not None:
            raise UsageError(
                f"the address `{plain_url(url)}` of upstream `{upstream.name}` {reason}",
                hint=f"correct `url` or `mirrors` of `{upstream.name}` in the lockfile",
            )
    return (upstream.url, *upstream.mirrors)


def offline(upstream: Upstream, what: str) -> UpstreamError:
    """The error for what the cache lacks while the network may not be used."""
    return UpstreamError(
        f"upstream `{upstream.name}`: {what} is not in the cache, and `--offline` forbids to fetch",
        hint=f"run `vendor-tool sync {upstream.name}` without `--offline` once",
    )


def unavailable(upstream: Upstream, revision: str, troubles: Sequence[Trouble]) -> UpstreamError:
    """The error for a revision that no address gave: where it was looked for, git's own words, and what to do."""
    lines = [f"upstream `{upstream.name}`: revision `{revision[:12]}` could not be fetched"]
    for trouble in troubles:
        lines += [f"  {trouble.url}: {_FACTS[trouble.kind]}", *(f"    {line}" for line in trouble.lines)]
    kinds = [trouble.kind for trouble in troubles]
    worst = next((kind for kind in _HINTS if kind in kinds), "cut")
    return UpstreamError("\n".join(lines), hint=_HINTS[worst].format(name=upstream.name))


def _count(number: int) -> str:
    return "1 file" if number == 1 else f"{number} files"


_FACTS = {
    "gone": "this server does not hold the commit (any more)",
    "refused": "this server does not give commits by their id",
    "denied": "this server refuses access",
    "foreign": "this repository does not use SHA-1 ids, which the lockfile needs",
    "broken": "this server's copy of the repository is damaged",
    "busy": "this server asks to wait longer than is sensible",
    "cut": "the transfer broke off",
    "unreachable": "this server cannot be reached",
}

_HINTS = {
    "foreign": "vendor from a SHA-1 repository of the same project: name it as `url` of `{name}`",
    "denied": "check the address and your access to it (`git ls-remote` with the same address must work)",
    "gone": "the history may have been rewritten, or the branch deleted; nothing else was taken in its place: name a "
    "mirror or fork that still has the commit under `mirrors` of `{name}`, or move on: `vendor-tool sync {name}@REV`",
    "refused": "name a mirror that allows it under `mirrors` of `{name}`",
    "broken": "tell the people who run the server, or name a mirror under `mirrors` of `{name}`",
    "busy": "try again later, or name a mirror under `mirrors` of `{name}`",
    "unreachable": "check the network and proxy settings; with a filled cache `--offline` works without either",
    "cut": "run the same command again: nothing half-fetched was kept",
}
