import pytest

from vendor_tool.errors import UsageError
from vendor_tool.patch import Patch, parse

HEAD = "Description: x\nAuthor: Ada\n\n"
FILE = "diff --git a/v/k.py b/v/k.py\n--- a/v/k.py\n+++ b/v/k.py\n"
HUNK = "@@ -1,2 +1,2 @@ def f():\n a\n-b\n+c\n"


def read(text: str | bytes) -> Patch:
    return parse("patches/demo/0001-x.patch", text.encode() if isinstance(text, str) else text)


def fault(text: str | bytes) -> str:
    with pytest.raises(UsageError) as caught:
        read(text)
    return caught.value.message


def test_a_patch_is_its_head_its_files_and_its_own_bytes() -> None:
    text = HEAD + FILE + HUNK
    patch = read(text)
    assert (patch.path, dict(patch.head)) == ("patches/demo/0001-x.patch", {"Description": "x", "Author": "Ada"})
    (file,) = patch.files
    (hunk,) = file.hunks
    assert (file.old, file.new, file.at, file.executable) == ("v/k.py", "v/k.py", 4, None)
    assert (hunk.old_start, hunk.new_start, hunk.heading, hunk.at) == (1, 1, b"def f():", 7)
    assert hunk.lines == ((" ", b"a\n"), ("-", b"b\n"), ("+", b"c\n"))
    assert (patch.preamble, patch.text) == (HEAD.encode(), text.encode())
    assert patch.paths == {"v/k.py"}


def test_a_plain_unified_diff_will_do() -> None:
    patch = read("--- a/v/k.py\t2026-01-31 10:00:00\n+++ b/v/k.py\t2026-01-31 10:00:01\n" + HUNK)
    assert patch.paths == {"v/k.py"}


def test_dev_null_marks_files_that_come_and_go() -> None:
    text = "--- /dev/null\n+++ b/v/new.py\n@@ -0,0 +1 @@\n+n\n--- a/v/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-o\n"
    new, old = read(text).files
    assert (new.old, new.new, old.old, old.new) == (None, "v/new.py", "v/old.py", None)


def test_names_quoted_by_git_are_unquoted() -> None:
    old, new = (f'"{side}/v/t\\303\\251 \\"q\\".py"' for side in "ab")
    text = f"diff --git {old} {new}\n--- {old}\n+++ {new}\n{HUNK}"
    assert read(text).paths == {'v/té "q".py'}


def test_names_with_spaces_end_at_a_tab() -> None:
    text = "diff --git a/v/my k.py b/v/my k.py\n--- a/v/my k.py\t\n+++ b/v/my k.py\t\n" + HUNK
    assert read(text).paths == {"v/my k.py"}


def test_a_missing_newline_is_read_on_the_side_where_it_stands() -> None:
    text = FILE + "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"
    assert read(text).files[0].hunks[0].lines == (("-", b"a"), ("+", b"b\n"))


def test_a_signature_and_empty_lines_below_are_no_part_of_it() -> None:
    assert len(read(HEAD + FILE + HUNK + "-- \n2.39.5\n\n").files[0].hunks) == 1
    assert len(read(HEAD + FILE + HUNK + "\n\n").files[0].hunks) == 1


def test_a_patch_file_that_lost_its_last_newline_is_whole() -> None:
    assert read(FILE + HUNK.rstrip("\n")).files[0].hunks[0].lines[-1] == ("+", b"c\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD, "`patches/demo/0001-x.patch` holds no diff"),
        ("", "`patches/demo/0001-x.patch` holds no diff"),
        (FILE + "@@ -1,3 +1,2 @@\n a\n-b\n+c\n", "4: the patch ends in the middle of a hunk: 1 old and 0 new lines"),
        (FILE + "@@ -1,2 +1,2 @@\n a\n-b\n-b\n+c\n", "4: more lines than its `@@` line says"),
        (FILE + "@@ -1,1 +1,1 @@\n-b\n+c\n d\n", "7: neither a hunk nor the start of a file's diff"),
        (FILE + "@@ -1,2 +1,2 @@\n a\nb\n", "6: expected 1 more old and 1 more new lines of the hunk"),
        (FILE + "@@ nonsense @@\n", "4: a hunk starts with `@@ -LINE,COUNT +LINE,COUNT @@`"),
        (FILE + HUNK + "\n" + HUNK, "9: a hunk stands apart from its file"),
        (FILE + HUNK + FILE + HUNK, "8: `v/k.py` again, first at line 1"),
        (FILE + "@@ -1,2 +1,2 @@\n a\n b\n", "4: a hunk that changes nothing"),
        (FILE, "1: changes nothing in `v/k.py`"),
        ("diff --git a/v/k.py b/v/k.py\nindex 1..2 100644\nGIT binary patch\n", "3: a binary change"),
        ("diff --git a/v/k b/v/k\nindex 1..2\nBinary files a/v/k and b/v/k differ\n", "3: a binary change"),
        ("diff --git a/v/k b/v/l\ncopy from v/k\ncopy to v/l\n", "2: a copied file"),
        ("--- v/k.py\n+++ v/k.py\n" + HUNK, "1: `v/k.py` lacks the `a/` or `b/` in front"),
        ("--- a/v/k.py\n+++ b/v/l.py\n" + HUNK, "2: `v/k.py` becomes `v/l.py` without `rename from`"),
        (
            "diff --git a/v/k b/v/k\nnew file mode 120000\n--- /dev/null\n+++ b/v/k\n@@ -0,0 +1 @@\n+t\n",
            "1: file mode 120000",
        ),
        (
            FILE + "@@ -1,2 +1,2 @@\n-a\n\\ No newline at end of file\n b\n+c\n",
            "4: `\\ No newline at end of file` in the",
        ),
        ("Description: caf\xe9\n\n".encode("latin-1") + (FILE + HUNK).encode(), "1: the head is not UTF-8"),
    ],
)
def test_what_is_not_a_patch_is_refused_with_its_line(text: str | bytes, message: str) -> None:
    got = fault(text)
    assert message in got
    assert got.startswith(("patches/demo/0001-x.patch:", "`patches/demo/0001-x.patch`"))


def test_context_cut_off_in_the_middle_of_a_series_of_files_is_refused() -> None:
    assert "expected 1 more old" in fault(FILE + "@@ -1,3 +1,3 @@\n a\n-b\n+c\n" + FILE.replace("k.py", "l.py") + HUNK)
