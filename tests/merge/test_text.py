import subprocess
from pathlib import Path

import pytest

from vendor_tool.merge import Labels, markers_left, merge

LABELS = Labels("0001-ours.patch", "before the patch", "upstream")


def merged(base: str, ours: str, theirs: str) -> str:
    result = merge(base.encode(), ours.encode(), theirs.encode(), LABELS)
    assert not result.clashes
    return result.data.decode()


def reasons(base: str, ours: str, theirs: str) -> list[str]:
    return [clash.reason for clash in merge(base.encode(), ours.encode(), theirs.encode(), LABELS).clashes]


def test_a_comment_on_lines_that_upstream_removed_is_told_as_what_went() -> None:
    result = merge(b"a\nx = 1\nb\n", b"a\nx = 1  # one\nb\n", b"a\nb\n", Labels("ours", "base", "theirs"))
    assert [clash.reason for clash in result.clashes] == ["theirs removed the lines that ours changes"]


def test_changes_apart_from_each_other_are_both_kept() -> None:
    assert merged("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\ne\n") == "A\nb\nc\nD\ne\n"


def test_the_same_change_on_both_sides_stands_once() -> None:
    assert merged("a\nb\nc\n", "a\nB\nnew\nc\n", "a\nB\nnew\nc\n") == "a\nB\nnew\nc\n"


def test_changes_that_touch_clash_and_say_where() -> None:
    result = merge(b"a\nb\nc\n", b"a\nB\nc\n", b"a\nb\nC\nd\n", LABELS)
    assert (
        result.data.decode()
        == """\
a
<<<<<<< 0001-ours.patch
B
c
||||||| before the patch
b
c
=======
b
C
d
>>>>>>> upstream
"""
    )
    (clash,) = result.clashes
    assert (clash.base_lines, clash.ours_lines, clash.theirs_lines) == ((2, 3), (2, 3), (2, 4))
    assert clash.marked_lines == (2, 12)


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        ("a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n"),
        ("a\nb\nc\nd\ne\nf\n", "1\nb\nc\nd\n2\nf\n", "a\nb\n3\nd\n4\nf\n"),
        ("", "x\n", "y\n"),
        ("a\nb", "a\nc", "a\nd"),
        ("a\r\nb\r\nc\r\n", "a\r\nx\r\nc\r\n", "a\r\ny\r\nc\r\n"),
        ("a\nb\n", "", "a\nc\n"),
        ("a\nb\nc\nd\ne\n", "a\nc\nd\ne\nf\n", "z\na\nb\nc\nd\ne\n"),
    ],
)
def test_clashes_read_as_those_of_git(base: str, ours: str, theirs: str, tmp_path: Path) -> None:
    for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
        (tmp_path / name).write_bytes(text.encode())
    labels = ["-L", LABELS.ours, "-L", LABELS.base, "-L", LABELS.theirs]
    command = ["git", "merge-file", "-p", "-q", "--diff3", *labels, "ours", "base", "theirs"]
    git = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, check=False)
    result = merge(base.encode(), ours.encode(), theirs.encode(), LABELS)
    assert (len(result.clashes), result.data) == (git.returncode, git.stdout)


# ---- what a merge by lines alone would lose ---------------------------------------------------------------


def test_a_line_that_we_removed_and_upstream_moved_does_not_come_back_unseen() -> None:
    base = "def f():\n    flags = 1\n    merge = True\n    a = 2\n    b = 3\n    c = 4\n"
    ours = base.replace("    merge = True\n", "")
    theirs = base.replace("    merge = True\n", "") + "    merge = True\n"
    assert reasons(base, ours, theirs) == ["upstream puts `merge = True` here, which 0001-ours.patch takes out"]


def test_a_line_that_we_removed_everywhere_and_upstream_adds_does_not_come_back_unseen() -> None:
    base = "f(merge=True)\na\nb\nc\n"
    assert reasons(base, "a\nb\nc\n", base + "f(merge=True)\n") == [
        "upstream puts `f(merge=True)` here, which 0001-ours.patch takes out"
    ]


