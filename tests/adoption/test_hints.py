"""What copies say of where they are from."""

from vendor_tool.adoption.hints import Hints, Place, hints

URL = "https://github.com/example/kernels"
ONE, TWO, THREE = "1" * 40, "2" * 40, "3" * 40


def said(**files: str) -> Hints:
    return hints({f"k/{name}.py": text.encode() for name, text in files.items()}, URL)


def test_a_link_tells_file_and_revision() -> None:
    found = said(a=f"x = 1\n# Adapted from {URL}/blob/{ONE}/ops/a.py\n")
    assert found == Hints({ONE: Place("k/a.py", 2)}, {}, {}, {"k/a.py": "ops/a.py"})


def test_a_fork_counts_and_another_repository_does_not() -> None:
    found = said(
        a=f"# Adapted from https://github.com/me/Kernels/blob/{ONE}/ops/a.py\n",
        b=f"# Adapted from https://github.com/example/other/blob/{TWO}/ops/b.py\n",
    )
    assert found == Hints({ONE: Place("k/a.py", 1)}, {}, {TWO: Place("k/b.py", 1)}, {"k/a.py": "ops/a.py"})


def test_the_revision_that_most_files_name_comes_first() -> None:
    link = f"# Adapted from {URL}/blob/{{}}/ops/a.py\n"
    found = said(a=link.format(ONE), b=link.format(TWO), c=link.format(TWO))
    assert list(found.revisions) == [TWO, ONE]


def test_two_files_that_one_copy_names_tell_nothing_of_it() -> None:
    found = said(a="".join(f"# Adapted from {URL}/blob/{ONE}/ops/{name}.py\n\n" for name in "ab"))
    assert found.paths == {}


def test_a_bare_commit_is_a_weaker_word() -> None:
    found = said(a=f"# taken at {THREE}\n", b=f'DIGEST = "{"4" * 64}"\n')
    assert found == Hints({}, {}, {THREE: Place("k/a.py", 1)}, {})


def test_tags_and_short_ids_are_kept_apart() -> None:
    found = said(a=f"# Adapted from {URL}/blob/v1.2/ops/a.py\n")
    assert found == Hints({}, {"v1.2": Place("k/a.py", 1)}, {}, {"k/a.py": "ops/a.py"})
