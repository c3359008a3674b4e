"""Evidence: what is recorded of a run, where it stands in the lock, and what makes it stale."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.parity import VENDORED_FILE, Project, project
from vendor_tool import evidence as seen
from vendor_tool.errors import ParityNotRun, UsageError
from vendor_tool.model import Lock, Resolved, Upstream
from vendor_tool.parity import evidence, form, report, run, table
from vendor_tool.parity.report import Report, Test

NAME = "plugins/ops/double.py"
H200 = {"gpu": "NVIDIA H200", "driver": "580.1", "versions": {"torch": "2.11.0+cu130", "tilelang": "0.1.11"}}
H100 = H200 | {"gpu": "NVIDIA H100"}
CPU = H200 | {"gpu": "none", "driver": "none"}


@pytest.fixture
def made(tmp_path: Path) -> Project:
    return project(tmp_path)


def note(check: str, name: str, value: float, limit: float | None = None) -> dict[str, Any]:
    return {"check": check, "name": name, "value": value, "limit": limit}


def outcome(
    kind: form.Outcome = "passed",
    machine: dict[str, Any] = H200,
    notes: tuple[dict[str, Any], ...] = (note("error", "y", 0.001, 0.005),),
    reason: str = "",
) -> Test:
    return Test(
        "tests/parity/test_double.py::test", kind, reason, 0.1, {"upstream": "demo", "name": NAME}, machine, [*notes]
    )


def ran(lock: Lock, *tests: Test) -> Report:
    hashes = {item.to: item.sha256 for item in resolved(lock).files}
    return Report(7, "2026-11-30", list(tests), {"demo": hashes}, {"demo": seen.inputs(lock.upstreams["demo"])})


def resolved(lock: Lock) -> Resolved:
    found = lock.upstreams["demo"].resolved
    assert found is not None
    return found


def test_a_record_holds_setting_inputs_and_the_worst_of_each_measurement(made: Project) -> None:
    tests = [
        outcome(notes=(note("error", "y", 0.001234, 0.005), note("identical", "y", 0.0, 0.0))),
        outcome(notes=(note("error", "y", 0.0021, 0.005), note("ratio", "forward", 1.02))),
        outcome("xfailed", reason="a limit of upstream's"),
    ]

    (record,) = evidence.collect(ran(made.lock, *tests), made.lock)["demo"]

    then = resolved(made.lock)
    assert record == {
        "gpu": "NVIDIA H200",
        "driver": "580.1",
        "date": "2026-11-30",
        "torch": "2.11.0+cu130",
        "tilelang": "0.1.11",
        "revision": then.revision,
        "intent": then.intent,
        "requires": {},
        "tools": {"libcst": "1.8.6"},
        "patches": {},
        "files": {VENDORED_FILE: then.files[0].sha256},
        "kernels": {
            NAME: {
                "passed": 2,
                "errors": {"y": 0.0021},
                "ratios": {"forward": 1.02},
                "identical": ["y"],
                "limits": ["a limit of upstream's"],
            }
        },
    }


@pytest.mark.parametrize(
    "tests",
    [
        pytest.param([outcome(), outcome("failed")], id="one test failed"),
        pytest.param([outcome(), outcome("xpassed")], id="an expected failure passed"),
        pytest.param([outcome("skipped")], id="nothing ran"),
        pytest.param([outcome(machine=CPU)], id="no GPU"),
        pytest.param([outcome("xfailed")], id="nothing passed"),
    ],
)
def test_what_was_not_seen_to_be_right_gives_no_record(made: Project, tests: list[Test]) -> None:
    assert evidence.collect(ran(made.lock, *tests), made.lock) == {}


def test_each_kind_of_gpu_has_its_own_record(made: Project) -> None:
    tests = [outcome(), outcome(machine=H100), outcome("failed", machine=H100)]

    (record,) = evidence.collect(ran(made.lock, *tests), made.lock)["demo"]

    assert record["gpu"] == "NVIDIA H200"


def test_a_new_record_replaces_only_that_of_its_own_gpu() -> None:
    old = [{"gpu": "A", "date": "1"}, {"gpu": "B", "date": "1"}]

    assert evidence.merged(old, [{"gpu": "A", "date": "2"}]) == [{"gpu": "A", "date": "2"}, {"gpu": "B", "date": "1"}]


def test_written_evidence_is_read_back_and_leaves_the_rest_of_the_lock(made: Project) -> None:
    before = made.lock
    text = (made.root / "vendor.lock.yaml").read_text()
    outcome_ = run.conclude(before, ran(before, outcome(notes=(note("error", "y", 2e-5, 1e-4),))), update=True)

    after = made.lock
    assert outcome_.status == "passed"
    assert outcome_.evidence is not None
    assert list(evidence.recorded(resolved(after))) == outcome_.evidence["demo"]
    assert resolved(after).sealed
    assert replace(resolved(after), extra={}, seal="", at=resolved(before).at, files=()) == replace(
        resolved(before), seal="", files=()
    )
    assert (made.root / "vendor.lock.yaml").read_text().startswith(text[: text.index("    resolved:")])
    assert evidence.stale(evidence.recorded(resolved(after))[0], after.upstreams["demo"], {}) == ()


def test_evidence_of_versions_that_the_lock_does_not_ask_for_is_not_recorded(tmp_path: Path) -> None:
    lock = project(tmp_path, extra="    requires: {tilelang: '==0.1.15'}\n").lock

    assert run.conclude(lock, ran(lock, outcome())).evidence == {}


CHANGES: dict[str, tuple[Callable[[Upstream, Resolved], Upstream], str]] = {
    "final bytes": (
        lambda entry, now: record(entry, files=(replace(now.files[0], sha256="0" * 64),)),
        f"`{VENDORED_FILE}` changed",
    ),
    "a further file": (
        lambda entry, now: record(entry, files=(*now.files, replace(now.files[0], to="vendored/demo/more.py"))),
        "`vendored/demo/more.py` is new",
    ),
    "a file less": (lambda entry, _now: record(entry, files=()), f"`{VENDORED_FILE}` is gone"),
    "synced rules": (lambda entry, _now: record(entry, intent="other"), "the entry in the lock changed"),
    "rules that are not synced yet": (lambda entry, _now: replace(entry, intent="x"), "the entry in the lock changed"),
    "patches": (
        lambda entry, _now: record(entry, patches={"patches/demo/0001-a.patch": "1" * 64}),
        "the patches changed",
    ),
    "a tool's version": (lambda entry, _now: record(entry, tools={"libcst": "2.0"}), "libcst went from 1.8.6 to 2.0"),
    "a new tool": (
        lambda entry, now: record(entry, tools={**now.tools, "ruff": "0.9.10"}),
        "ruff went from none to 0.9.10",
    ),
    "a tool less": (lambda entry, _now: record(entry, tools={}), "libcst went from 1.8.6 to none"),
    "a required version": (
        lambda entry, _now: replace(entry, requires={"tilelang": ">=0.1.12"}),
        "`requires:` of tilelang went from none to >=0.1.12",
    ),
    "the pin": (lambda entry, _now: record(entry, revision="f" * 40), "to `ffffffffffff`"),
    "a pin that is not synced yet": (lambda entry, _now: replace(entry, revision="f" * 40), "to `ffffffffffff`"),
}


def record(entry: Upstream, **changes: Any) -> Upstream:
    """The entry with another record."""
    assert entry.resolved is not None
    return replace(entry, resolved=replace(entry.resolved, **changes))


@pytest.mark.parametrize(("change", "reason"), CHANGES.values(), ids=CHANGES.keys())
def test_evidence_turns_stale_by_a_change_of(
    made: Project, change: Callable[[Upstream, Resolved], Upstream], reason: str
) -> None:
    (verified,) = evidence.collect(ran(made.lock, outcome()), made.lock)["demo"]
    entry = made.lock.upstreams["demo"]
    assert evidence.stale(verified, entry, {}) == ()

    (told,) = evidence.stale(verified, change(entry, resolved(made.lock)), {})

    assert told.endswith(reason)


SHIM = "vendored/_tilelang.py"


@pytest.mark.parametrize(
    ("tested", "now", "reasons"),
    [
        ("1" * 64, {SHIM: "1" * 64}, ()),
        ("1" * 64, {SHIM: "2" * 64}, (f"`{SHIM}` changed",)),
        ("1" * 64, {}, (f"`{SHIM}` is gone",)),
        (None, {SHIM: "1" * 64}, (f"`{SHIM}` is new",)),
    ],
    ids=["the same", "changed", "gone", "new"],
)
def test_evidence_rests_on_the_stand_ins(
    made: Project, tested: str | None, now: dict[str, str], reasons: tuple[str, ...]
) -> None:
    (verified,) = evidence.collect(ran(made.lock, outcome()), made.lock)["demo"]
    if tested is not None:
        verified["files"][SHIM] = tested

    assert evidence.stale(verified, record(made.lock.upstreams["demo"], shims=(SHIM,)), now) == reasons


def test_digests_are_those_of_files_stand_ins_and_patches_that_were_looked_at(made: Project) -> None:
    found = replace(resolved(made.lock), shims=(SHIM, "vendored/_other.py"), patches={"a.patch": "0" * 64})
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    assert seen.digests(found, {SHIM: b"", VENDORED_FILE: None, "a.patch": b"", "README": b""}) == {
        VENDORED_FILE: None,
        SHIM: empty,
        "a.patch": empty,
    }


def test_a_report_of_another_state_of_the_lock_is_refused(made: Project) -> None:
    measured = ran(made.lock, outcome())
    measured.entries["demo"]["revision"] = "0" * 40

    with pytest.raises(UsageError, match="the report is stale for `demo`: the pin moved from `000000000000`"):
        run.conclude(made.lock, measured, update=True)


def test_a_kernel_is_marked_by_two_words_in_a_test(tmp_path: Path) -> None:
    source = b"""
