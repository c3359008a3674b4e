"""What was fetched before: one bare repository per upstream in the user's cache, read without any network."""

import fcntl
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from vendor_tool import vcs
from vendor_tool.errors import ContentError, UsageError
from vendor_tool.model import Access, Entry
from vendor_tool.urls import plain_url

MANY = 1_000  # objects of which it is worth knowing beforehand which are there


class Turn(NamedTuple):
    """The right to write to a store: the lock's descriptor, and whether another run had it first."""

    descriptor: int
    waited: bool


def repository(access: Access, url: str, suffix: str = "") -> Path:
    """The store of one upstream, made where it is missing. `suffix` tells further stores of one upstream apart."""
    address = plain_url(url).rstrip("/").removesuffix(".git")
    slug = "-".join(re.findall(r"[\w.]+", address, re.ASCII)[-2:])[-60:].lstrip(".")
    digest = hashlib.sha256(address.encode()).hexdigest()[:16]
    folder = access.cache / "git" / f"{slug}-{digest}{suffix}.git"
    if not folder.is_dir():
        _create(folder)
    return folder


def _create(folder: Path) -> None:
    import shutil
    import tempfile

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    except OSError as error:
        raise UsageError(
            f"the cache folder `{folder.parent}` cannot be written: {error.strerror}",
            hint="set `XDG_CACHE_HOME` to a folder that can",
        ) from error
    try:
        # all that a bare repository needs; to start `git init` for it would be a part of a first sync that shows
        (made / "objects").mkdir()
        (made / "refs").mkdir()
        (made / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
        (made / "HEAD").write_text("ref: refs/heads/main\n")
        try:
            made.rename(folder)
        except OSError:
            # another run may have been faster: its store is as good as ours
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def turn(store: Path, access: Access) -> Iterator[Turn]:
    """Wait until no other run, and no git that it left behind, writes to the store."""
    with (store / "turn").open("ab") as file:
        waited = False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            access.progress("waiting for another run that fetches from the same upstream")
            waited = True
            fcntl.flock(file, fcntl.LOCK_EX)
        # nobody else writes now, so these belong to a run that was killed
        for stale in (*store.glob("*.lock"), *(store / "refs").rglob("*.lock")):
            stale.unlink(missing_ok=True)
        yield Turn(file.fileno(), waited)


def read(store: Path, oids: Collection[str]) -> dict[str, bytes]:
    """The contents of those blobs that the store holds, each hashed again. ContentError where the store is damaged."""
    found: dict[str, bytes] = {}
    if len(oids) > MANY and not _empty(store):
        oids = _held(store).intersection(oids)
    if not oids or _empty(store):
        return found
    asked = "".join(f"{oid}\n" for oid in sorted(oids)).encode()
    with vcs.start(store, "--git-dir=.", "cat-file", "--batch", "--buffer", stdin=asked) as process:
        assert process.stdout is not None
        for _ in oids:
            name, kind, data = _object(store, process.stdout)
            if kind == "missing":
                continue
            if kind != "blob" or name != blob_id(data):
                raise damaged(store, f"`{name}` is not the blob that it is named for")
            found[name] = data
    return found


def _held(store: Path) -> set[str]:
    """The ids of all objects of a store: for each one that it lacks, git would look through the packs again."""
    ran = vcs.run(store, "--git-dir=.", "cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)")
    return set(ran.out.decode("ascii", "replace").split())


def _empty(store: Path) -> bool:
    # spares a new store the start of a process, which is a part of a first sync that shows
    return not any((store / "objects" / "pack").glob("*.pack")) and not any((store / "objects").glob("??"))


def _object(store: Path, stream: IO[bytes]) -> tuple[str, str, bytes]:
    head = stream.readline().decode("ascii", "replace").split()
    if len(head) >= 2 and head[-1] == "missing":
        return head[0], "missing", b""
    if len(head) != 3:
        raise damaged(store, "git could not read an object")
    data = stream.read(int(head[2]) + 1)
    if len(data) != int(head[2]) + 1:
        raise damaged(store, f"git could not read `{head[0]}`")
    return head[0], head[1], data[:-1]


def damaged(store: Path, fact: str) -> ContentError:
    """The error for a store that does not hold what its names promise."""
    return ContentError(
        f"the cached repository `{store}` is damaged: {fact}", hint=f"remove it, then sync again: `rm -r {store}`"
    )


def blob_id(data: bytes) -> str:
    """The id that git gives these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def keep(store: Path, contents: Collection[bytes]) -> None:
    """Add blobs that did not come through git, so that the next run finds them."""
    import tempfile
    import zlib

    for data in contents:
        oid = blob_id(data)
        target = store / "objects" / oid[:2] / oid[2:]
        target.parent.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix="tmp_obj_", delete=False) as file:
            file.write(zlib.compress(b"blob %d\0" % len(data) + data))
        Path(file.name).chmod(0o444)
        Path(file.name).replace(target)


def commit(store: Path, name: str) -> tuple[str, str] | None:
    """Id and committer date of the commit that an id leads to, tag objects followed; None where it is not there."""
    if _empty(store):
        return None
    ran = vcs.run(store, "--git-dir=.", "cat-file", "--batch", stdin=f"{name}^{{commit}}\n".encode())
    head, _, body = ran.out.partition(b"\n")
    if ran.status != 0 or len(head.split()) != 3:
        return None
    return head.split()[0].decode(), _date(body.partition(b"\n\n")[0])


def _date(head: bytes) -> str:
    from datetime import datetime, timedelta, timezone

    stamp = re.search(rb"^committer .*> (-?\d+) ([+-])(\d\d)(\d\d)$", head, re.MULTILINE)
    if stamp is None:
        return datetime.fromtimestamp(0, timezone.utc).isoformat()
    # not git's own %cI: newer versions write `Z` for +00:00, and the lock must not depend on the version
    offset = timedelta(hours=int(stamp[3]), minutes=int(stamp[4])) * (-1 if stamp[2] == b"-" else 1)
    return datetime.fromtimestamp(int(stamp[1]), timezone(offset)).isoformat()


def kind(store: Path, oid: str) -> str | None:
    """What an id names: `commit`, `tree`, `blob` or `tag`; None where it is not there."""
    ran = vcs.run(store, "--git-dir=.", "cat-file", "--batch-check", stdin=f"{oid}\n".encode())
    words = ran.out.decode().split()
    return words[1] if len(words) == 3 else None


def listing(store: Path, revision: str) -> Mapping[str, Entry] | None:
    """Every path of a commit but folders, sorted; None where the store lacks a part of it."""
    ran = vcs.run(store, "--git-dir=.", "ls-tree", "-r", "-z", "--full-tree", revision)
    if ran.status != 0:
        return None
    entries: dict[str, Entry] = {}
    for line in ran.out.split(b"\0")[:-1]:
        meta, _, path = line.partition(b"\t")
        mode, type_, oid = meta.decode().split()
        entries[path.decode("utf-8", "surrogateescape")] = Entry(mode, type_, oid)
    return dict(sorted(entries.items()))


def commits(store: Path, prefix: str) -> list[str]:
    """The ids of all commits in the store that begin with these digits, sorted."""
    ran = vcs.run(store, "--git-dir=.", "rev-parse", f"--disambiguate={prefix}")
    checked = vcs.run(store, "--git-dir=.", "cat-file", "--batch-check", stdin=ran.out or b"\n")
    lines = (line.split() for line in checked.out.decode().splitlines())
    return sorted(words[0] for words in lines if len(words) == 3 and words[1] == "commit")
