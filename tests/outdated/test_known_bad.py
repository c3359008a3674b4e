from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.outdated.facts import UPSTREAM
from vendor_tool.model import At, KnownBad, Lock, Project
from vendor_tool.outdated.known_bad import bad_environment, bad_pins, bad_requirements

HISTORY = ["1" * 40, "2" * 40, "3" * 40, "4" * 40, "5" * 40]
NOTE = KnownBad(At(3, 3), "gradients are NaN", "https://example.org/issues/1")


def lock(note: KnownBad, *, revision: str = HISTORY[2], requires: Mapping[str, str] | None = None) -> Lock:
    upstream = replace(UPSTREAM, revision=revision, requires=requires or {})
    return Lock(Path("vendor.lock.yaml"), Project("sample"), {}, {"demo": upstream}, (note,))


def in_history(_upstream: str, older: str, newer: str) -> bool | None:
    if older not in HISTORY or newer not in HISTORY:
        return None
    return HISTORY.index(older) <= HISTORY.index(newer)


@pytest.mark.parametrize(
    ("since", "until", "rules"),
    [
        (1, 3, ["known-bad-pin"]),
        (2, 3, ["known-bad-pin"]),
        (2, None, ["known-bad-pin"]),
        (None, 3, ["known-bad-pin"]),
        (None, None, ["known-bad-pin"]),
        (1, 2, []),
        (3, 4, []),
        (0, 1, []),
    ],
)
def test_pin_is_bad_from_the_first_bad_commit_to_before_the_first_good_one(
    since: int | None, until: int | None, rules: list[str]
) -> None:
    note = replace(
        NOTE,
        upstream="demo",
        since=None if since is None else HISTORY[since],
        until=None if until is None else HISTORY[until],
    )
    assert [finding.rule for finding in bad_pins(lock(note), in_history)] == rules


def test_history_that_does_not_tell_is_said_to() -> None:
    [finding] = bad_pins(lock(replace(NOTE, upstream="demo", since="9" * 40)), in_history)
    assert (finding.rule, finding.level) == ("known-bad-unclear", "note")


def test_finding_names_reason_link_and_the_way_out() -> None:
    [finding] = bad_pins(lock(replace(NOTE, upstream="demo", since=HISTORY[1], until=HISTORY[3])), in_history)
    assert finding.message == (
        "the pin `333333333333` is known to be bad: gradients are NaN (https://example.org/issues/1)"
    )
    assert finding.fix == f"vendor-tool sync demo@{HISTORY[3]}"
    assert finding.lock_line == 3


@pytest.mark.parametrize(
    ("installed", "bad"),
    [
        ({"tilelang": "0.1.9"}, True),
        ({"TileLang": "0.1.10.post1"}, True),
        ({"tilelang": "0.1.11"}, False),
        ({"tilelang": "0.1.8"}, False),
        ({"other": "0.1.9"}, False),
    ],
)
def test_installed_version_in_the_range_is_bad(installed: dict[str, str], bad: bool) -> None:
    found = list(bad_environment(lock(replace(NOTE, versions={"tilelang": ">=0.1.9,<0.1.11"})), installed))
    assert [finding.rule for finding in found] == (["known-bad-version"] if bad else [])


def test_versions_of_one_note_must_come_together() -> None:
    note = replace(NOTE, versions={"tilelang": "==0.1.11", "apache-tvm-ffi": ">=0.1.12"})
    [finding] = bad_environment(lock(note), {"tilelang": "0.1.11", "apache_tvm_ffi": "0.1.12"})
    assert finding.message.startswith("`tilelang` 0.1.11 with `apache-tvm-ffi` 0.1.12 is known to be bad: ")
    assert list(bad_environment(lock(note), {"tilelang": "0.1.11", "apache-tvm-ffi": "0.1.11"})) == []


@pytest.mark.parametrize(
    ("requires", "allowed"),
    [
        (">=0.1.9", "0.1.9"),
        (">=0.1.5,<2", "0.1.9"),
        ("", "0.1.9"),
        (">=0.1.9,!=0.1.9,!=0.1.10", None),
        (">=0.1.11", None),
        ("==0.1.10", "0.1.10"),
        ("==0.1.*", "0.1.9"),
        ("<0.1.9", None),
        ("~=0.1.10", "0.1.10"),
    ],
)
def test_requirement_that_lets_a_bad_version_in_is_found(requires: str, allowed: str | None) -> None:
    note = replace(NOTE, versions={"tilelang": ">=0.1.9,<0.1.11"})
    found = list(bad_requirements(lock(note, requires={"tilelang": requires})))
    expected = [] if allowed is None else [f"`requires:` allows `tilelang` {allowed}"]
    assert [finding.message.split(",")[0] for finding in found] == expected


def test_requirement_on_nothing_the_note_speaks_of_is_fine() -> None:
    note = replace(NOTE, versions={"tilelang": "==0.1.9"})
    assert list(bad_requirements(lock(note, requires={"torch": ">=2"}))) == []
