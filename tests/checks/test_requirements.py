"""Tool versions against `requires:`, the shipped matrix and the lock's own known-bad list."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.checks.sound import PYPROJECT, entry, subject
from vendor_tool.checks import requirements
from vendor_tool.checks.requirements import holds
from vendor_tool.checks.subject import Subject
from vendor_tool.errors import UsageError
from vendor_tool.known_bad import shipped
from vendor_tool.model import At, FileSpec, KnownBad

REQUIRES = {"tilelang": ">=0.1.11", "apache-tvm-ffi": "==0.1.11"}
ABORT = "importing tilelang aborts the process"

# rows and columns of the measured matrix: which pairs could be imported
FFI = ("0.1.8.post2", "0.1.9", "0.1.10", "0.1.11", "0.1.12", "0.1.13.post3", "0.1.14.post1", "0.1.15.post2")
GOOD = {
    "0.1.9": FFI[:4],
    "0.1.10": FFI[:4],
    "0.1.11": FFI[:4],
    "0.1.12": FFI[3:4],
    "0.1.13": FFI[3:5],
    "0.1.14": FFI[3:5],
    "0.1.15": FFI[3:5],
}


def project(
    environment: Mapping[str, str] | None = None,
    dependencies: str = "",
    *,
    requires: Mapping[str, str] = REQUIRES,
    gpu: str = "",
) -> Subject:
    text = PYPROJECT.replace('dependencies = ["numpy"]', f"dependencies = [{dependencies}]")
    text += f"[project.optional-dependencies]\ngpu = [{gpu}]\n" if gpu else ""
    return subject(replace(entry(), requires=requires), {"pyproject.toml": text}, environment=environment or {})


def told(found: Subject) -> list[tuple[str, str]]:
    return [(one.rule, one.message) for one in requirements.check(found)]


@pytest.mark.parametrize("ffi", FFI)
@pytest.mark.parametrize("tilelang", list(GOOD))
def test_the_shipped_list_is_the_measured_matrix(tilelang: str, ffi: str) -> None:
    pair = {"tilelang": tilelang, "apache-tvm-ffi": ffi}
    bad = [row for row in shipped().bad if set(row.versions) == set(pair)]
    hits = [row for row in bad if all(holds(spec, pair[name]) for name, spec in row.versions.items())]
    assert len(hits) == (0 if ffi in GOOD[tilelang] else 1)


def test_the_pairs_that_abort_are_told_from_those_that_raise() -> None:
    aborting = {
        (tilelang, ffi)
        for tilelang in GOOD
        for ffi in FFI
        for row in shipped().bad
        if row.aborts and holds(row.versions["tilelang"], tilelang) and holds(row.versions["apache-tvm-ffi"], ffi)
    }
    assert aborting == {(tilelang, ffi) for tilelang in ("0.1.10", "0.1.11", "0.1.12") for ffi in FFI[4:]}


def test_req_1_and_2_an_installed_pair_that_aborts_is_told_without_importing_it() -> None:
    (one, two) = told(project({"tilelang": "0.1.11", "apache-tvm-ffi": "0.1.12"}))
    assert one == ("REQ-1", "apache-tvm-ffi 0.1.12 is installed, mid requires apache-tvm-ffi ==0.1.11")
    assert two[0] == "REQ-2"
    assert two[1].startswith(f"apache-tvm-ffi 0.1.12 with tilelang 0.1.11 is installed: {ABORT}")


@pytest.mark.parametrize(
    "environment", [{}, {"tilelang": "0.1.11", "apache-tvm-ffi": "0.1.11"}, {"apache-tvm-ffi": "0.1.11"}]
)
def test_a_good_pair_half_a_pair_and_none_are_fine(environment: dict[str, str]) -> None:
    assert told(project(environment)) == []


@pytest.mark.parametrize(
    ("dependencies", "pair"),
    [
        ('"tilelang==0.1.11", "apache-tvm-ffi>=0.1.10"', "apache-tvm-ffi 0.1.15.post2 with tilelang 0.1.11"),
        ('"tilelang==0.1.11"', "apache-tvm-ffi 0.1.15.post2 with tilelang 0.1.11"),
        ('"TileLang>=0.1.10,<0.1.12", "apache_tvm_ffi<0.1.13"', "apache-tvm-ffi 0.1.12 with tilelang 0.1.11"),
    ],
)
def test_req_3_pins_that_admit_a_bad_pair_are_an_error(dependencies: str, pair: str) -> None:
    found = [one for one in requirements.check(project(dependencies=dependencies)) if one.rule == "REQ-3"]
    assert [(one.level, one.path, one.line) for one in found] == [("error", "pyproject.toml", 5)]
    assert found[0].message.startswith(f"the project's dependencies admit {pair}: {ABORT}")
    assert found[0].fix == "pin `apache-tvm-ffi==0.1.11` and `tilelang>=0.1.11`"


@pytest.mark.parametrize(
    "dependencies",
    [
        '"tilelang==0.1.11", "apache-tvm-ffi==0.1.11"',
        '"tilelang==0.1.11", "apache-tvm-ffi>=0.1.10,<0.1.12"',
        '"tilelang==0.1.15"',  # its own metadata keeps the bad versions out
        '"numpy"',
    ],
)
def test_req_3_pins_that_admit_good_pairs_only_are_fine(dependencies: str) -> None:
    assert [one for one in told(project(dependencies=dependencies)) if one[0] == "REQ-3"] == []


def test_req_3_an_extra_is_judged_with_the_plain_dependencies() -> None:
    found = [
        one
        for one in told(project(dependencies='"apache-tvm-ffi<0.1.14"', gpu='"tilelang==0.1.11"'))
        if one[0] == "REQ-3"
    ]
    assert len(found) == 1
    assert found[0][1].startswith(
        "the project's dependencies with `[gpu]` admit apache-tvm-ffi 0.1.13.post3 with tilelang 0.1.11"
    )


def test_req_4_a_pin_wider_than_requires() -> None:
    assert ("REQ-4", "`tilelang>=0.1.9` admits tilelang 0.1.10, mid requires tilelang >=0.1.11") in told(
        project(dependencies='"tilelang>=0.1.9", "apache-tvm-ffi==0.1.11"')
    )


def test_req_5_a_lock_that_asks_for_a_bad_pair() -> None:
    found = told(project(requires={"tilelang": "==0.1.11", "apache-tvm-ffi": ">=0.1.11"}))
    assert [one[0] for one in found] == ["REQ-5"]
    assert found[0][1].startswith("`requires:` of mid admits apache-tvm-ffi 0.1.15.post2 with tilelang 0.1.11")


def test_the_lock_s_own_list_is_used_as_well() -> None:
    own = KnownBad(At(3, 3), "gives NaN", "https://example.org/1", {"demo-lib": "<2"})
    found = project({"demo-lib": "1.5"})
    found = replace(found, lock=replace(found.lock, known_bad=(own,)))
    assert told(found) == [("REQ-2", "demo-lib 1.5 is installed: gives NaN (https://example.org/1)")]


def test_a_range_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="`newest` is no version range"):
        told(project({"tilelang": "0.1.11"}, requires={"tilelang": "newest"}))


def test_a_project_that_requires_nothing_is_not_bothered() -> None:
    assert told(project({"tilelang": "0.1.11", "apache-tvm-ffi": "0.1.15"}, '"tilelang==0.1.11"', requires={})) == []


def valid(versions: Mapping[str, str], requires: Mapping[str, str], environment: Mapping[str, str]) -> Subject:
    spec = FileSpec("fwd.py", None, At(17, 9), valid_with=versions)
    return subject(replace(entry(), files=(spec,), requires=requires), environment=environment)


def test_req_6_a_file_is_held_to_what_is_installed() -> None:
    found = valid({"tilelang": ">=0.1.12"}, {"tilelang": ">=0.1.12"}, {"tilelang": "0.1.11"})
    (one,) = (one for one in requirements.check(found) if one.rule == "REQ-6")
    assert one.message == "tilelang 0.1.11 is installed, `fwd.py` is valid with tilelang >=0.1.12"
    assert (one.level, one.lock_line, one.fix) == ("error", 17, "pip install 'tilelang>=0.1.12'")
    assert not [one for one in told(valid({"tilelang": ">=0.1.11"}, {}, {"tilelang": "0.1.11"})) if one[0] == "REQ-6"]


@pytest.mark.parametrize(
    ("requires", "message"),
    [
        (
            {"tilelang": ">=0.1.11"},
            "`requires:` of mid admits tilelang 0.1.11, `fwd.py` is valid with tilelang >=0.1.12",
        ),
        ({}, "`requires:` of mid does not name Tilelang, `fwd.py` is valid with Tilelang >=0.1.12"),
        ({"tilelang": ">=0.1.12"}, None),
        ({"tilelang": "==0.1.13"}, None),
    ],
)
def test_req_7_a_file_is_held_to_what_its_entry_requires(requires: Mapping[str, str], message: str | None) -> None:
    name = "tilelang" if requires else "Tilelang"
    found = [one for one in told(valid({name: ">=0.1.12"}, requires, {})) if one[0] == "REQ-7"]
    assert found == ([("REQ-7", message)] if message else [])


def test_what_a_file_is_valid_with_is_looked_up_where_nothing_is_required() -> None:
    assert "some-runtime" in requirements.distributions(valid({"some-runtime": ">=1"}, {}, {}).lock)
