import hashlib

import pytest

from tests.support.trees import made, tree
from vendor_tool import patch as patches
from vendor_tool.errors import ConflictError, UsageError
from vendor_tool.model import Blob, Tree
from vendor_tool.patch import Offset, Patch

LOOK_ALIKES = """\
def head(x):
    return x


def warm(x):
    n = x
    n = n + 1
    return n


def dq(x):
    n = x
    n = n + 1
    return n


def dkv(x):
    n = x
    n = n + 1
    return n
"""


def patch(hunks: str, path: str = "v/k.py", extra: str = "") -> Patch:
    text = f"Description: x\n\ndiff --git a/{path} b/{path}\n{extra}--- a/{path}\n+++ b/{path}\n{hunks}"
    return patches.parse("patches/demo/0001-x.patch", text.encode())


def applied(hunks: str, before: str) -> str:
    return patches.apply(patch(hunks), tree({"v/k.py": before}))["v/k.py"].data.decode()


def refused(hunks: str, before: str) -> ConflictError:
    with pytest.raises(ConflictError) as caught:
        patches.apply(patch(hunks), tree({"v/k.py": before}))
    return caught.value


# ---- never a line that does not fit -----------------------------------------------------------------------


def test_a_removed_line_that_upstream_changed_is_a_conflict_and_no_fuzz() -> None:
    hunk = "@@ -1,5 +1,5 @@\n a\n b\n-tile = 64\n+tile = 32\n c\n d\n"
    error = refused(hunk, "a\nb\ntile = 128\nc\nd\n")
    assert error.message == (
        "`patches/demo/0001-x.patch` does not apply: hunk 1 (line 6 of the patch) expects `tile = 64` "
        "at line 3 of `v/k.py`, which holds `tile = 128`"
    )
    assert error.hint


def test_a_context_line_that_upstream_changed_is_a_conflict_too() -> None:
    assert "expects `b` at line 2" in refused("@@ -1,3 +1,3 @@\n a\n b\n-c\n+d\n", "a\nB\nc\n").message


def test_nothing_of_a_patch_is_applied_when_its_second_file_does_not_fit() -> None:
    before = tree({"v/a.py": "a\n", "v/b.py": "changed\n"})
    change = made(tree({"v/a.py": "a\n", "v/b.py": "b\n"}), tree({"v/a.py": "A\n", "v/b.py": "B\n"}))
    with pytest.raises(ConflictError):
        patches.apply(change, before)
    assert before == tree({"v/a.py": "a\n", "v/b.py": "changed\n"})


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("a\r\nb\r\n", "a"),
        ("a \nb\n", "a"),
        ("a\nb", "b"),
    ],
    ids=["carriage return", "space at the end", "no newline at the end"],
)
def test_lines_fit_byte_for_byte(before: str, expected: str) -> None:
    assert f"expects `{expected}`" in refused("@@ -1,2 +1,3 @@\n a\n b\n+c\n", before).message


def test_a_difference_in_white_space_is_named_as_such() -> None:
    error = refused("@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nb  \n")
    assert error.hint == "the lines differ in white space only: did a white-space fixer touch the patch file?"


def test_a_change_that_is_there_already_is_said() -> None:
    error = refused("@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n", "a\nc\nd\n")
    assert error.hint
    assert "its effect is there already" in error.hint


def test_bytes_that_are_no_text_in_any_encoding_are_kept() -> None:
    before = {"v/k.py": Blob(b"# caf\xe9\r\nx = 1\r\ny = '\x80'")}
    after = {"v/k.py": Blob(b"# caf\xe9\r\nx = 2\r\ny = '\x81'")}
    assert patches.apply(made(before, after), before) == after


def test_a_patch_in_reverse_gives_back_what_it_was_made_from() -> None:
    before = {
        "v/k.py": Blob(b"# caf\xe9\r\nx = 1\r\ny = '\x80'"),
        "v/run.py": Blob(b"a\nb\nc\n"),
        "v/went.py": Blob(b"gone\n"),
    }
    after = {
        "v/k.py": Blob(b"# caf\xe9\r\nx = 2\r\ny = '\x81'"),
        "v/new.py": Blob(b"one\ntwo\n"),
        "v/run.py": Blob(b"a\nc\nd\n", True),
    }
    change = made(before, after)
    assert patches.apply(change, before) == after
    assert patches.apply(patches.reverse(change), after) == before
    assert patches.apply(patches.reverse(patches.reverse(change)), before) == after


