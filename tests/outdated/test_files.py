from dataclasses import replace

import pytest

from tests.outdated.facts import PIN, RESOLVED, UPSTREAM, listing, oid
from vendor_tool.model import At, Entry, FileSpec, LegalFile, Snapshot, Upstream
from vendor_tool.outdated.files import Changes, compare

OLD = listing(PIN)


def kinds(changes: Changes) -> list[tuple[str, str, str | None]]:
    return [(change.recorded.path, change.kind, change.new_path) for change in changes.files]


def test_same_listing_has_no_changes() -> None:
    assert compare(UPSTREAM, listing(), OLD) == Changes((), 0, None, None)


def test_changes_elsewhere_are_counted_and_not_ours() -> None:
    new = listing(other={"README.md": "new", "docs/a.md": "added", "docs/other.py": "added"})
    assert compare(UPSTREAM, new, OLD) == Changes((), 3, None, None)


def test_without_the_old_listing_nothing_is_said_of_the_rest() -> None:
    assert compare(UPSTREAM, listing(other={"docs/a.md": "x"})).elsewhere is None
    assert compare(UPSTREAM, listing(), replace(OLD, partial=True)).elsewhere is None


def test_changed_file_has_its_new_blob() -> None:
    [change] = compare(UPSTREAM, listing(other={"ops/bwd.py": "fixed"}), OLD).files
    assert (change.kind, change.new_path, change.new_blob) == ("changed", "ops/bwd.py", oid("fixed"))


def test_same_bytes_at_one_new_path_are_a_rename() -> None:
    new = listing(other={"ops/bwd.py": None, "kernels/back.py": "ops/bwd.py"})
    assert kinds(compare(UPSTREAM, new, OLD)) == [("ops/bwd.py", "renamed", "kernels/back.py")]


def test_same_bytes_at_two_new_paths_are_no_rename_but_both_are_named() -> None:
    new = listing(other={"ops/bwd.py": None, "a/bwd.py": "ops/bwd.py", "b/bwd.py": "ops/bwd.py"})
    [change] = compare(UPSTREAM, new, OLD).files
    assert (change.kind, change.candidates) == ("gone", ("a/bwd.py", "b/bwd.py"))


def test_copy_that_stood_there_before_is_no_rename() -> None:
    old = listing(PIN, {"copy/bwd.py": "ops/bwd.py"})
    new = listing(other={"ops/bwd.py": None, "copy/bwd.py": "ops/bwd.py"})
    assert kinds(compare(UPSTREAM, new, old)) == [("ops/bwd.py", "gone", None)]


def test_gone_file_names_new_files_of_its_name_nearest_first() -> None:
    new = listing(other={"ops/bwd.py": None, "far/bwd.py": "x", "ops/kernel/bwd.py": "y"})
    [change] = compare(UPSTREAM, new, OLD).files
    assert (change.kind, change.candidates) == ("gone", ("ops/kernel/bwd.py", "far/bwd.py"))


def test_mode_alone_is_a_change_of_mode() -> None:
    entries = {**OLD.entries, "ops/fwd.py": Entry("100755", "blob", oid("ops/fwd.py"))}
    assert kinds(compare(UPSTREAM, Snapshot("b" * 40, OLD.date, entries))) == [("ops/fwd.py", "mode", "ops/fwd.py")]


def test_file_that_only_a_patch_makes_is_nothing_of_upstreams() -> None:
    made = replace(RESOLVED, files=(replace(RESOLVED.files[0], path="ops/made.py", blob=""),))
    assert compare(replace(UPSTREAM, resolved=made), listing()).files == ()


def test_licence_and_notice_are_watched() -> None:
    assert compare(UPSTREAM, listing(other={"LICENSE": "other"})).license == "changed"
    assert compare(UPSTREAM, listing(other={"LICENSE": None})).license == "gone"
    assert compare(UPSTREAM, listing(other={"NOTICE": "x"})).notice == "added"
    assert compare(UPSTREAM, listing(other={"docs/NOTICE": "x"})).notice is None
    notice = LegalFile("NOTICE", oid("x"), "vendored/LICENSES/demo.NOTICE", "")
    noticed = replace(UPSTREAM, resolved=replace(RESOLVED, notice=notice))
    assert compare(noticed, listing(other={"NOTICE": "x"})).notice is None
    assert compare(noticed, listing()).notice == "gone"


