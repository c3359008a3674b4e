"""Which upstream file a copy is of, and why some copies are of none."""

from collections.abc import Collection, Mapping

from vendor_tool.adoption.pairs import Pair, Pairing, pair
from vendor_tool.fetch.store import blob_id
from vendor_tool.model import Entry

ONE = "".join(f"line_{number} = {number} * {number}\n" for number in range(20)).encode()
TWO = "".join(f"def function_{number}():\n    return other({number})\n\n\n" for number in range(8)).encode()
EDITED = ONE.replace(b"line_3 ", b"edited ")


def paired(
    files: Mapping[str, bytes],
    upstream: Mapping[str, bytes],
    *,
    given: Mapping[str, str] | None = None,
    said: Mapping[str, str] | None = None,
    modes: Mapping[str, str] | None = None,
) -> Pairing:
    listing = {
        path: Entry((modes or {}).get(path, "100644"), "blob", blob_id(data)) for path, data in sorted(upstream.items())
    }

    def read(paths: Collection[str]) -> Mapping[str, bytes]:
        return {path: upstream[path] for path in paths}

    return pair(files, listing, read, given=given or {}, said=said or {})


def test_the_same_bytes_come_before_the_same_name() -> None:
    found = paired({"k/a.py": ONE}, {"up/a.py": EDITED, "up/b.py": ONE})
    assert found == Pairing((Pair("k/a.py", "up/b.py", "same"),), {})


def test_no_upstream_file_stands_for_two() -> None:
    found = paired({"k/a.py": ONE, "k/b.py": ONE, "k/sub/a.py": EDITED}, {"up/a.py": ONE})
    assert found.pairs == (Pair("k/a.py", "up/a.py", "same"),)
    assert found.left == {
        "k/b.py": "nothing like it was found",
        "k/sub/a.py": "is less like `up/a.py` than `k/a.py`",
    }


def test_what_was_given_is_not_asked_about() -> None:
    found = paired({"k/a.py": ONE, "k/b.py": ONE}, {"up/a.py": ONE, "up/z.py": TWO}, given={"k/a.py": "up/z.py"})
    assert found.pairs == (Pair("k/a.py", "up/z.py", "given"), Pair("k/b.py", "up/a.py", "same"))


def test_a_comment_counts_where_the_file_bears_it_out() -> None:
    upstream = {"up/a.py": TWO, "up/b.py": ONE}
    assert paired({"k/x.py": TWO.replace(b"return", b"raise")}, upstream, said={"k/x.py": "up/a.py"}).pairs == (
        Pair("k/x.py", "up/a.py", "said"),
    )
    lies = paired({"k/x.py": b"nothing = alike\nat = all\nhere = 1\nand = 2\n"}, upstream, said={"k/x.py": "up/a.py"})
    assert lies.left == {"k/x.py": "nothing like it was found"}


def test_of_namesakes_the_one_that_is_most_alike_is_taken() -> None:
    found = paired({"k/a.py": EDITED}, {"up/x/a.py": TWO, "up/y/a.py": ONE, "up/z/a.py": TWO})
    assert found.pairs == (Pair("k/a.py", "up/y/a.py", "named"),)


def test_of_namesakes_that_are_equally_alike_the_nearest_is_taken_and_the_others_told() -> None:
    found = paired({"k/ops/a.py": EDITED}, {"up/x/a.py": ONE, "up/ops/a.py": ONE})
    assert found.pairs == (Pair("k/ops/a.py", "up/ops/a.py", "named", ("up/x/a.py",)),)


def test_a_namesake_with_nothing_in_common_is_none() -> None:
    assert paired({"k/a.py": TWO}, {"up/a.py": ONE}).left == {"k/a.py": "nothing like it was found"}


def test_lines_and_definitions_tell_a_file_of_another_name() -> None:
    upstream = {"up/one.py": ONE, "up/two.py": TWO + ONE * 8}
    found = paired({"k/a.py": EDITED, "k/b.py": TWO.replace(b"other(3)", b"other(33)")}, upstream)
    assert found.pairs == (Pair("k/a.py", "up/one.py", "content"), Pair("k/b.py", "up/two.py", "symbols"))


def test_a_small_file_goes_with_its_neighbours_or_nowhere() -> None:
    upstream = {"up/a.py": ONE, "up/__init__.py": b"", "other/__init__.py": b""}
    files = {"k/a.py": ONE, "k/__init__.py": b"", "far/__init__.py": b""}
    found = paired(files, upstream)
    assert found.pairs == (Pair("k/__init__.py", "up/__init__.py", "same"), Pair("k/a.py", "up/a.py", "same"))
    assert found.left == {"far/__init__.py": "says too little to tell where it is from"}


def test_links_and_submodules_of_the_upstream_are_no_files() -> None:
    found = paired({"k/a.py": ONE}, {"up/a.py": ONE}, modes={"up/a.py": "120000"})
    assert found.left == {"k/a.py": "nothing like it was found"}


def test_a_header_and_the_indentation_are_not_what_files_are_told_by() -> None:
    header = b"".join(b"# licence line %d\n" % number for number in range(60))
    found = paired({"k/a.py": header + b"\n" + ONE.replace(b"line", b"    line")}, {"up/a.py": ONE})
    assert found.pairs == (Pair("k/a.py", "up/a.py", "named"),)


def test_what_is_not_text_pairs_by_its_bytes_alone() -> None:
    found = paired({"k/t.bin": b"\0" * 99, "k/u.bin": b"\0\1" * 99}, {"up/t.bin": b"\0" * 98, "up/x.bin": b"\0\1" * 99})
    assert found.pairs == (Pair("k/u.bin", "up/x.bin", "same"),)
    assert found.left == {"k/t.bin": "is not text, and the same nowhere"}


def test_of_two_copies_the_one_that_is_most_alike_gets_the_file() -> None:
    far = EDITED.replace(b"line_4 ", b"edited ").replace(b"line_5 ", b"edited ")
    found = paired({"a/k.py": far, "b/k.py": EDITED}, {"up/k.py": ONE})
    assert found.pairs == (Pair("b/k.py", "up/k.py", "named"),)
    assert found.left == {"a/k.py": "is less like `up/k.py` than `b/k.py`"}
    found = paired({"a/x.py": far, "b/y.py": EDITED}, {"up/k.py": ONE})
    assert found.pairs == (Pair("b/y.py", "up/k.py", "content"),)
