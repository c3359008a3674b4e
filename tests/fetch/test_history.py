"""The commits between two revisions, whatever the shape of the history."""

from dataclasses import replace

import pytest

from tests.support.server import Server
from tests.support.upstream import Repository, entry
from vendor_tool import fetch
from vendor_tool.errors import UpstreamError
from vendor_tool.model import Access, Commit


def subjects(commits: tuple[Commit, ...]) -> list[str]:
    return [commit.subject for commit in commits]


def test_commits_that_touch_the_paths_come_newest_first(kernels: Repository, access: Access) -> None:
    old = kernels.commit({"ops/fwd.py": "1", "ops/bwd.py": "1", "other.py": "1"}, "start")
    first = kernels.commit(
        {"ops/fwd.py": "2", "ops/bwd.py": "2", "other.py": "2"},
        "fix: NaN in the forward\n\nSeen with a window of one.\n\nFixes #7\n",
        zone="+0100",
        author="Bé Example",
    )
    kernels.commit({"other.py": "3"}, "not ours")
    new = kernels.commit({"ops/bwd.py": None}, "drop the backward")
    paths = ["ops/fwd.py", "ops/bwd.py"]
    assert fetch.log(entry(kernels.url), old, new, paths, access) == (
        Commit(new, "2023-11-14T22:16:20+00:00", "Ada Example", "drop the backward", "", ("ops/bwd.py",)),
        Commit(
            first,
            "2023-11-14T23:14:20+01:00",
            "Bé Example",
            "fix: NaN in the forward",
            "Seen with a window of one.\n\nFixes #7",
            ("ops/bwd.py", "ops/fwd.py"),
        ),
    )
    assert fetch.log(entry(kernels.url), old, old, paths, access) == ()
    assert fetch.log(entry(kernels.url), old, new, [], access) == ()


def test_paths_are_names_and_never_patterns_or_options(kernels: Repository, access: Access) -> None:
    old = kernels.commit({"k.py": "1"})
    new = kernels.commit({"k.py": "2", "-k.py": "2", ":(top)k.py": "2"}, "all")
    found = fetch.log(entry(kernels.url), old, new, ["*.py", "-k.py", ":(top)k.py"], access)
    assert [commit.paths for commit in found] == [("-k.py", ":(top)k.py")]


def test_contents_and_older_history_are_not_fetched(kernels: Repository, server: Server, access: Access) -> None:
    old = [kernels.commit({"k.py": f"OLD = {number}\n" * 50}) for number in range(20)][-1]
    new = kernels.commit({"k.py": "NEW = 1\n" * 1000}, "new")
    assert subjects(fetch.log(entry(f"{server.url}/kernels.git"), old, new, ["k.py"], access)) == ["new"]
    (store,) = (access.cache / "git").iterdir()
    held = Repository(store).git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split()
    assert sorted(held) == ["commit", "commit", "tree", "tree"]


def test_a_listing_of_the_new_revision_first_changes_nothing(kernels: Repository, access: Access) -> None:
    old = kernels.commit({"k.py": "1"}, "one")
    kernels.commit({"k.py": "2"}, "two")
    new = kernels.commit({"k.py": "3"}, "three")
    for revision in (old, new):
        fetch.snapshot(entry(kernels.url), revision, access)
    assert subjects(fetch.log(entry(kernels.url), old, new, ["k.py"], access)) == ["three", "two"]


def test_a_side_branch_that_left_before_the_old_revision_does_not_list_what_the_old_one_has(
    kernels: Repository, access: Access
) -> None:
    root = kernels.commit({"k.py": "0"}, "root")
    kernels.commit({"k.py": "1"}, "before")
    old = kernels.commit({"j.py": "1"}, "old")
    side = kernels.commit({"k.py": "side"}, "side", ref="refs/heads/side", parent=root)
    new = kernels.commit({"k.py": "merged"}, "merge", merges=[side])
    found = fetch.log(entry(kernels.url), old, new, ["k.py"], access)
    assert subjects(found) == ["merge", "side"]


def test_a_rewritten_history_lists_what_only_the_new_one_has(kernels: Repository, access: Access) -> None:
    root = kernels.commit({"k.py": "0"}, "root")
    old = kernels.commit({"k.py": "1"}, "old")
    new = kernels.commit({"k.py": "2"}, "new", parent=root)
    assert subjects(fetch.log(entry(kernels.url), old, new, ["k.py"], access)) == ["new"]