def test_a_line_that_upstream_removed_and_we_moved_does_not_come_back_unseen() -> None:
    base = "import slow\na\nb\nc\nd\n"
    assert reasons(base, "a\nb\nc\nd\nimport slow\n", "a\nb\nc\nd\n") == [
        "0001-ours.patch puts `import slow` here, which upstream takes out"
    ]


def test_lines_that_any_code_shares_may_come_again() -> None:
    base = "if a:\n    x\nelse:\n    y\nz\nw\n"
    ours = "if a:\n    x\nz\nw\n"
    theirs = base + "if b:\n    v\nelse:\n    u\n"
    assert merged(base, ours, theirs) == "if a:\n    x\nz\nw\nif b:\n    v\nelse:\n    u\n"


def test_the_same_new_lines_at_two_places_are_not_doubled_unseen() -> None:
    base = "a\nb\nc\nd\n"
    new = "x = pad(x)\n"
    assert reasons(base, "a\n" + new + "b\nc\nd\n", "a\nb\nc\n" + new + "d\n") == [
        "0001-ours.patch adds these lines here and upstream adds the same lines elsewhere: they would stand twice",
        "upstream adds these lines here and 0001-ours.patch adds the same lines elsewhere: they would stand twice",
    ]


# ---- what is said about a clash ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "reason"),
    [
        (
            "    Key.MERGE: True,\n",
            "",
            "    Key.MERGE: False,\n",
            "the same fix twice, spelled differently: 0001-ours.patch takes `Key.MERGE` out, upstream sets it to `False`",
        ),
        (
            "merge = True  # fast\n",
            "merge = False  # gives NaN\n",
            "",
            "the same fix twice, spelled differently: upstream takes `merge` out, 0001-ours.patch sets it to `False`",
        ),
        ("x = 1\n", "y = f( 1)\n", "y = f(1 )\n", "0001-ours.patch and upstream differ in white space only"),
        (
            "x = 1\n",
            "y = f(1,)\n",
            "y = f(\n  1)  # one\n",
            "0001-ours.patch and upstream differ in layout and comments only",
        ),
        ("x = 1\n", "x = 2\n", "x = 1\r\n", "upstream changes line ends only"),
        ("x = f(1, 2)\n", "x = f(1, 3)\n", "x = f(\n    1,\n    2,\n)\n", "upstream changes layout and comments only"),
        ("x = 1\n", "x = 2\n", "", "upstream removed the lines that 0001-ours.patch changes"),
        ("x = 1\n", "", "x = 2\n", "0001-ours.patch removes lines that upstream changes"),
        (
            "x = 1\n",
            "x = 2\n",
            "x = 2\ny = 3\n",
            "upstream has the lines of 0001-ours.patch now, and changes more around them",
        ),
        ("x = 1\n", "x = 2\n", "x = 3\n", ""),
    ],
)
def test_a_clash_is_explained_where_that_is_certain(base: str, ours: str, theirs: str, reason: str) -> None:
    assert reasons(base, ours, theirs) == [reason]


# ---- markers ----------------------------------------------------------------------------------------------

TITLE = b"Title\n=======\ntext\n"


def test_every_kind_of_marker_is_found() -> None:
    text = b"a\n<<<<<<< x\n||||||| y\r\n=======\n>>>>>>> z\n>>>>>>>\n"
    assert markers_left(text, b"", b"", b"") == (2, 3, 4, 5, 6)


def test_what_looked_like_a_marker_before_is_text() -> None:
    assert markers_left(TITLE, TITLE, TITLE, TITLE) == ()
    assert markers_left(TITLE, b"", b"", TITLE) == ()
    assert markers_left(TITLE + TITLE, b"", TITLE, TITLE) == ()


def test_one_more_than_before_is_a_marker() -> None:
    assert markers_left(TITLE + b"=======\n", TITLE, TITLE, TITLE) == (4,)


@pytest.mark.parametrize("line", [b"<<<<<<", b"========", b" =======", b"<<<<<<<x", b"a = 1 <<<<<<< 2", b">>>>>>>> x"])
def test_other_lines_are_no_markers(line: bytes) -> None:
    assert markers_left(line + b"\n", b"", b"", b"") == ()