def test_a_licence_under_another_name_is_the_same_licence() -> None:
    assert compare(UPSTREAM, listing(other={"LICENSE": None, "LICENSE.md": "LICENSE"})).license is None
    assert compare(UPSTREAM, listing(other={"LICENSE": None, "docs/LICENSE": "LICENSE"})).license == "gone"


def test_a_notice_counts_in_the_folder_of_our_files_and_above_it() -> None:
    found = compare(UPSTREAM, listing(other={"ops/NOTICE": "x"}))
    assert (found.notice, found.legal_blobs) == ("added", (oid("LICENSE"), oid("x")))
    assert compare(UPSTREAM, listing(other={"ops/deep/NOTICE": "x"})).notice is None
    noticed = replace(UPSTREAM, resolved=replace(RESOLVED, notice=LegalFile("NOTICE", oid("x"), "", "")))
    assert compare(noticed, listing(other={"NOTICE": "x", "ops/NOTICE": "y"})).notice == "added"


# ---- new files --------------------------------------------------------------------------------------------


def patterns(*paths: str, intent: str = "") -> Upstream:
    """The upstream with these items of `files:`."""
    return replace(UPSTREAM, files=tuple(FileSpec(path, None, At(12, 9)) for path in paths), intent=intent)


def taken(changes: Changes) -> list[tuple[str, str, str]]:
    return [(file.path, file.to, file.spec.path) for file in changes.new]


NEW_FILES: dict[str, str | None] = {"ops/more.py": "m", "ops/deep/er.py": "d", "other/x.py": "x", "ops/notes.md": "n"}


@pytest.mark.parametrize("old", [OLD, None])
def test_what_a_pattern_matches_and_the_record_lacks_is_ours(old: Snapshot | None) -> None:
    changes = compare(patterns("fwd.py", "*.py"), listing(other=NEW_FILES), old)
    assert (taken(changes), changes.beside, changes.ours) == ([("ops/more.py", "vendored/more.py", "*.py")], (), True)
    assert taken(compare(patterns("**/*.py"), listing(other=NEW_FILES), old)) == [
        ("ops/deep/er.py", "vendored/deep/er.py", "**/*.py"),
        ("ops/more.py", "vendored/more.py", "**/*.py"),
    ]


def test_of_two_patterns_the_last_one_takes_a_file_as_in_a_sync() -> None:
    assert taken(compare(patterns("m*", "*.py"), listing(other=NEW_FILES), OLD))[0][2] == "*.py"


def test_a_pattern_that_was_widened_makes_nothing_new_of_what_stood_there_before() -> None:
    old = listing(PIN, {"ops/more.py": "m"})
    assert compare(patterns("*.py", intent="edited"), listing(other=NEW_FILES), old).new == ()
    assert compare(patterns("*.py", intent="edited"), listing(other=NEW_FILES)).new == ()


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({}, {"ops/more.py": "m"}, ("ops/more.py",)),
        ({"ops/__init__.py": ""}, {"ops/__init__.py": "", "ops/more.py": "m"}, ("ops/more.py",)),
        ({"ops/theirs.py": "t"}, {"ops/theirs.py": "t", "ops/more.py": "m"}, ()),
        ({}, {"ops/__init__.py": "", "ops/more.md": "m", "ops/deep/er.py": "d"}, ()),
    ],
    ids=[
        "new",
        "beside an __init__.py that is not ours",
        "in a folder that is not all ours",
        "of another kind or place",
    ],
)
def test_a_file_that_is_new_in_a_folder_of_which_all_are_listed_stands_beside_ours(
    before: dict[str, str | None], after: dict[str, str | None], told: tuple[str, ...]
) -> None:
    changes = compare(UPSTREAM, listing(other=after), listing(PIN, before))
    assert (changes.beside, changes.new, changes.ours) == (told, (), False)


def test_what_is_listed_by_now_or_took_a_file_of_ours_in_stands_not_beside_it() -> None:
    new = listing(other={"ops/fwd.py": None, "ops/front.py": "ops/fwd.py", "ops/more.py": "m"})
    assert compare(UPSTREAM, new, OLD).beside == ("ops/more.py",)
    assert compare(patterns("fwd.py", "bwd.py", "index.py", "more.py"), new, OLD).beside == ()


def test_one_listed_file_makes_no_folder_ours() -> None:
    lone = replace(UPSTREAM, resolved=replace(RESOLVED, files=RESOLVED.files[:1]))
    old = listing(PIN, {"ops/bwd.py": None, "ops/index.py": None})
    new = listing(other={"ops/bwd.py": None, "ops/index.py": None, "ops/more.py": "m"})
    assert compare(lone, new, old).beside == ()