# ---- the right one of several places ----------------------------------------------------------------------


def test_the_heading_picks_the_function_where_the_recorded_line_is_another_one() -> None:
    hunk = "@@ -6,3 +6,3 @@ def dq(x):\n     n = x\n-    n = n + 1\n+    n = n + 100\n     return n\n"
    before, _, after = LOOK_ALIKES.partition("def dq(x):\n    n = x\n    n = n + 1\n")
    assert applied(hunk, LOOK_ALIKES) == before + "def dq(x):\n    n = x\n    n = n + 100\n" + after


def test_without_a_heading_look_alikes_are_unclear() -> None:
    hunk = "@@ -6,3 +6,3 @@\n     n = x\n-    n = n + 1\n+    n = n + 100\n     return n\n"
    error = refused(hunk, LOOK_ALIKES)
    assert error.message == (
        "`patches/demo/0001-x.patch` is unclear: hunk 1 (line 6 of the patch) fits `v/k.py` at lines 6, 12, 18 alike"
    )
    assert error.hint == "make the patch again with more lines of context: `git diff -U10`"


def test_the_only_place_that_fits_is_refused_where_the_heading_names_another_function() -> None:
    upstream = LOOK_ALIKES.replace("def dq(x):\n    n = x\n    n = n + 1\n", "def dq(x):\n    n = x\n    n += 1\n")
    upstream = upstream.replace("def dkv(x):\n    n = x\n    n = n + 1\n", "def dkv(x):\n    n = x\n    n = n + 2\n")
    hunk = "@@ -6,3 +6,3 @@ def dq(x):\n     n = x\n-    n = n + 1\n+    n = n + 100\n     return n\n"
    error = refused(hunk, upstream)
    assert error.message == (
        "`patches/demo/0001-x.patch` is unclear: hunk 1 (line 6 of the patch) belongs to `def dq(x):` "
        "and fits `v/k.py` only elsewhere: line 6 (`def warm(x):`)"
    )


def test_a_function_that_got_another_signature_is_still_the_same() -> None:
    before = "def dq(x, scale=1):\n    n = x\n    n = n + 1\n    return n\n"
    hunk = "@@ -2,3 +2,3 @@ def dq(x):\n     n = x\n-    n = n + 1\n+    n = n + 100\n     return n\n"
    assert "n + 100" in applied(hunk, before)


def test_headings_of_the_python_rule_of_git_count() -> None:
    methods = (
        "class A:\n    def f(self):\n        x\n        y\n\n    def g(self):\n        x\n        y\n\n    z = 1\n"
    )
    hunk = "@@ -3,3 +3,3 @@ def f(self):\n         x\n-        y\n+        z\n \n"
    assert applied(hunk, methods) == methods.replace("        y\n", "        z\n", 1)


def test_the_id_of_the_old_file_makes_recorded_lines_certain() -> None:
    blob = hashlib.sha1(b"blob %d\0" % len(LOOK_ALIKES) + LOOK_ALIKES.encode(), usedforsecurity=False).hexdigest()
    hunk = "@@ -18,3 +18,3 @@\n     n = x\n-    n = n + 1\n+    n = n + 100\n     return n\n"
    change = patch(hunk, extra=f"index {blob[:9]}..0000000 100644\n")
    after = patches.apply(change, tree({"v/k.py": LOOK_ALIKES}))["v/k.py"].data.decode()
    assert after == LOOK_ALIKES[: LOOK_ALIKES.index("def dkv")] + (
        "def dkv(x):\n    n = x\n    n = n + 100\n    return n\n"
    )
    with pytest.raises(ConflictError, match="unclear"):
        patches.apply(change, tree({"v/k.py": LOOK_ALIKES + "\n"}))


def test_the_order_of_hunks_rules_places_out() -> None:
    before = "x\nmiddle\nx\nlast\n"
    first = "@@ -1,2 +1,2 @@\n-x\n+y\n middle\n"
    second = "@@ -3 +3 @@\n-x\n+z\n"
    assert applied(first + second, before) == "y\nmiddle\nz\nlast\n"


def test_an_end_of_file_is_context() -> None:
    hunk = "@@ -1,2 +1,3 @@\n a\n b\n+c\n"
    assert applied(hunk, "a\nb\n") == "a\nb\nc\n"
    assert "`v/k.py` goes on below line 2" in refused(hunk, "a\nb\nx\n").message


