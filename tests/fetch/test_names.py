"""What people may call a commit, and what it is resolved to."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.server import Server
from tests.support.upstream import Repository, entry, repository
from vendor_tool import fetch
from vendor_tool.errors import UpstreamError, UsageError
from vendor_tool.model import Access


def test_a_prefix_of_the_locked_revision_needs_no_network(access: Access) -> None:
    upstream = entry("https://nowhere.invalid/kernels", "abcdef0123456789" + "0" * 24)
    offline = replace(access, offline=True)
    for rev in ("abcdef0", "ABCDEF012345", upstream.revision):
        assert fetch.resolve(upstream, rev, offline) == upstream.revision
    assert not access.cache.exists()


def test_branches_and_tags_are_followed_to_their_commit(kernels: Repository, access: Access) -> None:
    first = kernels.commit({"k.py": "K = 1\n"})
    second = kernels.commit({"k.py": "K = 2\n"}, ref="refs/heads/feature/deep")
    kernels.tag("light", first)
    tag = kernels.tag("v1.0", first, annotated=True)
    kernels.tag("twice", tag, annotated=True)
    proposed = kernels.commit({"k.py": "K = 3\n"}, ref="refs/pull/7/head", parent=first)
    wanted = {
        "main": first,
        "HEAD": first,
        "light": first,
        "v1.0": first,
        "twice": first,
        "refs/tags/v1.0": first,
        "tags/v1.0": first,
        "feature/deep": second,
        "refs/heads/feature/deep": second,
        "refs/pull/7/head": proposed,
        first: first,
        tag: first,
    }
    assert {rev: fetch.resolve(entry(kernels.url), rev, access) for rev in wanted} == wanted


def test_a_branch_costs_one_listing_without_pull_requests(kernels: Repository, server: Server, access: Access) -> None:
    revision = kernels.commit({"k.py": ""})
    kernels.commit({"k.py": "K = 3\n"}, ref="refs/pull/7/head", parent=revision)
    assert fetch.resolve(entry(f"{server.url}/kernels.git"), "main", access) == revision
    assert [request.method for request in server.requests] == ["GET", "POST"]
    assert b"ref-prefix refs/heads/" in server.requests[1].body


@pytest.mark.parametrize("ref", ["refs/heads/main", "refs/pull/7/head", "refs/merge-requests/7/head"])
@pytest.mark.parametrize("digits", [7, 12])
def test_a_short_id_is_found_in_the_history(
    kernels: Repository, server: Server, access: Access, ref: str, digits: int
) -> None:
    base = kernels.commit({"k.py": "K = 0\n"})
    wanted = kernels.commit({"k.py": "K = 1\n"}, ref=ref, parent=base)
    kernels.commit({"k.py": "K = 2\n"}, ref=ref)
    assert fetch.resolve(entry(f"{server.url}/kernels.git"), wanted[:digits], access) == wanted


def test_a_branch_that_became_a_folder_of_branches_is_no_obstacle(kernels: Repository, access: Access) -> None:
    first = kernels.commit({"k.py": "K = 1\n"}, ref="refs/heads/topic")
    assert fetch.resolve(entry(kernels.url), first[:8], access) == first
    kernels.git("update-ref", "-d", "refs/heads/topic")
    second = kernels.commit({"k.py": "K = 2\n"}, ref="refs/heads/topic/new", parent=first)
    assert fetch.resolve(entry(kernels.url), second[:8], access) == second


def test_a_short_id_that_two_commits_begin_with_names_both(kernels: Repository, access: Access) -> None:
    tree = kernels.git("rev-parse", kernels.commit({"k.py": ""}) + "^{tree}")
    one, other = _twins(kernels, tree)
    kernels.git("update-ref", "refs/heads/one", one)
    kernels.git("update-ref", "refs/heads/other", other)
    with pytest.raises(UsageError) as caught:
        fetch.resolve(entry(kernels.url), one[:7], access)
    assert caught.value.message == (
        f"`{one[:7]}` of upstream `kernels` is ambiguous: `{min(one, other)}`, `{max(one, other)}`"
    )
    assert caught.value.hint == "give the full commit id, or a full name such as `refs/tags/...`"


def _twins(kernels: Repository, tree: str) -> tuple[str, str]:
    """Two commits whose ids share seven digits: by the birthday paradox some ten thousand tries do."""
    seen: dict[str, bytes] = {}
    for number in range(1_000_000):
        text = f"tree {tree}\nauthor A <a@b.c> {number} +0000\ncommitter A <a@b.c> {number} +0000\n\ntwin\n".encode()
        digest = hashlib.sha1(b"commit %d\0" % len(text) + text).hexdigest()[:7]
        if digest in seen:
            made = [kernels.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=t) for t in (seen[digest], text)]
            return made[0], made[1]
        seen[digest] = text
    raise AssertionError("no twins")


def test_a_name_of_a_branch_and_a_tag_is_ambiguous_unless_both_are_one_commit(
    kernels: Repository, access: Access
) -> None:
    first = kernels.commit({"k.py": "K = 1\n"}, ref="refs/heads/v1")
    kernels.tag("v1", first)
    assert fetch.resolve(entry(kernels.url), "v1", access) == first
    second = kernels.commit({"k.py": "K = 2\n"}, ref="refs/heads/v1")
    with pytest.raises(UsageError) as caught:
        fetch.resolve(entry(kernels.url), "v1", access)
    assert caught.value.message == (
        f"`v1` of upstream `kernels` is ambiguous: `refs/heads/v1` ({second[:12]}), `refs/tags/v1` ({first[:12]})"
    )


def test_a_branch_named_like_the_id_of_another_tip_is_ambiguous(kernels: Repository, access: Access) -> None:
    first = kernels.commit({"k.py": "K = 1\n"})
    second = kernels.commit({"k.py": "K = 2\n"}, ref=f"refs/heads/{first[:8]}")
    with pytest.raises(UsageError) as caught:
        fetch.resolve(entry(kernels.url), first[:8], access)
    assert caught.value.message == (
        f"`{first[:8]}` of upstream `kernels` is ambiguous: "
        f"`refs/heads/{first[:8]}` ({second[:12]}), `commit {first}` ({first[:12]})"
    )


@pytest.mark.parametrize("path", ["", "k.py"], ids=["folder", "file"])
def test_a_tag_that_leads_to_no_commit_is_refused(kernels: Repository, access: Access, path: str) -> None:
    revision = kernels.commit({"k.py": "K = 1\n"})
    for annotated in (False, True):
        name = f"odd-{annotated}"
        kernels.tag(name, f"{revision}:{path}", annotated=annotated)
        with pytest.raises(UsageError) as caught:
            fetch.resolve(entry(kernels.url), name, access)
        assert caught.value.message == f"`{name}` of upstream `kernels` leads to no commit"


@pytest.mark.parametrize("rev", ["", "-x", "--upload-pack=x", "main~1", "main^", "a..b", "a b", "a:b", "@{u}", "a\nb"])
def test_what_cannot_be_a_name_never_reaches_git(access: Access, rev: str) -> None:
    with pytest.raises(UsageError, match="cannot be a revision of upstream `kernels`"):
        fetch.resolve(entry("file:///nowhere"), rev, access)
    assert not access.cache.exists()


def test_a_name_that_is_not_there_is_answered_with_those_that_are(kernels: Repository, access: Access) -> None:
    revision = kernels.commit({"k.py": ""})
    kernels.tag("v1", revision)
    with pytest.raises(UpstreamError) as caught:
        fetch.resolve(entry(kernels.url), "mian", access)
    assert caught.value.message == "upstream `kernels` has no branch or tag `mian`"
    assert caught.value.hint == "there are `main`, `v1`; a commit id works too"


def test_ids_that_are_too_short_or_unknown_are_refused(kernels: Repository, access: Access) -> None:
    kernels.commit({"k.py": ""})
    with pytest.raises(UsageError, match="`abcd` is too short for a commit id"):
        fetch.resolve(entry(kernels.url), "abcd", access)
    with pytest.raises(UpstreamError) as caught:
        fetch.resolve(entry(kernels.url), "0123456789", access)
    assert caught.value.message == (
        "upstream `kernels` has no commit whose id begins with `0123456789` on a branch, tag or pull request"
    )


def test_an_empty_repository_says_so(kernels: Repository, access: Access) -> None:
    with pytest.raises(UpstreamError) as caught:
        fetch.resolve(entry(kernels.url), "main", access)
    assert caught.value.message == "upstream `kernels` has no branch or tag at all: the repository is empty"


def test_offline_only_ids_in_the_cache_are_known(kernels: Repository, access: Access) -> None:
    revision = kernels.commit({"k.py": ""})
    fetch.snapshot(entry(kernels.url), revision, access)
    offline = replace(access, offline=True)
    assert fetch.resolve(entry(kernels.url), revision[:9], offline) == revision
    assert fetch.resolve(entry(kernels.url), revision, offline) == revision
    for rev in ("main", "d" * 10):
        with pytest.raises(UpstreamError, match=f"what `{rev}` stands for is not in the cache"):
            fetch.resolve(entry(kernels.url), rev, offline)


def test_refs_are_full_names_with_tags_followed(kernels: Repository, access: Access) -> None:
    revision = kernels.commit({"k.py": ""})
    kernels.tag("v1", revision, annotated=True)
    proposed = kernels.commit({"k.py": "K"}, ref="refs/pull/1/head", parent=revision)
    everything = {"HEAD": revision, "refs/heads/main": revision, "refs/pull/1/head": proposed, "refs/tags/v1": revision}
    assert fetch.refs(entry(kernels.url), access) == everything
    assert fetch.refs(entry(kernels.url), access, ["refs/tags/*"]) == {"refs/tags/v1": revision}
    assert fetch.refs(entry(kernels.url), access, ["HEAD", "refs/pull/*"]) == {
        "HEAD": revision,
        "refs/pull/1/head": proposed,
    }


def test_a_ref_may_hold_any_letter(kernels: Repository, access: Access) -> None:
    revision = kernels.commit({"k.py": ""}, ref="refs/heads/a\u2028b\x85é")
    assert fetch.refs(entry(kernels.url), access) == {"refs/heads/a\u2028b\x85é": revision}


def test_refs_of_branches_cost_one_listing_of_branches(kernels: Repository, server: Server, access: Access) -> None:
    revision = kernels.commit({"k.py": ""})
    found = fetch.refs(entry(f"{server.url}/kernels.git"), access, ["refs/heads/main"])
    assert found == {"refs/heads/main": revision}
    assert [request.method for request in server.requests] == ["GET", "POST"]
    assert b"ref-prefix refs/heads/\n" in server.requests[1].body
    assert b"ref-prefix refs/tags/" not in server.requests[1].body


def test_refs_come_from_a_mirror_where_the_address_fails(kernels: Repository, access: Access) -> None:
    revision = kernels.commit({"k.py": ""})
    upstream = entry("file:///nowhere.git", mirrors=[kernels.url])
    assert fetch.refs(upstream, access, ["HEAD"]) == {"HEAD": revision}


def test_sha_256_ids_are_refused(tmp_path: Path, access: Access) -> None:
    other = repository(tmp_path / "other.git", object_format="sha256")
    other.commit({"k.py": ""})
    with pytest.raises(UpstreamError, match="does not use SHA-1 ids"):
        fetch.resolve(entry(other.url), "main", access)
