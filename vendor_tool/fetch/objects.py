"""Commits and blobs of one upstream: from the cache, else from its addresses in turn, else from archives."""

from collections.abc import Collection, Sequence
from pathlib import Path

from vendor_tool.errors import UsageError
from vendor_tool.fetch import git, store
from vendor_tool.fetch.store import Turn
from vendor_tool.fetch.trouble import Trouble, offline, unavailable
from vendor_tool.model import Access, Snapshot, Upstream
from vendor_tool.urls import check_url, plain_url

PINS = "refs/vendor-tool/pins"


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
            if len(found) == len(wanted):
                break
            trouble = _bring_blobs(home, url, revision, wanted - found.keys(), access, turn)
            found |= store.read(home, wanted - found.keys())
            if trouble is not None:
                troubles.append(trouble)
            elif len(found) < len(wanted):
                # git takes blobs for present, and cannot read them
                raise store.damaged(home, f"{_count(len(wanted) - len(found))} cannot be read")
        if len(found) < len(wanted):
            found |= _rescue(upstream, revision, wanted - found.keys(), troubles, access, home)
    return found


def _rescue(
    upstream: Upstream,
    revision: str,
    wanted: Collection[str],
    troubles: Sequence[Trouble],
    access: Access,
    home: Path,
) -> dict[str, bytes]:
    """What git did not give, from archives; kept, so that the next run finds it. UpstreamError where a blob is left."""
    from vendor_tool.fetch import archive, heritage

    found: dict[str, bytes] = {}
    further: list[Trouble] = []
    hopeless = {trouble.url for trouble in troubles if trouble.kind in ("denied", "foreign", "unreachable")}
    for url in addresses(upstream):
        if len(found) < len(wanted) and plain_url(url) not in hopeless:
            access.progress(f"{upstream.name}: git gives nothing; looking in the archives of {plain_url(url)}")
            more, why = archive.blobs(url, revision, frozenset(wanted) - found.keys())
            found, further = found | more, further + why
    if len(found) < len(wanted):
        access.progress(f"{upstream.name}: looking in the Software Heritage archive")
        more, why = heritage.blobs(upstream.url, frozenset(wanted) - found.keys())
        found, further = found | more, further + why
    store.keep(home, found.values())
    if len(found) < len(wanted):
        raise unavailable(upstream, f"revision `{revision[:12]}`", troubles, further)
    return found


def _bring_blobs(
    home: Path, url: str, revision: str, missing: Collection[str], access: Access, turn: Turn
) -> Trouble | None:
    trouble = git.fetch_blobs(home, url, missing, access=access, hold=turn.descriptor)
    if trouble is None or trouble.kind not in ("gone", "refused"):
        return trouble
    # some servers give blobs only as part of a commit
    refspec = [f"+{revision}:{PINS}/{revision}"]
    second = git.fetch(home, url, refspec, access=access, hold=turn.descriptor, partial=None, depth="--depth=1")
    if second is not None and second.kind == "refused":
        second = _search(home, url, revision, access, turn)
    if second is None and len(store.read(home, missing)) < len(missing):
        return trouble  # the commit is there, and holds no such blobs
    return second


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
    raise unavailable(upstream, f"revision `{revision[:12]}`", troubles)


def _search(home: Path, url: str, revision: str, access: Access, turn: Turn) -> Trouble | None:
    """Find a commit on a server that gives only what its refs name: by its tips, then by their whole history."""
    refs = git.advertised(home, url, (), access)
    if isinstance(refs, Trouble):
        return refs
    tips = [name.removesuffix("^{}") for name, oid in refs.items() if oid == revision and name != "HEAD"]
    trouble: Trouble | None = None
    for wanted in ([f"+{name}:{PINS}/{revision}" for name in tips[:1]], git.NAMED, git.PROPOSED):
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


def _count(number: int) -> str:
    return "1 file" if number == 1 else f"{number} files"