import pytest
pytestmark = [pytest.mark.gpu, pytest.mark.kernel("demo", "ops/double.py", reference="references:double")]
@pytest.mark.kernel("other", "x.py")
def test_it(): some.kernel("a"); some.kernel(1, 2); kernel("b", "c")
"""
    assert sorted(seen.marked(source)) == [("demo", "ops/double.py"), ("other", "x.py")]
    assert list(seen.marked(b"def")) == []


def test_the_plan_says_that_a_kernel_was_never_verified(made: Project) -> None:
    (step,) = run.plan(made.lock)

    assert (step.upstream, step.kernels, step.why) == ("demo", (VENDORED_FILE,), ("never verified on a GPU",))


def test_the_plan_says_when_and_on_what_a_kernel_was_verified_and_what_changed_since(made: Project) -> None:
    run.conclude(made.lock, ran(made.lock, outcome()), update=True)
    verified = "verified on 2026-11-30 on NVIDIA H200, driver 580.1, torch 2.11.0+cu130, tilelang 0.1.11"
    assert run.plan(made.lock)[0].why == (f"{verified}, still true",)

    made.write({VENDORED_FILE: "edited = True\n"})

    assert run.plan(made.lock)[0].why == (f"{verified}, stale: `{VENDORED_FILE}` changed",)


def test_an_unknown_upstream_is_a_usage_error(made: Project) -> None:
    with pytest.raises(UsageError, match="no upstream `other`"):
        run.plan(made.lock, ["other"])


def test_a_failed_claim_is_a_finding_of_its_kind(made: Project) -> None:
    lock = made.lock
    tests = [
        outcome("failed", notes=(note("error", "y", float("inf"), 0.005),), reason="y: 3 of 4 elements are not finite"),
        outcome("failed", notes=(note("identical", "y", 1.0, 0.0),)),
        outcome("failed", notes=(note("ratio", "forward", 1.4, 1.1),)),
        outcome("failed", reason="ZeroDivisionError"),
    ]

    done = run.conclude(lock, ran(lock, *tests))

    assert done.status == "failed"
    assert [(found.rule, found.path) for found in done.findings] == [
        (rule, VENDORED_FILE) for rule in ("kernel-wrong", "kernel-differs", "kernel-slow", "parity-test-failed")
    ]


def test_a_run_in_which_nothing_ran_is_never_passed(made: Project) -> None:
    skipped = ran(made.lock, outcome("skipped", reason="no CUDA device"))

    assert (run.conclude(made.lock, skipped).status, run.conclude(made.lock, skipped).reason) == (
        "not run",
        "no CUDA device",
    )
    with pytest.raises(ParityNotRun, match="no CUDA device"):
        run.conclude(made.lock, skipped, require=True)


def test_the_table_shows_worst_error_ratio_and_what_failed(made: Project) -> None:
    tests = [
        outcome(
            notes=(
                note("error", "y", 0.00198, 0.005),
                note("identical", "y", 0.0, 0.0),
                note("milliseconds", "forward vendored", 0.91),
                note("milliseconds", "forward upstream", 0.9),
                note("ratio", "forward", 1.0111),
            )
        ),
        outcome("failed", reason="y: wrong"),
    ]

    text = table.markdown(ran(made.lock, *tests))

    assert (
        f"| demo: `{NAME}` | NVIDIA H200 | 1 passed, 1 failed | y 2.0e-03 | y | – | forward 1.01 | forward 0.910, 0.900, – |"
        in text
    )
    assert "NVIDIA H200, driver 580.1, tilelang 0.1.11, torch 2.11.0+cu130.\nSeed 7, 2026-11-30." in text
    assert "Failed:\n\n- `test_double.py::test`: y: wrong" in text


def test_reports_of_different_bytes_are_not_joined() -> None:
    one = Report(1, "2026-11-30", [], {"demo": {"a.py": "1"}})
    other = Report(1, "2026-11-30", [], {"demo": {"a.py": "2"}})

    with pytest.raises(UsageError, match="different states of `a.py`"):
        report.join([one, other])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}', '{"format": 1, "seed": 1}'])
def test_a_file_that_is_no_report_is_a_usage_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)

    with pytest.raises(UsageError, match="is no parity report"):
        report.read(tmp_path / "r.json")