@pytest.mark.parametrize("ref", ["refs/heads/main", "refs/pull/7/head"])
def test_a_server_that_gives_no_single_commits_is_searched(
    kernels: Repository, server: Server, access: Access, ref: str
) -> None:
    kernels.configure("uploadpack.allowAnySHA1InWant", "false")
    server.old_protocol = True
    pins = [kernels.commit({"k.py": str(number)}, f"c{number}", ref=ref) for number in range(4)]
    upstream = entry(f"{server.url}/kernels.git")
    assert subjects(fetch.log(upstream, pins[0], pins[2], ["k.py"], access)) == ["c2", "c1"]
    gone = "d" * 40
    with pytest.raises(UpstreamError, match="no ref of this server leads to both commits"):
        fetch.log(upstream, pins[0], gone, ["k.py"], access)


def test_each_further_question_is_answered_right(kernels: Repository, access: Access) -> None:
    pins = [kernels.commit({"k.py": str(number)}, f"c{number}") for number in range(6)]
    upstream = entry(kernels.url)
    assert subjects(fetch.log(upstream, pins[2], pins[3], ["k.py"], access)) == ["c3"]
    assert subjects(fetch.log(upstream, pins[3], pins[5], ["k.py"], access)) == ["c5", "c4"]
    assert subjects(fetch.log(upstream, pins[0], pins[5], ["k.py"], access)) == ["c5", "c4", "c3", "c2", "c1"]
    assert subjects(fetch.log(upstream, pins[5], pins[0], ["k.py"], access)) == []
    offline = replace(access, offline=True)
    assert subjects(fetch.log(upstream, pins[1], pins[4], ["k.py"], offline)) == ["c4", "c3", "c2"]


def test_offline_without_the_history_says_what_is_missing(kernels: Repository, access: Access) -> None:
    old, new = kernels.commit({"k.py": "1"}), kernels.commit({"k.py": "2"})
    with pytest.raises(UpstreamError) as caught:
        fetch.log(entry(kernels.url), old, new, ["k.py"], replace(access, offline=True))
    assert caught.value.message == (
        f"upstream `kernels`: the history from `{old[:12]}` to `{new[:12]}` is not in the cache, "
        "and `--offline` forbids to fetch"
    )


def test_a_commit_is_found_in_the_history_of_another_and_the_answer_is_kept(
    kernels: Repository, server: Server, access: Access
) -> None:
    old = kernels.commit({"k.py": "1"})
    new = kernels.commit({"k.py": "2"})
    aside = kernels.commit({"k.py": "3"}, ref="refs/heads/aside", parent=old)
    upstream = entry(f"{server.url}/kernels.git")
    assert fetch.descends(upstream, old, new, access)
    assert not fetch.descends(upstream, aside, new, access)
    server.requests.clear()
    assert fetch.descends(upstream, old, new, replace(access, offline=True))
    assert not fetch.descends(upstream, aside, new, replace(access, offline=True))
    assert server.requests == []


def test_what_one_commit_has_and_another_lacks_is_counted_on_both_sides(kernels: Repository, access: Access) -> None:
    base = kernels.commit({"k.py": "1"})
    tip = kernels.commit({"k.py": "2"})
    ahead = tip
    for number in range(3):
        ahead = kernels.commit({"k.py": f"fix {number}"}, ref="refs/heads/ahead", parent=ahead)
    aside = kernels.commit({"k.py": "9"}, ref="refs/heads/aside", parent=base)
    upstream = entry(kernels.url)
    asked = [(ahead, tip), (tip, ahead), (aside, tip), (tip, aside), (ahead, aside), (aside, ahead)]
    assert [fetch.lacking(upstream, one, other, access) for one, other in asked] == [3, 0, 1, 1, 4, 1]


def test_a_merge_that_leaves_the_paths_as_they_were_touches_none_of_them(kernels: Repository, access: Access) -> None:
    old = kernels.commit({"k.py": "1", "other.py": "1"})
    side = kernels.commit({"k.py": "2"}, "there", ref="refs/heads/side", parent=old)
    back = kernels.commit({"k.py": "1"}, "and back", ref="refs/heads/side", parent=side)
    kernels.commit({"k.py": "3"}, "ours")
    tree = kernels.git("rev-parse", "main^{tree}")
    merged = kernels.git("commit-tree", tree, "-p", "main", "-p", back, "-m", "merge")
    assert "merge" not in subjects(fetch.log(entry(kernels.url), old, merged, ["k.py"], access))


