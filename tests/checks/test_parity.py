"""What `audit` says of evidence: stale, missing, or who saw a kernel right; and what its exit code makes of that."""

from dataclasses import replace
from hashlib import sha256
from typing import Any

from tests.checks.sound import FWD, entry, found, subject
from vendor_tool.checks import parity
from vendor_tool.checks.subject import Subject
from vendor_tool.cli.output import code
from vendor_tool.errors import ExitCode
from vendor_tool.model import Upstream

NAME = "ops/fwd.py"
SHIM = "vendored/_tilelang.py"
SEEN = "verified on 2026-11-30 on NVIDIA H200, driver 580.1, torch 2.11.0+cu130, tilelang 0.1.11"


def record(one: Upstream, **changes: Any) -> dict[str, Any]:
    """Evidence that fits an entry as it is, but for the changes."""
    assert one.resolved is not None
    return {
        "gpu": "NVIDIA H200",
        "driver": "580.1",
        "date": "2026-11-30",
        "torch": "2.11.0+cu130",
        "tilelang": "0.1.11",
        "revision": one.revision,
        "intent": one.intent,
        "requires": {},
        "tools": {},
        "patches": {},
        "files": {file.to: file.sha256 for file in one.resolved.files},
        "kernels": {NAME: {"passed": 3}},
    } | changes


def seen(*records: dict[str, Any], one: Upstream | None = None, tested: tuple[str, ...] = ()) -> Subject:
    """The sound project with this evidence, and parity tests for these files."""
    made = one or entry()
    assert made.resolved is not None
    resolved = replace(made.resolved, extra={**made.resolved.extra, "evidence": list(records)})
    return subject(replace(made, resolved=resolved), tested=frozenset((made.name, file) for file in tested))


def test_a_project_without_parity_tests_and_evidence_hears_nothing() -> None:
    assert found(parity, subject()) == []


def test_a_kernel_that_was_verified_is_a_note_that_says_when_and_on_what() -> None:
    made = seen(record(entry()))
    assert found(parity, made) == [("PAR-3", FWD, None, f"`fwd.py` was {SEEN}")]
    assert code(list(parity.check(made))) == ExitCode.CLEAN


def test_stale_evidence_is_a_warning_that_says_what_changed() -> None:
    made = seen(record(entry(), files={FWD: "0" * 64}, tools={"libcst": "1.0"}))
    (one,) = parity.check(made)
    assert one.message == f"`fwd.py` was {SEEN}, stale: libcst went from 1.0 to none; `{FWD}` changed"
    assert (one.rule, one.level, one.path, one.lock_line) == ("PAR-1", "warning", FWD, 10)
    assert one.fix == "vendor-tool parity mid --update-evidence, on a GPU"
    assert code([one]) == ExitCode.FINDINGS


def test_stale_evidence_of_one_gpu_is_a_note_where_another_gpu_s_holds() -> None:
    made = seen(record(entry(), gpu="NVIDIA H100", revision="0" * 40), record(entry()))
    assert [(one.rule, one.level) for one in parity.check(made)] == [("PAR-1", "note"), ("PAR-3", "note")]
    assert code(list(parity.check(made))) == ExitCode.CLEAN


def test_a_kernel_that_has_tests_and_no_evidence_is_a_note() -> None:
    made = seen(tested=("fwd.py",))
    assert found(parity, made) == [("PAR-2", FWD, None, "`fwd.py` is not verified on a GPU")]
    assert code(list(parity.check(made))) == ExitCode.CLEAN


def test_a_kernel_that_the_evidence_of_its_entry_does_not_speak_of_is_not_verified() -> None:
    made = seen(record(entry(), kernels={"ops/other.py": {"passed": 1}}), tested=("fwd.py",))
    assert [(rule, path) for rule, path, _line, _message in found(parity, made)] == [("PAR-2", FWD), ("PAR-3", None)]


def test_an_entry_of_which_nothing_is_tested_is_told_where_others_are() -> None:
    other = replace(entry(), name="other")
    made = replace(seen(record(entry())), lock=replace(seen(record(entry())).lock))
    both = replace(made, lock=replace(made.lock, upstreams={**made.lock.upstreams, "other": other}))
    assert [(one.rule, one.upstream, one.message) for one in parity.check(both)] == [
        ("PAR-3", "mid", f"`fwd.py` was {SEEN}"),
        ("PAR-2", "other", "nothing of other is verified on a GPU"),
    ]


def test_a_stand_in_on_the_disk_that_is_not_the_tested_one_is_told() -> None:
    one = entry()
    assert one.resolved is not None
    shimmed = replace(one, resolved=replace(one.resolved, shims=(SHIM,)))
    tested = record(one) | {"files": {**record(one)["files"], SHIM: sha256(b"one").hexdigest()}}
    made = seen(tested, one=shimmed)

    def rules(stand_in: bytes | None) -> list[tuple[str, str]]:
        local = {**made.local} | ({SHIM: stand_in} if stand_in is not None else {})
        return [(one.rule, one.message.rpartition(": ")[2]) for one in parity.check(replace(made, local=local))]

    assert rules(b"one") == [("PAR-3", f"`fwd.py` was {SEEN}")]
    assert rules(b"two") == [("PAR-1", f"`{SHIM}` changed")]
    assert rules(None) == [("PAR-1", f"`{SHIM}` is gone")]


def test_what_somebody_wrote_by_hand_in_place_of_a_record_verifies_nothing() -> None:
    broken = {key: value for key, value in record(entry()).items() if key != "date"}
    assert [rule for rule, *_rest in found(parity, seen(broken, {"gpu": 7}, tested=("fwd.py",)))] == ["PAR-2"]
