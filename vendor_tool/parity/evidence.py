"""Who has seen a kernel compute the right thing: facts for `resolved:`, and when they no longer speak of the files.

Pure: loads neither torch nor pytest. One record for each kind of GPU, under `resolved: evidence:`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from vendor_tool.model import Lock, Resolved
from vendor_tool.parity.report import Report, Test

KEY = "evidence"
"""Where the records stand in `Resolved.extra`."""
Record: TypeAlias = Mapping[str, Any]


def recorded(resolved: Resolved) -> tuple[Record, ...]:
    """The records that a lock holds, newest and older, current and stale."""
    found = resolved.extra.get(KEY, ())
    return tuple(item for item in found if isinstance(item, Mapping)) if isinstance(found, list | tuple) else ()


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
                        _setting(setting, report) | _inputs(entry.resolved, report.files[name]) | {"kernels": kernels}
                    )
    return out


def merged(old: Sequence[Record], new: Sequence[Record]) -> list[Record]:
    """The new records, and the old ones of other kinds of GPU; sorted by GPU."""
    fresh = {record["gpu"] for record in new}
    return sorted(
        [*new, *(record for record in old if record.get("gpu") not in fresh)], key=lambda item: str(item["gpu"])
    )


def stale(evidence: Record, resolved: Resolved, on_disk: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Why one record does not speak of what is vendored now, as sentences; empty when it does.

    `on_disk` adds hashes of files that the block does not hold, the stand-ins, by local path.
    """
    now = {file.to: file.sha256 for file in resolved.files} | dict(on_disk or {})
    then = evidence.get("files", {})
    reasons = [f"`{path}` changed" for path in sorted(now.keys() & then.keys()) if now[path] != then[path]]
    known = {file.to for file in resolved.files}
    reasons += [f"`{path}` is new" for path in sorted(known - then.keys())]
    reasons += [f"`{path}` is gone" for path in sorted(then.keys() - known - set(resolved.shims))]
    if evidence.get("revision") != resolved.revision:
        reasons.append(f"the pin moved from `{str(evidence.get('revision'))[:12]}` to `{resolved.revision[:12]}`")
    if evidence.get("patches", {}) != dict(resolved.patches):
        reasons.append("the patches changed")
    if evidence.get("intent") != resolved.intent:
        reasons.append("the entry in the lock changed")
    before, after = evidence.get("tools", {}), resolved.tools
    reasons += [
        f"{tool} went from {before.get(tool, 'none')} to {after.get(tool, 'none')}"
        for tool in sorted({*before, *after})
        if before.get(tool) != after.get(tool)
    ]
    return tuple(reasons)


def sentence(record: Record) -> str:
    """On what, and when, a record's kernels were verified."""
    versions = ", ".join(f"{name} {record[name]}" for name in ("torch", "tilelang", "apache-tvm-ffi") if name in record)
    return f"verified on {record['date']} on {record['gpu']}, driver {record['driver']}, {versions}"


def _setting(machine: Mapping[str, Any], report: Report) -> dict[str, Any]:
    return {"gpu": machine["gpu"], "driver": machine["driver"], "date": report.date} | dict(machine["versions"])


def _inputs(resolved: Resolved, files: Mapping[str, str]) -> dict[str, Any]:
    return {
        "revision": resolved.revision,
        "intent": resolved.intent,
        "tools": dict(resolved.tools),
        "patches": dict(resolved.patches),
        "files": dict(files),
    }


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
    same = sorted({note["name"] for note in notes if note["check"] == "identical"})
    if same:
        out["identical"] = same
    limits = sorted({test.reason for test in tests if test.outcome == "xfailed"})
    if limits:
        out["limits"] = limits
    return out