def test_every_version_of_a_path_comes_with_its_commit(kernels: Repository, access: Access) -> None:
    contents: list[str | None] = ["1", None, "2"]
    commits = [kernels.commit({"k.py": text, "other.py": str(text)}, f"k {text}") for text in contents]
    tip = kernels.commit({"other.py": "more"})
    blobs = [kernels.blob(commits[0], "k.py"), "0" * 40, kernels.blob(commits[2], "k.py")]
    upstream = entry(kernels.url)
    fetch.log(upstream, commits[2], tip, ["k.py"], access)
    found = fetch.versions(upstream, tip, "k.py", access)
    assert [(commit.sha, commit.subject, blob) for commit, blob in found] == [
        (sha, f"k {text}", blob) for sha, text, blob in reversed(list(zip(commits, contents, blobs, strict=True)))
    ]
    assert fetch.versions(upstream, tip, "k.py", replace(access, offline=True)) == found


def test_every_change_of_every_path_comes_with_what_it_left(kernels: Repository, access: Access) -> None:
    first = kernels.commit({"a.py": "1", "sub/b c.py": "2"}, "first")
    second = kernels.commit({"a.py": None, "n\new.py": "3"}, "second")
    third = kernels.commit({}, "nothing")
    fourth = kernels.commit({"sub/b c.py": "4"}, "fourth")
    upstream = entry(kernels.url)
    found = fetch.changes(upstream, fourth, access)
    blobs = {path: kernels.blob(sha, path) for sha, path in ((first, "a.py"), (second, "n\new.py"))}
    assert [(commit.sha, commit.paths, left) for commit, left in found] == [
        (fourth, ("sub/b c.py",), {"sub/b c.py": kernels.blob(fourth, "sub/b c.py")}),
        (second, ("a.py", "n\new.py"), {"a.py": "0" * 40, "n\new.py": blobs["n\new.py"]}),
        (first, ("a.py", "sub/b c.py"), {"a.py": blobs["a.py"], "sub/b c.py": kernels.blob(first, "sub/b c.py")}),
    ]
    offline = replace(access, offline=True)
    assert fetch.changes(upstream, fourth, offline) == found
    assert fetch.standing(upstream, [third, first], ["a.py", "n\new.py", "sub"], offline) == (
        {"n\new.py": blobs["n\new.py"]},
        {"a.py": blobs["a.py"]},
    )


def test_every_branch_and_tag_that_holds_a_commit_is_named(kernels: Repository, access: Access) -> None:
    held = kernels.commit({"k.py": "1"})
    kernels.commit({"k.py": "2"})
    kernels.commit({"k.py": "3"}, ref="refs/heads/a/b", parent=held)
    kernels.commit({"k.py": "4"}, ref="refs/heads/other")
    kernels.commit({"k.py": "5"}, ref="refs/pull/7/head", parent=held)
    kernels.tag("v1", held, annotated=True)
    upstream = entry(kernels.url)
    assert fetch.holders(upstream, held, fetch.refs(upstream, access), access) == {
        "refs/heads/a/b",
        "refs/heads/main",
        "refs/tags/v1",
    }


def test_pull_requests_are_searched_for_what_no_branch_or_tag_holds(kernels: Repository, access: Access) -> None:
    first = kernels.commit({"k.py": "1"})
    held = kernels.commit({"k.py": "2"}, ref="refs/pull/1045/head", parent=first)
    kernels.commit({"k.py": "3"}, ref="refs/pull/1045/head")
    lost = kernels.commit({"k.py": "4"}, ref="refs/heads/gone", parent=first)
    kernels.git("update-ref", "-d", "refs/heads/gone")
    upstream = entry(kernels.url)
    refs = fetch.refs(upstream, access)
    assert fetch.holders(upstream, held, refs, access) == {"refs/pull/1045/head"}
    assert fetch.holders(upstream, lost, refs, access) == frozenset()


def test_what_holds_a_commit_is_asked_anew_when_the_refs_changed(
    kernels: Repository, server: Server, access: Access
) -> None:
    held = kernels.commit({"k.py": "1"})
    upstream = entry(f"{server.url}/kernels.git")
    refs = fetch.refs(upstream, access)
    assert fetch.holders(upstream, held, refs, access) == {"refs/heads/main"}
    server.requests.clear()
    assert fetch.holders(upstream, held, refs, access) == {"refs/heads/main"}
    assert server.requests == []
    kernels.commit({"k.py": "2"}, ref="refs/heads/next", parent=held)
    assert fetch.holders(upstream, held, fetch.refs(upstream, access), access) == {
        "refs/heads/main",
        "refs/heads/next",
    }
