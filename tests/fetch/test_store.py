"""The cache on disk: how it comes to be, and what survives a run that was killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.server import Server
from tests.support.upstream import Repository, entry
from vendor_tool import fetch
from vendor_tool.errors import ContentError, UsageError
from vendor_tool.fetch import store
from vendor_tool.model import Access

RUN = """
import sys
from pathlib import Path
from tests.support.upstream import entry
from vendor_tool import fetch
from vendor_tool.model import Access
url, revision, cache = sys.argv[1:]
access = Access(Path(cache), progress=lambda message: print(message, flush=True))
print(sorted(fetch.snapshot(entry(url, revision), revision, access).entries))
"""


def start(*arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", RUN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_spellings_of_one_address_share_a_store_and_others_do_not(access: Access) -> None:
    first = store.repository(access, "https://example.org/owner/kernels")
    same = ("https://example.org/owner/kernels.git", "https://example.org/owner/kernels/")
    assert {store.repository(access, url) for url in same} == {first}
    assert first.name.startswith("owner-kernels-")
    other = store.repository(access, "https://example.com/owner/kernels")
    assert other != first
    assert sorted(access.cache.rglob("*.git")) == sorted([first, other])


@pytest.mark.parametrize("url", ["https://example.org/..", "https://example.org/a b/%00", "/" + "x" * 300, "file:///"])
def test_no_address_leads_outside_the_cache(access: Access, url: str) -> None:
    assert store.repository(access, url).parent == access.cache / "git"


def test_a_cache_that_cannot_be_written_is_told_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError) as caught:
        store.repository(Access(tmp_path / "file"), "https://example.org/kernels")
    assert caught.value.message == f"the cache folder `{tmp_path}/file/git` cannot be written: Not a directory"
    assert caught.value.hint == "set `XDG_CACHE_HOME` to a folder that can"


def test_blobs_that_did_not_come_through_git_are_objects_like_others(access: Access) -> None:
    home = store.repository(access, "https://example.org/kernels")
    contents = [b"", b"a\r\nb", b"\0" * 100_000]
    store.keep(home, contents)
    store.keep(home, contents)
    ids = [store.blob_id(data) for data in contents]
    assert store.read(home, ids) == dict(zip(ids, contents, strict=True))
    assert Repository(home).git("fsck", "--strict", "--no-dangling") == ""
    assert not list(home.rglob("tmp_obj_*"))


def test_of_many_blobs_those_are_read_that_are_there(kernels: Repository, access: Access) -> None:
    revision = kernels.commit({f"{n}.py": f"K = {n}\n" for n in range(store.MANY + 1)})
    upstream = entry(kernels.url, revision)
    oids = [one.oid for one in fetch.snapshot(upstream, revision, access).entries.values()]
    home = store.repository(access, kernels.url)
    assert store.read(home, oids) == {}
    some = fetch.blobs(upstream, revision, oids[:5], access)
    assert len(some) == 5
    assert store.read(home, oids) == some
    assert len(fetch.blobs(upstream, revision, oids, access)) == len(oids)


def test_bytes_that_are_not_what_their_name_says_are_never_given_out(access: Access) -> None:
    home = store.repository(access, "https://example.org/kernels")
    good, evil = store.blob_id(b"good\n"), store.blob_id(b"evil\n")
    store.keep(home, [b"evil\n"])
    (home / "objects" / good[:2]).mkdir()
    (home / "objects" / evil[:2] / evil[2:]).rename(home / "objects" / good[:2] / good[2:])
    with pytest.raises(ContentError) as caught:
        store.read(home, [good])
    assert caught.value.message == (
        f"the cached repository `{home}` is damaged: `{good}` is not the blob that it is named for"
    )


def test_several_processes_at_once_give_the_same(kernels: Repository, server: Server, access: Access) -> None:
    revision = kernels.commit({"k.py": "K = 1\n"})
    runs = [start(f"{server.url}/kernels.git", revision, str(access.cache)) for _ in range(3)]
    ends = [run.communicate() for run in runs]
    assert [out.splitlines()[-1:] for out, _ in ends] == [[b"['k.py']"]] * 3, ends
    assert sum(request.method == "POST" for request in server.requests) == 1
    assert [path.suffix for path in (access.cache / "git").iterdir()] == [".git"]


def test_a_run_that_is_killed_in_a_transfer_does_not_stop_the_next(
    kernels: Repository, server: Server, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VENDOR_TOOL_TIMEOUT", "1")
    revision = kernels.commit({"k.py": "K = 1\n"})
    server.stalled = True
    with start(f"{server.url}/kernels.git", revision, str(access.cache)) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == f"kernels: fetching the listing of {revision[:12]}\n".encode()
        os.kill(run.pid, signal.SIGKILL)
        run.communicate()
    server.stalled = False
    found = fetch.snapshot(entry(f"{server.url}/kernels.git"), revision, access)
    assert sorted(found.entries) == ["k.py"]
