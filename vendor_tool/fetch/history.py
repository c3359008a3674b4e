"""What happened between two commits of an upstream, from a history without contents.

It has a store of its own: the one for pins knows each commit without its parents, and git keeps that fact per store.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from vendor_tool import memory, vcs
from vendor_tool.errors import UpstreamError
from vendor_tool.fetch import git, objects, store
from vendor_tool.fetch.store import Turn
from vendor_tool.fetch.trouble import Trouble, offline, unavailable
from vendor_tool.model import Access, Commit, Upstream
from vendor_tool.urls import plain_url
from vendor_tool.values import replace

_FORMAT = "%x00%x00%H%x00%ci%x00%an%x00%s%x00%b%x00"
_RAW = ("-z", "--raw", "--no-abbrev", "--no-renames", "--diff-merges=first-parent", f"--format={_FORMAT}")


def log(upstream: Upstream, old: str, new: str, paths: Sequence[str], access: Access) -> tuple[Commit, ...]:
    """See `vendor_tool.fetch.log`."""
    if old == new or not paths:
        return ()
    home = store.repository(access, objects.addresses(upstream)[0], "-history")
    if not _whole(home, old, new):
        if access.offline:
            raise offline(upstream, f"the history from `{old[:12]}` to `{new[:12]}`")
        access.progress(f"{upstream.name}: fetching the history from {old[:12]} to {new[:12]}")
        _bring(home, upstream, old, new, access)
    return _read(home, old, new, paths)


def descends(upstream: Upstream, old: str, new: str, access: Access) -> bool:
    """See `vendor_tool.fetch.descends`."""
    return lacking(upstream, old, new, access) == 0


def lacking(upstream: Upstream, old: str, new: str, access: Access) -> int:
    """See `vendor_tool.fetch.lacking`."""
    if old == new:
        return 0
    place = memory.place(access.cache, "lacking", [old, new])
    known = memory.recall(place)
    if isinstance(known, int):
        return known
    home = store.repository(access, objects.addresses(upstream)[0], "-ancestry")
    if not _whole(home, old, new):
        if access.offline:
            raise offline(upstream, f"the history from `{old[:12]}` to `{new[:12]}`")
        access.progress(f"{upstream.name}: looking for {old[:12]} in the history of {new[:12]}")
        _bring(home, upstream, old, new, access, "tree:0")
    ran = vcs.run(home, "--git-dir=.", "rev-list", "--count", f"{new}..{old}")
    if ran.status != 0:
        raise UpstreamError(f"the history from `{old[:12]}` to `{new[:12]}` cannot be read: {ran.err.strip()}")
    memory.remember(place, int(ran.out))
    return int(ran.out)


def holders(upstream: Upstream, revision: str, refs: Mapping[str, str], access: Access) -> frozenset[str]:
    """See `vendor_tool.fetch.holders`."""
    place = memory.place(access.cache, "holders", [upstream.url, revision, sorted(refs.items())])
    known = memory.recall(place)
    if isinstance(known, list):
        return frozenset(known)
    found = _holders(upstream, revision, access)
    memory.remember(place, sorted(found))
    return found


def given(upstream: Upstream, revision: str, access: Access) -> Literal["given", "gone", "refused"]:
    """See `vendor_tool.fetch.given`."""
    import tempfile

    troubles: list[Trouble] = []
    # git asks no server for what a store holds
    with tempfile.TemporaryDirectory(prefix="vendor-tool-") as empty:
        aside = replace(access, cache=Path(empty))
        home = store.repository(aside, objects.addresses(upstream)[0])
        with store.turn(home, aside) as turn:
            for url in objects.addresses(upstream):
                trouble = git.fetch(
                    home, url, [revision], access=access, hold=turn.descriptor, partial="tree:0", depth="--depth=1"
                )
                if trouble is None:
                    return "given"
                troubles.append(trouble)
    kinds = {trouble.kind for trouble in troubles}
    if kinds <= {"gone", "refused"}:
        return "refused" if "refused" in kinds else "gone"
    raise unavailable(upstream, f"`{revision[:12]}`", troubles)


def _holders(upstream: Upstream, revision: str, access: Access) -> frozenset[str]:
    home = store.repository(access, objects.addresses(upstream)[0], "-commits")
    troubles: list[Trouble] = []
    with store.turn(home, access) as turn:
        for url in objects.addresses(upstream):
            for wanted in (git.NAMED, git.PROPOSED):
                where = "branches and tags" if wanted is git.NAMED else "pull requests"
                access.progress(f"{upstream.name}: looking for {revision[:12]} in {where}")
                trouble = git.fetch(
                    home, url, wanted, access=access, hold=turn.descriptor, partial="tree:0", negotiate=True
                )
                if trouble is not None:
                    troubles.append(trouble)
                    break
                if found := _containing(home, revision, wanted):
                    return found
            else:
                return frozenset()
    raise unavailable(upstream, f"what holds `{revision[:12]}`", troubles)


def _containing(home: Path, revision: str, wanted: Sequence[str]) -> frozenset[str]:
    """The server's names of those refs, fetched by the refspecs `wanted`, that lead to a commit."""
    if store.commit(home, revision) is None:
        return frozenset()
    found = set()
    for theirs, ours in (refspec.removeprefix("+").split(":") for refspec in wanted):
        folder, start, end = ours.removesuffix("*"), *theirs.split("*")
        ran = vcs.run(home, "--git-dir=.", "for-each-ref", f"--contains={revision}", "--format=%(refname)", folder)
        names = ran.out.decode("utf-8", "surrogateescape").split("\n")
        found |= {f"{start}{name.removeprefix(folder)}{end}" for name in names if name}
    return frozenset(found)


