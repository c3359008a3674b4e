import json
from dataclasses import replace

import pytest

from tests.reports.samples import EDITED, FINDINGS, HOSTILE, MOVED
from vendor_tool.baseline import compare, fingerprint, parse, render
from vendor_tool.errors import UsageError


def test_accepted_findings_are_not_new_wherever_they_moved() -> None:
    accepted = parse(render(FINDINGS), name="baseline.json")
    moved = [replace(f, line=1000, lock_line=2000) for f in FINDINGS]
    compared = compare(moved, accepted)
    assert (compared.new, compared.fixed) == ((), ())
    assert set(compared.accepted) == set(moved)


def test_a_second_one_of_an_accepted_kind_is_new() -> None:
    accepted = parse(render([EDITED]), name="baseline.json")
    compared = compare([EDITED, EDITED], accepted)
    assert (compared.new, compared.accepted) == ((EDITED,), (EDITED,))


def test_accepted_findings_that_are_gone_are_fixed() -> None:
    accepted = parse(render([EDITED, MOVED, HOSTILE]), name="baseline.json")
    compared = compare([MOVED, replace(EDITED, path="vendored/new.py")], accepted)
    assert [item.rule for item in compared.fixed] == ["file-edited", "odd"]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("pin 8f5e2151943e is behind", "pin 624b824a is behind", True),
        ("3 lines differ", "12 lines differ", True),
        ("upstream line 9", "upstream line 12", True),
        ("upstream lines 9, 38 and 40-41", "upstream lines 10, 39", True),
        ("3 of 12 files and 4 more", "4 of 13 files and 5 more", True),
        ("87% of the code", "86% of the code", True),
        ("at `ops/a.py:3:1`", "at `ops/a.py:4:9`", True),
        ("known to be bad: issue 1", "known to be bad: issue 2", False),
        ("`GPL-2.0-only` is not allowed", "`GPL-3.0-only` is not allowed", False),
        ("tilelang 0.1.10 is installed", "tilelang 0.1.11 is installed", False),
        ("`x` 2 is gone", "`x` 3 is gone", False),
        ("kernel `mla2` is gone", "kernel `mla3` is gone", False),
        ("a deceased name", "a defaced name", False),
    ],
)
def test_counts_and_commits_are_no_part_of_the_mark(before: str, after: str, same: bool) -> None:
    marks = [fingerprint(replace(EDITED, message=message)) for message in (before, after)]
    assert (marks[0] == marks[1]) is same


def test_bytes_that_a_finding_is_about_are_part_of_the_mark() -> None:
    marks = {fingerprint(replace(EDITED, digest=digest)) for digest in (None, "0" * 16, "1" * 16)}
    assert len(marks) == 3


def test_order_of_findings_does_not_change_the_file() -> None:
    assert render(FINDINGS[::-1]) == render(FINDINGS)


WRONG: list[dict[str, object]] = [{"rule": 2}, {"fingerprint": []}, {"message": None}, {"path": 3}, {"upstream": {}}]
ITEM = {"fingerprint": "a:1", "rule": "r", "path": None, "message": "m", "upstream": None}


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "[" * 100_000, '{"version": 1, "accepted": [{}]}', '{"version": 1, "accepted": 3}']
    + [json.dumps({"version": 1, "accepted": [ITEM, {**ITEM, **wrong}]}) for wrong in WRONG],
)
def test_file_that_is_no_baseline_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text, name="old.json")
    assert caught.value.message == "`old.json` is not a baseline of findings"
    assert caught.value.hint == "delete `old.json` and accept today's findings with `--write-baseline old.json`"


def test_file_of_a_later_version_is_refused() -> None:
    text = json.dumps({"version": 2, "accepted": []})
    with pytest.raises(UsageError, match=r"`old.json` is a baseline of version 2, this program reads 1"):
        parse(text, name="old.json")
