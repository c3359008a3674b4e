"""Patterns that wait for their first use."""

import re

import pytest

from vendor_tool.patterns import pattern


def test_a_pattern_answers_as_a_compiled_one() -> None:
    ours, plain = pattern(r"(?P<word>[a-z]+)\d", re.IGNORECASE), re.compile(r"(?P<word>[a-z]+)\d", re.IGNORECASE)
    for _ in range(2):
        assert ours.findall("Ab1 2 c3") == plain.findall("Ab1 2 c3") == ["Ab", "c"]
        assert ours.sub("-", "Ab1 2") == "- 2"
    assert (ours.flags, ours.groupindex) == (plain.flags, plain.groupindex)


def test_a_match_names_the_pattern_it_was_found_by() -> None:
    ours, other = pattern("a"), pattern("b")
    match = ours.search("ab")
    assert match is not None
    assert match.re == ours
    assert match.re != other
    assert {match.re: 1}[ours] == 1


def test_nothing_is_compiled_before_the_first_use() -> None:
    wrong = pattern("(")
    with pytest.raises(re.error, match="missing \\)"):
        wrong.search("")
