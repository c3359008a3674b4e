"""A patch whose files moved: other names, the same hunks; git applies it at the new place."""

from pathlib import Path

import pytest

from tests.support.trees import check_out, git, made, read_back, tree
from vendor_tool import patch as patches
from vendor_tool.model import Blob

OLD, NEW = "a b/k.py", 'c/"ü".py'
BEFORE = "".join(f"row {n}\n" for n in range(40))
# lines that look like heads of a diff stand in the file itself
AFTER = BEFORE.replace("row 5\n", f"--- a/{OLD}\n").replace("row 30\n", f"diff --git a/{OLD} b/{OLD}\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (tree({OLD: BEFORE}), tree({OLD: AFTER})),
        (tree({OLD: AFTER}), tree({OLD: BEFORE})),
        ({OLD: Blob(b"x\n")}, {OLD: Blob(b"x\n", executable=True)}),
        (tree({"z.py": "x\n"}), tree({"z.py": "x\n", OLD: AFTER})),
        (tree({"z.py": "x\n", OLD: BEFORE}), tree({"z.py": "y\n", OLD: AFTER})),
        (tree({OLD: "x"}), tree({OLD: "x\ny"})),
    ],
    ids=["changed", "changed back", "mode", "new", "beside another", "no newline"],
)
def test_names_change_and_nothing_else(old: dict[str, Blob], new: dict[str, Blob], tmp_path: Path) -> None:
    def there(files: dict[str, Blob]) -> dict[str, Blob]:
        return {NEW if path == OLD else path: blob for path, blob in sorted(files.items())}

    patch = made(old, new)
    moved = patches.moved(patch, {OLD: NEW, "elsewhere.py": "x.py"})
    assert moved.text == patches.render(there(old), there(new), patch.preamble) or "z.py" in old
    assert patches.apply(moved, there(old)) == dict(sorted(there(new).items()))
    assert moved.preamble == patch.preamble
    assert [file.hunks for file in moved.files if file.hunks] == [file.hunks for file in patch.files if file.hunks]
    check_out(there(old), tmp_path)
    git(tmp_path, "apply", stdin=moved.text)
    assert read_back(tmp_path) == dict(sorted(there(new).items()))


def test_two_files_can_change_places() -> None:
    patch = made(tree({"a.py": "a\n", "b.py": "b\n"}), tree({"a.py": "A\n", "b.py": "B\n"}))
    moved = patches.moved(patch, {"a.py": "b.py", "b.py": "a.py"})
    assert patches.apply(moved, tree({"a.py": "b\n", "b.py": "a\n"})) == tree({"a.py": "B\n", "b.py": "A\n"})


def test_a_rename_names_both_places() -> None:
    patch = made(tree({"a/k.py": BEFORE}), tree({"a/l.py": AFTER}))
    moved = patches.moved(patch, {"a/k.py": "b/k.py", "a/l.py": "b/l.py"})
    assert patches.apply(moved, tree({"b/k.py": BEFORE})) == tree({"b/l.py": AFTER})


def test_a_patch_of_other_files_stays_the_same_object() -> None:
    patch = made(tree({"a.py": "a\n"}), tree({"a.py": "A\n"}))
    assert patches.moved(patch, {"b.py": "c.py"}) is patch


def test_crlf_heads_keep_their_line_ends() -> None:
    patch = made(tree({"a.py": "a\n"}), tree({"a.py": "A\n"}))
    crlf = patches.parse("p", patch.text.replace(b"\n", b"\r\n"))
    assert patches.moved(crlf, {"a.py": "b.py"}).text == crlf.text.replace(b"a/a.py", b"a/b.py").replace(
        b"b/a.py", b"b/b.py"
    )
