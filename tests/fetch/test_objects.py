"""Listings and blobs: what is asked of a server, and what comes back."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.server import Server
from tests.support.upstream import Executable, Link, Repository, Submodule, entry, repository
from vendor_tool import fetch
from vendor_tool.errors import ContentError, UpstreamError, UsageError
from vendor_tool.model import Access, Entry

FILES = {"ops/fwd.py": "FWD = 1\n", "ops/bwd.py": "BWD = 2\n", "README.md": "kernels\n"}


def asked(server: Server) -> bytes:
    return b"".join(request.body for request in server.requests)


def test_a_listing_and_its_blobs_cost_four_requests_and_no_list_of_refs(
    kernels: Repository, server: Server, access: Access
) -> None:
    revision = kernels.commit(FILES)
    upstream = entry(f"{server.url}/kernels.git", revision)
    listing = fetch.snapshot(upstream, revision, access)
    oids = [listing.entries[path].oid for path in ("ops/fwd.py", "ops/bwd.py")]
    assert fetch.blobs(upstream, revision, oids, access) == {oids[0]: b"FWD = 1\n", oids[1]: b"BWD = 2\n"}
    assert [request.method for request in server.requests] == ["GET", "POST", "GET", "POST"]
    assert b"ls-refs" not in asked(server)
    assert listing.entries["README.md"].oid.encode() not in asked(server)


def test_blob_ids_from_the_lock_cost_two_requests(kernels: Repository, server: Server, access: Access) -> None:
    revision = kernels.commit(FILES)
    oids = [kernels.blob(revision, path) for path in FILES]
    found = fetch.blobs(entry(f"{server.url}/kernels.git", revision), revision, oids, access)
    assert sorted(found.values()) == sorted(text.encode() for text in FILES.values())
    assert [request.method for request in server.requests] == ["GET", "POST"]
    assert revision.encode() not in asked(server)


def test_what_is_in_the_cache_costs_no_request(kernels: Repository, server: Server, access: Access) -> None:
    revision = kernels.commit(FILES)
    upstream = entry(f"{server.url}/kernels.git", revision)
    first = fetch.snapshot(upstream, revision, access)
    oids = [item.oid for item in first.entries.values()]
    contents = fetch.blobs(upstream, revision, oids, access)
    server.requests.clear()
    offline = replace(access, offline=True)
    assert fetch.snapshot(upstream, revision, offline) == first
    assert fetch.blobs(upstream, revision, oids, offline) == contents
    assert fetch.blobs(upstream, revision, [], offline) == {}
    assert server.requests == []


def test_only_blobs_that_the_cache_lacks_are_asked_for(kernels: Repository, server: Server, access: Access) -> None:
    revision = kernels.commit(FILES)
    upstream = entry(f"{server.url}/kernels.git", revision)
    here, missing = kernels.blob(revision, "ops/fwd.py"), kernels.blob(revision, "ops/bwd.py")
    fetch.blobs(upstream, revision, [here], access)
    server.requests.clear()
    assert fetch.blobs(upstream, revision, [here, missing], access) == {here: b"FWD = 1\n", missing: b"BWD = 2\n"}
    assert missing.encode() in asked(server)
    assert here.encode() not in asked(server)


def test_a_missing_blob_never_makes_git_reach_for_the_network(
    kernels: Repository, server: Server, access: Access
) -> None:
    revision = kernels.commit(FILES)
    upstream = entry(f"{server.url}/kernels.git", revision)
    oid = fetch.snapshot(upstream, revision, access).entries["ops/fwd.py"].oid
    server.requests.clear()
    with pytest.raises(UpstreamError) as caught:
        fetch.blobs(upstream, revision, [oid], replace(access, offline=True))
    assert caught.value.message == (
        f"upstream `kernels`: 1 file of `{revision[:12]}` is not in the cache, and `--offline` forbids to fetch"
    )
    assert caught.value.hint == "run `vendor-tool sync kernels` without `--offline` once"
    assert server.requests == []


def test_a_listing_keeps_modes_links_submodules_and_names_as_they_are(kernels: Repository, access: Access) -> None:
    module = "1" * 40
    revision = kernels.commit(
        {
            "run.sh": Executable(b"#!/bin/sh\n"),
            "link": Link("../outside"),
            "third_party/x": Submodule(module),
            "caf\udce9.py": b"latin = 1\n",
            "-option.py": b"",
            'a "b"\n.py': b"",
        }
    )
    listing = fetch.snapshot(entry(kernels.url), revision, access)
    empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert list(listing.entries) == sorted(listing.entries)
    assert listing.entries == {
        "run.sh": Entry("100755", "blob", kernels.blob(revision, "run.sh")),
        "link": Entry("120000", "blob", kernels.blob(revision, "link")),
        "third_party/x": Entry("160000", "commit", module),
        "caf\udce9.py": Entry("100644", "blob", kernels.git("hash-object", "--stdin", stdin=b"latin = 1\n")),
        "-option.py": Entry("100644", "blob", empty),
        'a "b"\n.py': Entry("100644", "blob", empty),
    }


@pytest.mark.parametrize(
    ("zone", "date"),
    [
        ("+0000", "2023-11-14T22:13:20+00:00"),
        ("+0530", "2023-11-15T03:43:20+05:30"),
        ("-0730", "2023-11-14T14:43:20-07:30"),
    ],
)
def test_the_date_keeps_the_committers_offset(kernels: Repository, access: Access, zone: str, date: str) -> None:
    revision = kernels.commit(FILES, zone=zone)
    assert fetch.snapshot(entry(kernels.url), revision, access).date == date


@pytest.mark.parametrize(
    "data",
    [
        b"a\r\nb\r\n",
        b"a\rb",
        b"no newline",
        b"\xef\xbb\xbfbom\n",
        b"caf\xe9\n",
        b"$Id$ $Format:%H$\n",
        b"",
        b"\0\1\n\n",
    ],
    ids=["crlf", "lone cr", "no newline", "bom", "latin-1", "keywords", "empty", "binary"],
)
def test_attributes_do_not_touch_bytes(kernels: Repository, access: Access, data: bytes) -> None:
    attributes = "* text eol=lf ident export-subst export-ignore filter=lfs working-tree-encoding=UTF-16\n"
    revision = kernels.commit({".gitattributes": attributes, "k.py": data})
    oid = kernels.blob(revision, "k.py")
    assert fetch.blobs(entry(kernels.url), revision, [oid], access) == {oid: data}


def test_a_server_without_filters_works(kernels: Repository, server: Server, access: Access) -> None:
    kernels.configure("uploadpack.allowFilter", "false")
    revision = kernels.commit(FILES)
    upstream = entry(f"{server.url}/kernels.git", revision)
    oid = fetch.snapshot(upstream, revision, access).entries["ops/fwd.py"].oid
    assert fetch.blobs(upstream, revision, [oid], access) == {oid: b"FWD = 1\n"}
    other = replace(access, cache=access.cache / "other")
    assert fetch.blobs(upstream, revision, [oid], other) == {oid: b"FWD = 1\n"}


@pytest.mark.parametrize("ref", ["refs/heads/main", "refs/tags/v1", "refs/pull/7/head", "refs/merge-requests/7/head"])
@pytest.mark.parametrize("behind", [False, True], ids=["at the tip", "behind the tip"])
def test_a_server_that_gives_no_single_commits_is_searched(
    kernels: Repository, server: Server, access: Access, ref: str, behind: bool
) -> None:
    kernels.configure("uploadpack.allowAnySHA1InWant", "false")
    server.old_protocol = True
    base = kernels.commit({"base.py": "BASE = 0\n"})
    kernels.commit({"base.py": "BASE = 1\n"}, parent=base)
    revision = kernels.commit(FILES, ref=ref, parent=base)
    if behind:
        kernels.commit({"later.py": "LATER = 1\n"}, ref=ref)
    upstream = entry(f"{server.url}/kernels.git", revision)
    oid = kernels.blob(revision, "ops/fwd.py")
    by_id = replace(access, cache=access.cache / "by-id")
    assert fetch.blobs(upstream, revision, [oid], by_id) == {oid: b"FWD = 1\n"}
    assert sorted(fetch.snapshot(upstream, revision, access).entries) == ["README.md", "base.py", *sorted(FILES)[1:]]
    assert fetch.blobs(upstream, revision, [oid], access) == {oid: b"FWD = 1\n"}


def test_a_commit_that_no_ref_leads_to_is_fetched_by_its_id(
    kernels: Repository, server: Server, access: Access
) -> None:
    revision = kernels.commit(FILES)
    kernels.git("update-ref", "-d", "refs/heads/main")
    kernels.commit({"new.py": ""})
    upstream = entry(f"{server.url}/kernels.git", revision)
    assert sorted(fetch.snapshot(upstream, revision, access).entries) == sorted(FILES)


def test_mirrors_are_tried_in_their_order(kernels: Repository, server: Server, access: Access, tmp_path: Path) -> None:
    revision = kernels.commit(FILES)
    repository(tmp_path / "served" / "rewritten.git").commit({"other.py": ""})
    upstream = entry(
        f"{server.url}/rewritten.git",
        revision,
        mirrors=[f"{server.url}/nothing.git", f"{server.url}/kernels.git", f"{server.url}/never.git"],
    )
    assert sorted(fetch.snapshot(upstream, revision, access).entries) == sorted(FILES)
    tried = [request.path.split("/")[1] for request in server.requests]
    assert tried == ["rewritten.git", "rewritten.git", "nothing.git", "kernels.git", "kernels.git"]


def test_a_pin_that_is_gone_names_what_may_have_happened_and_takes_nothing_else(
    kernels: Repository, server: Server, access: Access
) -> None:
    kernels.commit(FILES)
    gone = "d" * 40
    upstream = entry(f"{server.url}/kernels.git", gone)
    with pytest.raises(UpstreamError) as caught:
        fetch.snapshot(upstream, gone, access)
    assert caught.value.message == (
        "upstream `kernels`: revision `dddddddddddd` could not be fetched\n"
        f"  {server.url}/kernels.git: this server does not hold it (any more)\n"
        f"    fatal: remote error: upload-pack: not our ref {gone}"
    )
    assert caught.value.hint == (
        "the history may have been rewritten, or the branch deleted; nothing else was taken in its place: name a mirror "
        "or fork that still has the commit under `mirrors` of `kernels`, or move on: `vendor-tool sync kernels@REV`"
    )
    assert b"ls-refs" not in asked(server)


def test_a_blob_that_the_commit_does_not_hold_is_not_there(kernels: Repository, server: Server, access: Access) -> None:
    revision = kernels.commit(FILES)
    upstream = entry(f"{server.url}/kernels.git", revision)
    with pytest.raises(UpstreamError, match=f"not our ref {'e' * 40}"):
        fetch.blobs(upstream, revision, ["e" * 40], access)


def test_a_transfer_that_breaks_once_is_tried_again(kernels: Repository, server: Server, access: Access) -> None:
    server.cuts = 1
    revision = kernels.commit(FILES)
    upstream = entry(f"{server.url}/kernels.git", revision)
    assert sorted(fetch.snapshot(upstream, revision, access).entries) == sorted(FILES)


def test_a_transfer_that_always_breaks_ends_and_leaves_a_cache_that_works(
    kernels: Repository, server: Server, access: Access
) -> None:
    server.cuts = 1000
    revision = kernels.commit(FILES)
    upstream = entry(f"{server.url}/kernels.git", revision)
    oid = kernels.blob(revision, "ops/fwd.py")
    with pytest.raises(UpstreamError, match="the transfer broke off") as caught:
        fetch.blobs(upstream, revision, [oid], access)
    assert caught.value.hint == "run the same command again: nothing half-fetched was kept"
    server.cuts = 0
    assert fetch.blobs(upstream, revision, [oid], access) == {oid: b"FWD = 1\n"}


def test_parts_that_came_before_a_break_are_kept(kernels: Repository, server: Server, access: Access) -> None:
    revision = kernels.commit({f"k{number}.py": f"K = {number}\n" for number in range(300)})
    upstream = entry(f"{server.url}/kernels.git", revision)
    oids = [item.oid for item in fetch.snapshot(entry(kernels.url), revision, access).entries.values()]
    server.cuts = 4
    server.requests.clear()
    assert len(fetch.blobs(upstream, revision, oids, access)) == 300
    packs = [request.body.count(b"want ") for request in server.requests if request.method == "POST"]
    assert packs == [300, 300, 300, 300, 256, 44]


def test_two_runs_at_once_share_one_fetch(kernels: Repository, server: Server, access: Access) -> None:
    revision = kernels.commit(FILES)
    upstream = entry(f"{server.url}/kernels.git", revision)
    with ThreadPoolExecutor(4) as pool:
        listings = list(pool.map(lambda _: fetch.snapshot(upstream, revision, access), range(4)))
    assert [sorted(listing.entries) for listing in listings] == [sorted(FILES)] * 4
    assert sum(request.method == "POST" for request in server.requests) == 1
    assert [path.suffix for path in (access.cache / "git").iterdir()] == [".git"]


def test_the_lock_of_a_killed_run_is_no_obstacle(kernels: Repository, access: Access) -> None:
    first = kernels.commit(FILES)
    fetch.snapshot(entry(kernels.url), first, access)
    (store,) = (access.cache / "git").iterdir()
    (store / "shallow.lock").touch()
    second = kernels.commit({"new.py": ""})
    assert "new.py" in fetch.snapshot(entry(kernels.url), second, access).entries


def test_a_damaged_cache_is_named_with_the_way_to_mend_it(kernels: Repository, access: Access) -> None:
    revision = kernels.commit(FILES)
    oid = kernels.blob(revision, "ops/fwd.py")
    fetch.blobs(entry(kernels.url), revision, [oid], access)
    (store,) = (access.cache / "git").iterdir()
    (pack,) = (store / "objects" / "pack").glob("*.pack")
    pack.chmod(0o644)
    pack.write_bytes(pack.read_bytes()[:12] + b"\0" * (pack.stat().st_size - 12))
    with pytest.raises(ContentError, match="is damaged") as caught:
        fetch.blobs(entry(kernels.url), revision, [oid], access)
    assert caught.value.hint == f"remove it, then sync again: `rm -r {store}`"


def test_a_repository_with_sha_256_ids_is_refused(tmp_path: Path, access: Access) -> None:
    other = repository(tmp_path / "other.git", object_format="sha256")
    other.commit(FILES)
    with pytest.raises(UpstreamError, match="does not use SHA-1 ids") as caught:
        fetch.snapshot(entry(other.url), "d" * 40, access)
    assert caught.value.hint == "vendor from a SHA-1 repository of the same project: name it as `url` of `kernels`"


def test_a_folder_that_is_no_repository_is_told_in_gits_words(tmp_path: Path, access: Access) -> None:
    with pytest.raises(UpstreamError, match="does not appear to be a git repository"):
        fetch.snapshot(entry(tmp_path.as_uri()), "d" * 40, access)


@pytest.mark.parametrize("url", ["ext::sh -c touch%20x", "--upload-pack=touch x", "relative/path", "https://u:t@h/x"])
def test_an_address_that_is_refused_reaches_no_git(access: Access, url: str) -> None:
    for upstream in (entry(url), entry("file:///nowhere", mirrors=[url])):
        with pytest.raises(UsageError, match=r"of upstream `kernels`"):
            fetch.snapshot(upstream, "d" * 40, access)
    assert not access.cache.exists()


def test_a_plain_path_is_an_address(kernels: Repository, access: Access) -> None:
    revision = kernels.commit(FILES)
    assert sorted(fetch.snapshot(entry(str(kernels.path)), revision, access).entries) == sorted(FILES)


def test_no_child_is_left(kernels: Repository, access: Access) -> None:
    revision = kernels.commit(FILES)
    listing = fetch.snapshot(entry(kernels.url), revision, access)
    fetch.blobs(entry(kernels.url), revision, [item.oid for item in listing.entries.values()], access)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_importing_the_module_loads_neither_git_nor_requests() -> None:
    code = (
        "import sys, vendor_tool.fetch; print(sorted({'git', 'requests', 'tarfile', 'subprocess'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"[]\n"