def _whole(home: Path, old: str, new: str) -> bool:
    """Whether every commit that only one of the two has is there: a line of parents that ends was cut short."""
    if store.commit(home, old) is None or store.commit(home, new) is None:
        return False
    ran = vcs.run(home, "--git-dir=.", "rev-list", "--max-parents=0", f"{old}...{new}")
    if ran.status != 0:
        return False
    cut = (home / "shallow").read_text().split() if (home / "shallow").exists() else []
    return not cut or not ran.out


def _bring(home: Path, upstream: Upstream, old: str, new: str, access: Access, partial: str = "blob:none") -> None:
    troubles: list[Trouble] = []
    with store.turn(home, access) as turn:
        for url in objects.addresses(upstream):
            trouble = _bring_from(home, url, old, new, access, turn, partial)
            if trouble is None:
                return
            troubles.append(trouble)
    raise unavailable(upstream, f"the history from `{old[:12]}` to `{new[:12]}`", troubles)


def _bring_from(home: Path, url: str, old: str, new: str, access: Access, turn: Turn, partial: str) -> Trouble | None:
    base, tip = ([f"+{sha}:{objects.PINS}/{sha}"] for sha in (old, new))
    hold = turn.descriptor
    # old without its parents first: in a history without old side branches the server then sends only what is newer
    if store.commit(home, old) is None:
        trouble = git.fetch(home, url, base, access=access, hold=hold, partial=partial, depth="--depth=1")
        if trouble is not None:
            return _search(home, url, old, new, access, hold, partial) if trouble.kind == "refused" else trouble
    trouble = git.fetch(home, url, tip, access=access, hold=hold, partial=partial, negotiate=True)
    if trouble is not None and trouble.kind == "refused":
        return _search(home, url, old, new, access, hold, partial)
    if trouble is None and not _whole(home, old, new):
        both = [*base, *tip]
        trouble = git.fetch(
            home, url, both, access=access, hold=hold, partial=partial, depth="--unshallow", negotiate=True
        )
    return trouble


def _search(home: Path, url: str, old: str, new: str, access: Access, hold: int, partial: str) -> Trouble | None:
    """The history of every ref, for a server that gives only what its refs name."""
    for wanted in (git.NAMED, git.PROPOSED):
        trouble = git.fetch(home, url, wanted, access=access, hold=hold, partial=partial, negotiate=True)
        if trouble is not None or _whole(home, old, new):
            return trouble
    return Trouble(plain_url(url), "gone", ("no ref of this server leads to both commits",))


def versions(upstream: Upstream, revision: str, path: str, access: Access) -> tuple[tuple[Commit, str], ...]:
    """See `vendor_tool.fetch.versions`."""
    found = _records(_log(_history(upstream, revision, access), revision, path, options=_RAW))
    return tuple((replace(commit, paths=(path,)), raw[0].split()[3]) for commit, raw in found if raw)


def changes(upstream: Upstream, revision: str, access: Access) -> tuple[tuple[Commit, Mapping[str, str]], ...]:
    """See `vendor_tool.fetch.changes`."""
    found = []
    for commit, raw in _records(_log(_history(upstream, revision, access), revision, options=_RAW)):
        left = {path: fact.split()[3] for fact, path in zip(raw[::2], raw[1::2], strict=True)}
        if left:
            found.append((replace(commit, paths=tuple(sorted(left))), left))
    return tuple(found)