def test_a_hunk_without_context_that_only_adds_is_unclear() -> None:
    assert "unclear" in refused("@@ -1,0 +2 @@\n+c\n", "a\nb\n").message


def test_another_line_than_recorded_is_told() -> None:
    change = patch("@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n")
    moved = tree({"v/k.py": "new\nnew\na\nb\nd\n"})
    assert patches.offsets(change, moved) == (Offset("v/k.py", 1, 1, 3),)
    assert patches.offsets(change, tree({"v/k.py": "a\nb\nd\n"})) == ()


# ---- what fixers of white space do ------------------------------------------------------------------------


def test_empty_context_without_its_space_and_cut_off_at_the_end_is_taken() -> None:
    hunk = "@@ -2,4 +2,4 @@\n\n-BLOCK = 64\n+BLOCK = 32\n\n"
    assert applied(hunk, "import a\n\nBLOCK = 64\n\n\ndef f(): ...\n") == "import a\n\nBLOCK = 32\n\n\ndef f(): ...\n"


def test_context_that_was_cut_off_must_be_empty_in_the_file() -> None:
    hunk = "@@ -2,4 +2,4 @@\n\n-BLOCK = 64\n+BLOCK = 32\n\n"
    assert "does not apply" in refused(hunk, "import a\n\nBLOCK = 64\n\nX = 1\n").message


# ---- files that come, go, move ----------------------------------------------------------------------------

FILES: Tree = {"v/a.py": Blob(b"a\nb\n"), "v/run.sh": Blob(b"go\n", True)}


@pytest.mark.parametrize(
    "after",
    [
        {**FILES, "v/new.py": Blob(b"n\n")},
        {**FILES, "v/new.py": Blob(b"")},
        {**FILES, "v/new.sh": Blob(b"no newline", True)},
        {"v/run.sh": FILES["v/run.sh"]},
        {**FILES, "v/run.sh": Blob(b"go\n")},
        {**FILES, "v/run.sh": Blob(b"stop\n")},
        {"v/b.py": FILES["v/a.py"], "v/run.sh": FILES["v/run.sh"]},
        {"v/a.py": Blob(b""), "v/run.sh": FILES["v/run.sh"]},
    ],
    ids=["new", "new and empty", "new executable", "deleted", "mode", "text of an executable", "renamed", "emptied"],
)
def test_whole_files_change_as_git_says_it(after: Tree) -> None:
    assert patches.apply(made(FILES, after), FILES) == after


def test_a_new_file_that_is_there_is_a_conflict() -> None:
    change = made(FILES, {**FILES, "v/new.py": Blob(b"n\n")})
    with pytest.raises(ConflictError, match=r"adds `v/new.py`, which is there already"):
        patches.apply(change, {**FILES, "v/new.py": Blob(b"n\n")})


def test_a_deleted_file_must_hold_what_the_patch_takes_out() -> None:
    change = made(FILES, {"v/run.sh": FILES["v/run.sh"]})
    with pytest.raises(ConflictError, match=r"deletes `v/a.py`, whose content is not"):
        patches.apply(change, {**FILES, "v/a.py": Blob(b"a\nb\nmore\n")})


def test_a_path_of_another_entry_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        patches.apply(made(FILES, {**FILES, "v/a.py": Blob(b"c\n")}), {"w/a.py": FILES["v/a.py"]})
    assert caught.value.message == "patches/demo/0001-change.patch:5: `v/a.py` is not a file of this upstream entry"


def test_a_new_file_outside_the_folder_of_the_entry_is_refused() -> None:
    change = made(FILES, {**FILES, "w/new.py": Blob(b"n\n")})
    with pytest.raises(UsageError, match="`w/new.py` is outside `v`"):
        patches.apply(change, FILES, folder="v")


def test_a_series_is_applied_in_the_order_given_and_each_tree_is_kept() -> None:
    one, two, three = (tree({"v/k.py": text}) for text in ("a\n", "b\n", "c\n"))
    first, second = made(one, two, "patches/9.patch"), made(two, three, "patches/1.patch")
    assert patches.replay([first, second], one) == (two, three)
    with pytest.raises(ConflictError, match="`patches/1.patch` does not apply"):
        patches.replay([second, first], one)
