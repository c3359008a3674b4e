"""Patch files that were made to reach out of the project, or to break their reader."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vendor_tool.errors import UsageError, VendorError
from vendor_tool.model import Blob, Tree
from vendor_tool.patch import apply, parse

HUNK = "@@ -0,0 +1 @@\n+owned\n"


@pytest.mark.parametrize(
    "name",
    [
        "../outside.py",
        "v/../../outside.py",
        "/etc/passwd",
        "v//k.py",
        "./v/k.py",
        "v/k.py/",
        ".git/hooks/post-checkout",
        "v/.GIT/config",
        "v\\..\\k.py",
    ],
)
def test_no_path_leads_out_of_the_project(name: str) -> None:
    for text in (
        f"--- /dev/null\n+++ b/{name}\n{HUNK}",
        f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n{HUNK}",
        f"diff --git a/{name} b/{name}\nnew file mode 100755\n",
        f"diff --git a/v/k.py b/{name}\nrename from v/k.py\nrename to {name}\n",
        f"diff --git a/{name} b/{name}\nold mode 100644\nnew mode 100755\n",
    ):
        with pytest.raises(UsageError):
            parse("p.patch", text.encode())


def test_a_quoted_name_is_checked_after_unquoting() -> None:
    with pytest.raises(UsageError, match="not a path inside the project"):
        parse("p.patch", f'--- /dev/null\n+++ "b/\\056\\056/k.py"\n{HUNK}'.encode())
    with pytest.raises(UsageError):
        parse("p.patch", f'--- /dev/null\n+++ "b/v/k\\000.py"\n{HUNK}'.encode())


@pytest.mark.parametrize("mode", ["120000", "160000", "040000", "100777", "x"])
def test_no_links_submodules_or_odd_modes(mode: str) -> None:
    with pytest.raises(UsageError):
        parse("p.patch", f"diff --git a/v/k b/v/k\nnew file mode {mode}\n--- /dev/null\n+++ b/v/k\n{HUNK}".encode())


def test_counts_beyond_all_memory_are_only_counts() -> None:
    with pytest.raises(UsageError, match="the patch ends in the middle of a hunk"):
        parse("p.patch", b"--- a/v/k\n+++ b/v/k\n@@ -1,99999999999999 +1,9 @@\n a\n")


PIECES = [
    b"diff --git a/v/k.py b/v/k.py\n",
    b"--- a/v/k.py\n",
    b"+++ b/v/k.py\n",
    b"+++ /dev/null\n",
    b"@@ -1,2 +1,2 @@\n",
    b"@@ -1 +1 @@ f\n",
    b" a\n",
    b"-b\n",
    b"+c\n",
    b"\n",
    b"\\ No newline at end of file\n",
    b"new file mode 100644\n",
    b"rename from v/k.py\n",
    b"rename to v/l.py\n",
    b"-- \n",
    b"\xff\x00\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_any_order_of_lines_is_a_patch_or_refused(pieces: list[bytes]) -> None:
    said = ""
    result: Tree = {}
    try:
        result = apply(parse("p.patch", b"".join(pieces)), {"v/k.py": Blob(b"a\nb\n")})
    except VendorError as error:
        said = error.message
    assert "p.patch" in said or set(result) <= {"v/k.py", "v/l.py"}


def test_assumed_context_has_a_bound() -> None:
    with pytest.raises(VendorError):
        parse("p.patch", b"--- a/v/k\n+++ b/v/k\n@@ -1,99999999999999 +1,99999999999999 @@\n a\n-b\n+c\n")
