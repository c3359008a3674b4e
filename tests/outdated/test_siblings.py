from vendor_tool.outdated.siblings import Copy, Hunk, lacking, nearest, show, siblings

KERNEL = b"""import lang


FLAGS = {
    lang.Key.MERGE: True,
    lang.Key.FAST: True,
}


def forward(query, key, value):
    scores = lang.matmul(query, key)
    weights = lang.softmax(scores)
    return lang.matmul(weights, value)
"""
FIXED = KERNEL.replace(b"MERGE: True", b"MERGE: False")
RENAMED = KERNEL.replace(b"query", b"q").replace(b"def forward", b"def forward_q")
OTHER = b"def unrelated(x):\n    for step in range(10):\n        x = x * step\n    return x  # not a copy of anything\n"


def copy(upstream: str, to: str, data: bytes) -> Copy:
    return Copy(upstream, f"src/{to}", f"vendored/{upstream}/{to}", data)


def test_copies_pair_by_content_and_not_by_name() -> None:
    pairs = siblings(
        [
            copy("one", "a.py", KERNEL),
            copy("two", "b.py", FIXED),
            copy("two", "a.py", OTHER),
            copy("one", "a.txt", KERNEL),
        ]
    )
    assert [(pair.left.to, pair.right.to, pair.kind) for pair in pairs] == [
        ("vendored/one/a.py", "vendored/two/b.py", "code")
    ]
    assert pairs[0].hunks == (Hunk(5, (b"    lang.Key.MERGE: True,\n",), 5, (b"    lang.Key.MERGE: False,\n",)),)


def test_same_bytes_are_a_pair_without_hunks() -> None:
    [pair] = siblings([copy("one", "a.py", KERNEL), copy("two", "a.py", KERNEL)])
    assert (pair.kind, pair.hunks) == ("none", ())


def test_empty_files_are_copies_of_nothing() -> None:
    assert siblings([copy("one", "__init__.py", b""), copy("two", "__init__.py", b"")]) == []


def test_copy_that_still_has_the_old_lines_lacks_the_change() -> None:
    assert lacking(KERNEL, FIXED, RENAMED) == (
        Hunk(5, (b"    lang.Key.MERGE: True,\n",), 5, (b"    lang.Key.MERGE: False,\n",)),
    )


def test_copy_that_has_the_change_or_never_had_the_lines_lacks_nothing() -> None:
    assert lacking(KERNEL, FIXED, FIXED) == ()
    assert lacking(KERNEL, FIXED, OTHER) == ()
    renamed_only = KERNEL.replace(b"(query, key, value)", b"(query, key, value, scale)")
    assert lacking(KERNEL, renamed_only, RENAMED) == ()


def test_added_lines_are_looked_for_between_their_neighbours() -> None:
    checked = KERNEL.replace(b"    weights", b"    lang.check(scores)\n    weights")
    [hunk] = lacking(KERNEL, checked, KERNEL)
    assert (hunk.left, hunk.right_line, hunk.right) == ((), 12, (b"    lang.check(scores)\n",))
    assert lacking(KERNEL, checked, checked) == ()


PARTS = "".join(f"def part_{n}(q):\n    s = q * 2\n    return s.softmax(-1)\n\n\n" for n in range(6)).encode()
FLOAT = PARTS.replace(b"s.softmax", b"s.float().softmax")


def test_lines_that_repeat_are_each_found_at_their_own_place() -> None:
    sibling = b"# of another hand\n" + PARTS
    assert [hunk.right_line for hunk in lacking(PARTS, FLOAT, sibling)] == [4, 9, 14, 19, 24, 29]


def test_a_place_that_was_mended_is_not_taken_for_one_that_looks_alike() -> None:
    mended = PARTS.replace(b"s.softmax", b"s.float().softmax", 1)
    assert [hunk.right_line for hunk in lacking(PARTS, FLOAT, mended)] == [8, 13, 18, 23, 28]


def test_lines_that_were_added_at_the_end_or_between_blank_lines_are_known_again() -> None:
    more = PARTS + b"def last(q):\n    return q\n"
    between = PARTS.replace(b"def part_3", b"def extra(q):\n    return q\n\n\ndef part_3")
    for new in (more, between):
        assert (len(lacking(PARTS, new, PARTS)), lacking(PARTS, new, new)) == (1, ())


def test_the_version_that_a_copy_is_most_like_is_the_newest_of_those() -> None:
    assert nearest([FIXED, KERNEL, KERNEL, OTHER], KERNEL) == 1
    assert nearest([FIXED, KERNEL, OTHER], KERNEL.replace(b"query", b"q")) == 1
    assert nearest([FIXED, KERNEL, OTHER], b"") == 0


def test_indentation_of_the_sibling_does_not_hide_the_lines() -> None:
    nested = b"class Ops:\n" + b"".join(b"    " + line for line in KERNEL.splitlines(keepends=True))
    [hunk] = lacking(KERNEL, FIXED, nested)
    assert hunk.right_line == 6


def test_hunks_show_as_a_diff() -> None:
    [pair] = siblings([copy("one", "a.py", KERNEL), copy("two", "b.py", FIXED)])
    assert show(pair.left, pair.right, pair.hunks) == (
        "--- one:src/a.py\n+++ two:src/b.py\n@@ -5,1 +5,1 @@\n-    lang.Key.MERGE: True,\n+    lang.Key.MERGE: False,\n"
    )
