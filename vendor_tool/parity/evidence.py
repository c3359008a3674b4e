"""Evidence from a report: records for `resolved: evidence:`, which `vendor_tool.evidence` reads.

Pure: loads neither torch nor pytest. One record for each kind of GPU, under `resolved: evidence:`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from vendor_tool import known_bad
from vendor_tool.evidence import KEY, TESTS, Record, digests, find, merged, recorded, refused, sentence, stale
from vendor_tool.known_bad import Bad
from vendor_tool.model import Lock, Resolved, Upstream
from vendor_tool.parity import machine
from vendor_tool.parity.report import Report, Test
from vendor_tool.values import dataclass

__all__ = [
    "FAILED", "KEY", "TESTS", "Record", "Verdict", "collect", "find", "judged", "merged", "on_disk", "recorded",
    "refused", "sentence", "stale", "summary",
]  # fmt: skip

FAILED = ("failed", "xpassed")
"""Outcomes of a test that stand against its kernel."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one kind of GPU saw of an upstream: a record, or why it gives none."""

    upstream: str
    gpu: str  # "none" for a CPU
    record: dict[str, Any] | None
    why_not: tuple[str, ...]  # of the whole record, or of single kernels beside one
    failed: bool = False

    def sentence(self) -> str:
        """Why there is no evidence, for people."""
        return f"{self.upstream} on {'a CPU' if self.gpu == 'none' else self.gpu}: {'; '.join(self.why_not)}"


def judged(report: Report, lock: Lock) -> list[Verdict]:
    """What each kind of GPU saw of each upstream that was tested.

    A record takes that all of the upstream's tests ran on that GPU or were skipped, that none failed, also in setup or
    teardown, and that the versions are those that the entry asks for. A test that failed and that says neither
    upstream nor GPU stands against all of them. A kernel takes that an output of it was held to a reference.
    """
    out = []
    for name, entry in sorted(lock.upstreams.items()):
        tests = [test for test in report.tests if report.upstream(test) in (name, None)]
        for gpu in sorted({test.machine["gpu"] for test in tests if test.kernel and test.machine}):
            mine = [test for test in tests if test.machine is None or test.machine["gpu"] == gpu]
            if entry.resolved is not None:
                out.append(_verdict(report, entry, gpu, mine, known_bad.known_bad(lock)))
    return out


def collect(report: Report, lock: Lock) -> dict[str, list[dict[str, Any]]]:
    """The records of `judged`, by upstream."""
    out: dict[str, list[dict[str, Any]]] = {}
    for one in judged(report, lock):
        if one.record:
            out.setdefault(one.upstream, []).append(one.record)
    return out


def _verdict(report: Report, entry: Upstream, gpu: str, tests: list[Test], bad: Sequence[Bad]) -> Verdict:
    name = entry.name
    setting = next((test.machine for test in tests if test.machine), None) or {"versions": {}}
    failed = [test.id for test in tests if test.outcome in FAILED]
    ran = {test.id for test in tests}
    missing = sorted(test for test, upstream in report.marked.items() if upstream == name and test not in ran)
    why = [] if gpu != "none" else ["it is no GPU"]
    why += [f"{len(failed)} failed, such as `{failed[0]}`"] if failed else []
    why += [f"{len(missing)} did not run, such as `{missing[0]}`"] if missing else []
    why += [*machine.unmet(entry.requires, setting["versions"]), *refused(setting["versions"], bad)]
    kernels = _kernels(tests)
    unheld = sorted(kernels.keys() - _held(tests))
    told = [f"no test that passed holds an output of `{kernel}` to a reference" for kernel in unheld]
    held = {kernel: found for kernel, found in kernels.items() if kernel not in unheld}
    if not kernels:
        why.append("no test passed")
    if why or not held:
        return Verdict(name, gpu, None, (*why, *told), bool(failed))
    record = _setting(setting, report) | report.entries[name] | {"files": dict(report.files[name])}
    return Verdict(name, gpu, record | {"kernels": held}, tuple(told))


def on_disk(lock: Lock, resolved: Resolved) -> dict[str, str | None]:
    """sha256 by local path of what evidence rests on, as it stands in the project now; None for what is gone."""
    paths = (*(file.to for file in resolved.files), *resolved.shims, *resolved.patches)
    contents = {path: (lock.root / path).read_bytes() if (lock.root / path).is_file() else None for path in paths}
    return digests(resolved, contents)


def _held(tests: Iterable[Test]) -> set[str]:
    """Kernels of which a test that passed held numbers to a reference; older reports do not say of which numbers."""
    return {
        test.kernel["name"]
        for test in tests
        if test.kernel and test.outcome == "passed"
        for note in test.notes
        if note["check"] == "error" and isfinite(note["value"]) and note.get("vendored", True)
    }


def _setting(found: Mapping[str, Any], report: Report) -> dict[str, Any]:
    return {"gpu": found["gpu"], "driver": found["driver"], "date": report.date} | dict(found["versions"])


def _kernels(tests: Iterable[Test]) -> dict[str, dict[str, Any]]:
    """What was measured of each kernel that passed at least one test."""
    by_name: dict[str, list[Test]] = {}
    for test in tests:
        if test.kernel:
            by_name.setdefault(test.kernel["name"], []).append(test)
    return {
        name: summary(mine) for name, mine in sorted(by_name.items()) if any(test.outcome == "passed" for test in mine)
    }


def summary(tests: Iterable[Test]) -> dict[str, Any]:
    """The worst of each measurement of one kernel: relative errors, spread, time ratios; and known limits in words.

    Notes of tests that failed, or were expected to fail, are left out: they stand under `limits`.
    """
    tests = list(tests)
    passed = [test for test in tests if test.outcome == "passed"]
    notes = [note for test in passed for note in test.notes]
    out: dict[str, Any] = {"passed": len(passed)}
    for key, check in (
        ("errors", "error"),
        ("spread", "spread"),
        ("ratios", "ratio"),
        ("milliseconds", "milliseconds"),
    ):
        worst: dict[str, float] = {}
        for note in notes:
            if note["check"] == check:
                worst[note["name"]] = max(worst.get(note["name"], 0.0), float(f"{note['value']:.3g}"))
        if worst:
            out[key] = dict(sorted(worst.items()))
    for key, check in (("identical", "identical"), ("repeats", "repeats")):
        if names := sorted({note["name"] for note in notes if note["check"] == check}):
            out[key] = names
    limits = sorted({test.reason for test in tests if test.outcome == "xfailed"})
    if limits:
        out["limits"] = limits
    return out