def standing(
    upstream: Upstream, revisions: Sequence[str], paths: Sequence[str], access: Access
) -> tuple[Mapping[str, str], ...]:
    """See `vendor_tool.fetch.standing`."""
    home = store.repository(access, objects.addresses(upstream)[0], "-history")
    return tuple(_standing(home, revision, paths) for revision in revisions)


def _standing(home: Path, revision: str, paths: Sequence[str]) -> dict[str, str]:
    ran = vcs.run(home, "--git-dir=.", "ls-tree", "-z", "--full-tree", revision, "--", *paths)
    if ran.status != 0:
        raise UpstreamError(f"the listing of `{revision[:12]}` cannot be read: {ran.err.strip()}")
    rows = (line.split("\t", 1) for line in ran.out.decode("utf-8", "surrogateescape").split("\0") if line)
    return {path: facts.split()[2] for facts, path in rows if facts.split()[1] == "blob"}


def _history(upstream: Upstream, revision: str, access: Access) -> Path:
    """The store that holds a commit with all that came before it."""
    home = store.repository(access, objects.addresses(upstream)[0], "-history")
    if not _rooted(home, revision):
        if access.offline:
            raise offline(upstream, f"the history of `{revision[:12]}`")
        access.progress(f"{upstream.name}: fetching the history of {revision[:12]}")
        _bring_all(home, upstream, revision, access)
    return home


def _rooted(home: Path, revision: str) -> bool:
    """Whether a commit is there with all that came before it."""
    if store.commit(home, revision) is None:
        return False
    ran = vcs.run(home, "--git-dir=.", "rev-list", "--max-parents=0", revision)
    cut = (home / "shallow").read_text().split() if (home / "shallow").exists() else []
    return ran.status == 0 and set(cut).isdisjoint(ran.out.decode().split())


def _bring_all(home: Path, upstream: Upstream, revision: str, access: Access) -> None:
    troubles: list[Trouble] = []
    wanted = [f"+{revision}:{objects.PINS}/{revision}"]
    with store.turn(home, access) as turn:
        for url in objects.addresses(upstream):
            depth: Literal["", "--unshallow"] = "--unshallow" if (home / "shallow").exists() else ""
            trouble = git.fetch(
                home, url, wanted, access=access, hold=turn.descriptor, partial="blob:none", depth=depth, negotiate=True
            )
            if trouble is not None and trouble.kind == "refused":
                trouble = _search(home, url, revision, revision, access, turn.descriptor, "blob:none")
            if trouble is None:
                return
            troubles.append(trouble)
    raise unavailable(upstream, f"the history of `{revision[:12]}`", troubles)


def _read(home: Path, old: str, new: str, paths: Sequence[str]) -> tuple[Commit, ...]:
    options = ("-z", "--name-only", "--no-renames", "--diff-merges=first-parent", f"--format={_FORMAT}")
    found = _records(_log(home, f"{old}..{new}", *paths, options=options))
    # git lists a merge that took one side's files as they were, and names none of them
    return tuple(replace(commit, paths=tuple(sorted(names))) for commit, names in found if names)


def _log(home: Path, span: str, *paths: str, options: Sequence[str]) -> list[str]:
    ran = vcs.run(home, "--git-dir=.", "log", *options, span, "--", *paths)
    if ran.status != 0:
        raise UpstreamError(f"the history of `{span}` cannot be read: {ran.err.strip()}")
    return ran.out.decode("utf-8", "surrogateescape").split("\0")


def _records(fields: Sequence[str]) -> Iterator[tuple[Commit, list[str]]]:
    """Commits, without their paths, and what git listed of the files of each."""
    from datetime import datetime

    at = 0
    while at + 7 < len(fields):
        sha, date, author, subject, body = fields[at + 2 : at + 7]
        at += 8
        start = at
        while at < len(fields) and fields[at]:
            at += 1
        names = [name.removeprefix("\n") if place == 0 else name for place, name in enumerate(fields[start:at])]
        # not %cI, which newer versions of git write with `Z`
        stamp = datetime.strptime(date, "%Y-%m-%d %H:%M:%S %z").isoformat()
        yield Commit(sha, stamp, author, subject, body.strip("\n")), names
