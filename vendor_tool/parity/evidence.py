"""Evidence from a report: records for `resolved: evidence:`, which `vendor_tool.evidence` reads.

Pure: loads neither torch nor pytest. One record for each kind of GPU, under `resolved: evidence:`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vendor_tool.evidence import KEY, TESTS, Record, digests, merged, recorded, sentence, stale
from vendor_tool.model import Lock, Resolved
from vendor_tool.parity.report import Report, Test

__all__ = ["KEY", "TESTS", "Record", "collect", "merged", "on_disk", "recorded", "sentence", "stale", "summary"]


def collect(report: Report, lock: Lock) -> dict[str, list[dict[str, Any]]]:
    """Records by upstream, one for each kind of GPU that passed all of the upstream's tests which ran on it.

    A CPU gives no record, nor does a GPU on which one test failed or none passed.
    """
    out: dict[str, list[dict[str, Any]]] = {}
    for name, entry in lock.upstreams.items():
        tests = [test for test in report.tests if test.kernel and test.machine and test.kernel["upstream"] == name]
        for gpu in sorted({test.machine["gpu"] for test in tests if test.machine} - {"none"}):
            mine = [test for test in tests if test.machine and test.machine["gpu"] == gpu]
            if entry.resolved and not any(test.outcome in ("failed", "xpassed") for test in mine):
                kernels = _kernels(mine)
                if kernels:
                    setting = mine[0].machine or {}
                    out.setdefault(name, []).append(
                        _setting(setting, report)
                        | report.entries[name]
                        | {"files": dict(report.files[name])}
                        | {"kernels": kernels}
                    )
    return out


def on_disk(lock: Lock, resolved: Resolved) -> dict[str, str | None]:
    """sha256 by local path of what evidence rests on, as it stands in the project now; None for what is gone."""
    paths = (*(file.to for file in resolved.files), *resolved.shims, *resolved.patches)
    contents = {path: (lock.root / path).read_bytes() if (lock.root / path).is_file() else None for path in paths}
    return digests(resolved, contents)


def _setting(machine: Mapping[str, Any], report: Report) -> dict[str, Any]:
    return {"gpu": machine["gpu"], "driver": machine["driver"], "date": report.date} | dict(machine["versions"])


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
