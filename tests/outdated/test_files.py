from dataclasses import replace

from tests.outdated.facts import PIN, RESOLVED, listing, oid
from vendor_tool.model import Entry, LegalFile, Snapshot
from vendor_tool.outdated.files import Changes, compare

OLD = listing(PIN)


def kinds(changes: Changes) -> list[tuple[str, str, str | None]]:
    return [(change.recorded.path, change.kind, change.new_path) for change in changes.files]


def test_same_listing_has_no_changes() -> None:
    assert compare(RESOLVED, listing(), OLD) == Changes((), 0, None, None)


def test_changes_elsewhere_are_counted_and_not_ours() -> None:
    new = listing(other={"README.md": "new", "docs/a.md": "added", "ops/other.py": "added"})
    assert compare(RESOLVED, new, OLD) == Changes((), 3, None, None)


def test_without_the_old_listing_nothing_is_said_of_the_rest() -> None:
    assert compare(RESOLVED, listing(other={"docs/a.md": "x"})).elsewhere is None
    assert compare(RESOLVED, listing(), replace(OLD, partial=True)).elsewhere is None


def test_changed_file_has_its_new_blob() -> None:
    [change] = compare(RESOLVED, listing(other={"ops/bwd.py": "fixed"}), OLD).files
    assert (change.kind, change.new_path, change.new_blob) == ("changed", "ops/bwd.py", oid("fixed"))


def test_same_bytes_at_one_new_path_are_a_rename() -> None:
    new = listing(other={"ops/bwd.py": None, "kernels/back.py": "ops/bwd.py"})
    assert kinds(compare(RESOLVED, new, OLD)) == [("ops/bwd.py", "renamed", "kernels/back.py")]


def test_same_bytes_at_two_new_paths_are_no_rename_but_both_are_named() -> None:
    new = listing(other={"ops/bwd.py": None, "a/bwd.py": "ops/bwd.py", "b/bwd.py": "ops/bwd.py"})
    [change] = compare(RESOLVED, new, OLD).files
    assert (change.kind, change.candidates) == ("gone", ("a/bwd.py", "b/bwd.py"))


def test_copy_that_stood_there_before_is_no_rename() -> None:
    old = listing(PIN, {"copy/bwd.py": "ops/bwd.py"})
    new = listing(other={"ops/bwd.py": None, "copy/bwd.py": "ops/bwd.py"})
    assert kinds(compare(RESOLVED, new, old)) == [("ops/bwd.py", "gone", None)]


def test_gone_file_names_new_files_of_its_name_nearest_first() -> None:
    new = listing(other={"ops/bwd.py": None, "far/bwd.py": "x", "ops/kernel/bwd.py": "y"})
    [change] = compare(RESOLVED, new, OLD).files
    assert (change.kind, change.candidates) == ("gone", ("ops/kernel/bwd.py", "far/bwd.py"))


def test_mode_alone_is_a_change_of_mode() -> None:
    entries = {**OLD.entries, "ops/fwd.py": Entry("100755", "blob", oid("ops/fwd.py"))}
    assert kinds(compare(RESOLVED, Snapshot("b" * 40, OLD.date, entries))) == [("ops/fwd.py", "mode", "ops/fwd.py")]


def test_file_that_only_a_patch_makes_is_nothing_of_upstreams() -> None:
    made = replace(RESOLVED, files=(replace(RESOLVED.files[0], path="ops/made.py", blob=""),))
    assert compare(made, listing()).files == ()


def test_licence_and_notice_are_watched() -> None:
    assert compare(RESOLVED, listing(other={"LICENSE": "other"})).license == "changed"
    assert compare(RESOLVED, listing(other={"LICENSE": None})).license == "gone"
    assert compare(RESOLVED, listing(other={"NOTICE": "x"})).notice == "added"
    assert compare(RESOLVED, listing(other={"docs/NOTICE": "x"})).notice is None
    noticed = replace(RESOLVED, notice=LegalFile("NOTICE", oid("x"), "vendored/LICENSES/demo.NOTICE", ""))
    assert compare(noticed, listing(other={"NOTICE": "x"})).notice is None
    assert compare(noticed, listing()).notice == "gone"
