"""`only:` and `drop:` take symbols out of a file."""

from pathlib import Path

import pytest

from vendor_tool.errors import UsageError
from vendor_tool.model import At, Change, Context, FileSpec, Source
from vendor_tool.transform import select

CASES = sorted((Path(__file__).parent.parent / "cases" / "select").glob("*.txt"))
CONTEXT = Context("demo", {}, frozenset(), {})


def selected(data: str | bytes, *, only: tuple[str, ...] = (), drop: tuple[str, ...] = ()) -> Change:
    raw = data if isinstance(data, bytes) else data.encode()
    return select.apply(Source("a/x.py", "x.py", "", raw), FileSpec("x.py", None, At(1, 1), only, drop), CONTEXT)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_case(case: Path) -> None:
    head, rest = case.read_text(encoding="utf-8").split("----\n", 1)
    given, expected = rest.split("---- becomes ----\n")
    key, _, names = head.strip().partition(": ")
    chosen = tuple(names.split(", "))
    result = selected(given, only=chosen) if key == "only" else selected(given, drop=chosen)
    assert result.data.decode() == expected
    compile(result.data, "x.py", "exec")


def test_there_are_cases() -> None:
    assert len(CASES) >= 8


def test_names_tell_what_went() -> None:
    given = "import os\nimport sys as s\n\nX = os.sep\n\n\ndef f():\n    return s.argv\n"
    assert selected(given, drop=("f", "X")).names == ("X", "f", "os", "s")


def test_without_only_and_drop_the_bytes_are_the_same_object() -> None:
    data = b"x = 1\n"
    assert selected(data).data is data


def test_names_of_another_file_change_nothing() -> None:
    data = b"x = 1\n"
    assert selected(data, drop=("y",)).data is data
    assert not selected(data, drop=("y",)).matched


def test_crlf_and_encoding_stay() -> None:
    given = b"# coding: latin-1\r\nx = '\xe9'\r\n\r\n\r\ndef f():\r\n    pass\r\n\r\n\r\ny = '\xe9'\r\n"
    assert selected(given, drop=("f",)).data == b"# coding: latin-1\r\nx = '\xe9'\r\n\r\n\r\ny = '\xe9'\r\n"


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ("def f():\n    pass\n\n\ndef g():\n    return f()\n", "`a/x.py:6`: what stays uses `f`, which goes"),
        ("f = 1\nprint(f)\n", "`a/x.py:2`: what stays uses `f`, which goes"),
        ("f = 1\n\n\ndef g(x=f):\n    pass\n", "`a/x.py:4`: what stays uses `f`, which goes"),
        ("def f(): ...\n\n\n@f\nclass A: ...\n", "`a/x.py:4`: what stays uses `f`, which goes"),
        ("f = 1\nif f:\n    x = 1\n", "`a/x.py:2`: what stays uses `f`, which goes"),
        ("f = 1\n\n\ndef g():\n    global f\n    f = 2\n    return f\n", "`a/x.py:7`: what stays uses `f`, which goes"),
        ("f, g = 1, 2\n", "`a/x.py:1`: `f` cannot be dropped without `g`: one statement makes them"),
    ],
)
def test_a_use_that_stays_is_refused(given: str, where: str) -> None:
    with pytest.raises(UsageError) as caught:
        selected(given, drop=("f",))
    assert caught.value.message == where


def test_only_says_which_names_to_add() -> None:
    with pytest.raises(UsageError) as caught:
        selected("A = 1\nB = A\nC = B + A\n", only=("C",))
    assert caught.value.message == (
        "`a/x.py:3`: what stays uses `B`, which goes\n`a/x.py:3`: what stays uses `A`, which goes"
    )
    assert caught.value.hint == "add A, B to `only:`"


def test_present_finds_symbols_in_branches_and_not_in_functions() -> None:
    source = Source("x.py", "x.py", "", b"if 1:\n    a = 1\ndef b():\n    c = 1\nif __name__ == '__main__':\n    b()\n")
    assert select.present(source, ["a", "b", "c", "__main__"]) == {"a", "b", "__main__"}
