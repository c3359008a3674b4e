from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.trees import check_out, git, made, read_back, tree
from vendor_tool import patch as patches
from vendor_tool.errors import ConflictError
from vendor_tool.model import Blob, Tree

HEAD = {"Description": "Use the smaller tile", "Author": "Ada <ada@example.invalid>", "Forwarded": "no"}

OLD = """\
import torch

TILE = 64


def scale(x, factor):
    rows, columns = x.shape
    out = torch.empty_like(x)
    for row in range(rows):
        out[row] = x[row] * factor
    return out


def shift(x, by):
    return x + by
"""


def without_ids(diff: bytes) -> bytes:
    return b"".join(line for line in diff.splitlines(keepends=True) if not line.startswith(b"index "))


def test_a_patch_reads_as_git_would_write_it() -> None:
    new = OLD.replace("TILE = 64", "TILE = 32").replace("x[row] * factor", "x[row] / factor")
    new += "\n\ndef last(x):\n    return x"
    expected = """\
Description: Use the smaller tile
Author: Ada <ada@example.invalid>
Forwarded: no

diff --git a/v/k.py b/v/k.py
--- a/v/k.py
+++ b/v/k.py
@@ -1,15 +1,19 @@
 import torch
~
-TILE = 64
+TILE = 32
~
~
 def scale(x, factor):
     rows, columns = x.shape
     out = torch.empty_like(x)
     for row in range(rows):
-        out[row] = x[row] * factor
+        out[row] = x[row] / factor
     return out
~
~
 def shift(x, by):
     return x + by
+
+
+def last(x):
+    return x
\\ No newline at end of file
"""
    got = patches.render(tree({"v/k.py": OLD}), tree({"v/k.py": new}), HEAD).decode()
    assert got.replace("\n \n", "\n~\n").replace("\n \n", "\n~\n") == expected


def test_equal_trees_give_no_patch() -> None:
    assert patches.render(tree({"v/k.py": OLD}), tree({"v/k.py": OLD}), HEAD) == b""


def test_the_bytes_of_a_head_are_kept() -> None:
    head = b"Description: as it stands\n  with odd spaces\n\nfree text\n\n"
    assert patches.render(tree({"v/k.py": "a\n"}), tree({"v/k.py": "b\n"}), head).startswith(head + b"diff --git ")


ODD: Tree = {
    "v/a b.py": Blob(b"a\n"),
    "v/caf\u00e9.py": Blob(b"a\n"),
    'v/q"\\.py': Blob(b"a\n"),
    "v/run": Blob(b"go\n", True),
    "v/end.py": Blob(b"a\nb"),
    "v/crlf.py": Blob(b"a\r\nb\r\n"),
    "v/latin.py": Blob(b"# \xe9\n"),
    "v/gone.py": Blob(b"x\n"),
    "v/moved.py": Blob(b"1\n2\n3\n4\n"),
}
ODD_AFTER: Tree = {
    "v/a b.py": Blob(b"b\n"),
    "v/caf\u00e9.py": Blob(b"b\n"),
    'v/q"\\.py': Blob(b"b\n"),
    "v/run": Blob(b"go\n"),
    "v/end.py": Blob(b"a\nb\n"),
    "v/crlf.py": Blob(b"a\r\nc\r\n"),
    "v/latin.py": Blob(b"# \xe8\n"),
    "v/new.py": Blob(b"new", True),
    "v/empty.py": Blob(b""),
    "v/moved/to.py": Blob(b"1\n2\n3\n5\n"),
}


def test_odd_files_come_out_as_git_writes_them_and_git_applies_them(tmp_path: Path) -> None:
    text = patches.render(ODD, ODD_AFTER, HEAD)
    check_out(ODD, tmp_path)
    git(tmp_path, "apply", "--whitespace=nowarn", stdin=text)
    assert read_back(tmp_path) == ODD_AFTER
    git(tmp_path, "add", "-A")
    assert text.partition(b"\n\n")[2] == without_ids(git(tmp_path, "diff", "--cached", "-M", "--no-ext-diff"))


def test_a_hunk_gets_context_until_it_fits_in_one_place_only() -> None:
    body = "    n = x\n    n = n + 1\n    n = n * 2\n    n = n - 3\n    n = n + 4\n"
    old = f"def f(x):\n{body}    # half\n{body}    return n\n"
    new = old[::-1].replace("    n = n * 2\n"[::-1], "    n = n * 5\n"[::-1], 1)[::-1]
    change = made(tree({"v/k.py": old}), tree({"v/k.py": new}))
    (hunk,) = change.files[0].hunks
    assert (" ", b"    # half\n") in hunk.lines
    shifted = "\n" * 40 + old
    assert patches.apply(change, tree({"v/k.py": shifted})) == tree({"v/k.py": "\n" * 40 + new})


line = st.sampled_from(["def f(x):\n", "def g(x):\n", "    x += 1\n", "    x -= 1\n", "\n", "    return x\n", "\r\n"])
text = st.lists(line, max_size=25).map("".join)


@given(text, text, st.booleans(), st.booleans())
def test_what_is_rendered_reads_back_and_leads_from_the_old_tree_to_the_new(
    old: str, new: str, cut_old: bool, cut_new: bool
) -> None:
    before = tree({"v/k.py": old[:-1] if cut_old else old})
    after = tree({"v/k.py": new[:-1] if cut_new else new})
    rendered = patches.render(before, after, HEAD)
    assert rendered == patches.render(before, after, HEAD)
    if before == after:
        assert rendered == b""
        return
    change = patches.parse("p.patch", rendered)
    assert dict(change.head) == HEAD
    assert patches.apply(change, before) == after
    assert patches.offsets(change, before) == ()


@given(text, text, text, text)
def test_a_patch_never_lands_in_a_look_alike_above_or_below(old: str, new: str, above: str, below: str) -> None:
    before, after = tree({"v/k.py": old}), tree({"v/k.py": new})
    if before == after:
        return
    with suppress(ConflictError):
        got = patches.apply(made(before, after), tree({"v/k.py": above + old + below}))
        assert got == tree({"v/k.py": above + new + below})


def test_a_patch_whose_lines_stand_once_is_applied_wherever_they_are() -> None:
    new = OLD.replace("TILE = 64", "TILE = 32")
    change = made(tree({"v/k.py": OLD}), tree({"v/k.py": new}))
    assert patches.apply(change, tree({"v/k.py": f"# head\n{OLD}tail = 1\n"})) == tree(
        {"v/k.py": f"# head\n{new}tail = 1\n"}
    )


def test_a_change_in_thousands_of_equal_lines_is_found_again_soon() -> None:
    before = tree({"v/table.txt": "0,\n" * 20_000})
    after = tree({"v/table.txt": "0,\n" * 9_000 + "1,\n" + "0,\n" * 10_999})
    assert patches.apply(made(before, after), before) == after


@pytest.mark.parametrize("lines", [1, 2, 3, 8, 40])
def test_equal_blocks_all_over_a_file_never_confuse_a_patch(lines: int) -> None:
    old = ["same\n"] * lines
    for at in range(lines):
        new = [*old[:at], "other\n", *old[at + 1 :]]
        before, after = tree({"v/k.py": "".join(old)}), tree({"v/k.py": "".join(new)})
        assert patches.apply(made(before, after), before) == after
