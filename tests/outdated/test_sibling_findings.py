import pytest

from vendor_tool.model import Commit
from vendor_tool.outdated import RULES
from vendor_tool.outdated.formatting import Difference
from vendor_tool.outdated.sibling_findings import differing, lacking, unclear
from vendor_tool.outdated.siblings import Copy, siblings

CODE = b"FLAG = True\n\n\ndef kernel(x):\n    y = x + 1\n    return [x, y * FLAG]\n"
FIXED = CODE.replace(b"True", b"False")
ONE, TWO = Copy("one", "k.py", "vendored/one/k.py", CODE), Copy("two", "k.py", "vendored/two/k.py", FIXED)
BOTH = "`vendored/one/k.py` (one) and `vendored/two/k.py` (two) are copies of one file"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (CODE, []),
        (FIXED, [f"{BOTH} and differ in 1 place"]),
        (CODE.replace(b"x + 1", b"x+1"), [f"{BOTH} and differ in 1 place, in their layout alone"]),
        (CODE.replace(b"x + 1", b"x + 1  # one"), [f"{BOTH} and differ in 1 place, in their comments alone"]),
    ],
    ids=["the same", "code", "layout", "comments"],
)
def test_copies_that_differ_are_noted_with_what_differs(other: bytes, said: list[str]) -> None:
    found = differing(siblings([ONE, Copy("two", "k.py", "vendored/two/k.py", other)]))
    assert [(one.rule, one.level, one.message) for one in found] == [("sibling-differs", "note", text) for text in said]


def test_copies_that_differ_otherwise_are_another_finding() -> None:
    again = Copy("two", "k.py", TWO.to, FIXED.replace(b"+ 1", b"+ 2"))
    [first], [second] = differing(siblings([ONE, TWO])), differing(siblings([ONE, again]))
    assert first.digest != second.digest


@pytest.mark.parametrize(
    ("kind", "level", "what"),
    [
        ("code", "warning", "its copy"),
        ("format", "note", "the layout alone of its copy"),
        ("imports", "note", "the layout and order of imports alone of its copy"),
        ("comments", "note", "the comments alone of its copy"),
    ],
)
def test_what_a_copy_lacks_weighs_what_the_change_weighs(kind: Difference, level: str, what: str) -> None:
    fix = Commit("f" * 40, "2026-01-01T00:00:00+00:00", "A", "fix NaN", "", ("k.py",))
    found = lacking(ONE, TWO, [7], by="`bbbbbbbbbbbb`", kind=kind, commits=[fix], fixes=[fix.sha])
    assert (found.rule, found.level, found.path, found.line) == ("sibling-lacks", level, ONE.to, 7)
    assert found.message == (
        f"two changed {what} of this file by `bbbbbbbbbbbb`, and one's still has the old lines in 1 place: line 7. "
        "It changed in 1 commit, of which 1 reads as a fix: `ffffffffffff` fix NaN"
    )


def test_many_lines_are_counted() -> None:
    message = lacking(ONE, TWO, range(1, 15), by="`b`").message
    assert message.endswith("in 14 places: lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more")


def test_what_could_not_be_read_is_told_under_a_rule_of_its_own() -> None:
    found = unclear("one", "the server is away")
    assert (found.rule in RULES, found.message) == (
        True,
        "copies of one file are not compared with what `one` has: the server is away",
    )
