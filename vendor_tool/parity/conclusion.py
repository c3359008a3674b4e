"""What a parity report comes to for a lock: passed or failed, findings, the evidence that it gives or takes away."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from vendor_tool.errors import ParityNotRun, UsageError
from vendor_tool.findings import Finding
from vendor_tool.lockfile import edit
from vendor_tool.model import Lock
from vendor_tool.parity import evidence, rules, table
from vendor_tool.parity.evidence import FAILED
from vendor_tool.parity.report import Report, Test
from vendor_tool.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to. `evidence` holds the records to write under `resolved:`, by upstream."""

    status: Literal["passed", "failed", "not run"]
    reason: str  # of "not run"; else a count of tests
    findings: tuple[Finding, ...] = ()
    evidence: Mapping[str, list[dict[str, Any]]] | None = None
    unrecorded: tuple[str, ...] = ()  # what gives no evidence, and why
    removed: tuple[str, ...] = ()  # evidence in the lock that what was seen now contradicts
    table: str = ""  # Markdown
    report: Report | None = None


def conclude(
    lock: Lock, measured: Report, names: Collection[str] = (), *, require: bool = False, update: bool = False
) -> Outcome:
    """What a report says of some upstreams of a lock, or of all; it may come from another machine.

    `update` writes the evidence, and takes out that of GPUs on which a test failed now. Raises ParityNotRun where
    `require` is set and not every test ran, or none on a GPU; UsageError for a report of another state of the lock.
    """
    measured = _about(lock, measured, names)
    failed, passed = _count(measured, FAILED), _count(measured, ("passed",))
    left_out = measured.left_out()
    if not failed and not passed:
        reasons = sorted({test.reason for test in measured.tests if test.reason})
        none = f"`{evidence.TESTS}` holds no test of these upstreams that could run"
        return not_run("; ".join(reasons) or none, require)
    if require and not failed:
        _required(measured, left_out)
    verdicts = evidence.judged(measured, lock)
    records: dict[str, list[dict[str, Any]]] = {}
    for one in verdicts:
        if one.record:
            records.setdefault(one.upstream, []).append(one.record)
    gone = [(one.upstream, one.gpu) for one in verdicts if one.failed and _holds(lock, one.upstream, one.gpu)]
    if update and (records or gone):
        write_evidence(lock, records, gone)
    return Outcome(
        status="failed" if failed else "passed",
        reason=f"{passed} passed, {failed} failed, {_count(measured, ('skipped',)) + len(left_out)} not run",
        findings=tuple(_findings(lock, measured)),
        evidence=records,
        unrecorded=tuple(one.sentence() for one in verdicts if one.why_not),
        removed=tuple(f"{name} on {gpu}" for name, gpu in gone),
        table=table.markdown(measured),
        report=measured,
    )


def not_run(reason: str, require: bool) -> Outcome:
    """The outcome of no run; ParityNotRun where one was required."""
    if require:
        raise ParityNotRun(
            f"parity is required and was not run: {reason}",
            hint="`vendor-tool parity --plan` says what each upstream lacks here",
        )
    return Outcome("not run", reason)


def write_evidence(
    lock: Lock, records: Mapping[str, Sequence[evidence.Record]], gone: Iterable[tuple[str, str]] = ()
) -> None:
    """Write records under `resolved:` of their upstreams, and take out those of `gone`, upstream and GPU.

    Records of other kinds of GPU stay. Nothing else changes.
    """
    text, dropped = lock.path.read_bytes().decode("utf-8"), set(gone)
    for name in sorted({*records, *(upstream for upstream, _gpu in dropped)}):
        resolved = lock.upstreams[name].resolved
        if resolved is not None:
            kept = [one for one in evidence.recorded(resolved) if (name, one["gpu"]) not in dropped]
            merged = [dict(record) for record in evidence.merged(kept, records.get(name, ()))]
            extra = {key: value for key, value in resolved.extra.items() if key != evidence.KEY}
            extra |= {evidence.KEY: merged} if merged else {}
            text = edit.record_resolved(text, name, replace(resolved, extra=extra))
    staged = lock.path.with_name(lock.path.name + ".parity")
    staged.write_bytes(text.encode("utf-8"))
    staged.replace(lock.path)


# ---- inside -----------------------------------------------------------------------------------------------


def _about(lock: Lock, measured: Report, names: Collection[str]) -> Report:
    """The part of a report that speaks of these upstreams, all of which must be as they are in the lock and on disk."""
    unknown = sorted(set(names) - lock.upstreams.keys())
    if unknown:
        raise UsageError(
            f"no upstream `{unknown[0]}` in `{lock.path.name}`", hint=f"there are: {', '.join(sorted(lock.upstreams))}"
        )
    wanted = set(names) or {*filter(None, map(measured.upstream, measured.tests)), *measured.marked.values()}
    tests = [
        test for test in measured.tests if (measured.upstream(test) or "") in wanted or not measured.upstream(test)
    ]
    marked = {test: name for test, name in measured.marked.items() if name in wanted}
    about = replace_report(measured, tests, marked)
    for name in sorted({test.kernel["upstream"] for test in tests if test.kernel and test.outcome != "failed"}):
        _same_state(lock, about, name)
    return about


def replace_report(measured: Report, tests: list[Test], marked: dict[str, str]) -> Report:
    """A report with other tests."""
    return Report(measured.seed, measured.date, tests, measured.files, measured.entries, marked, measured.broken)


def _same_state(lock: Lock, measured: Report, name: str) -> None:
    entry = lock.upstreams.get(name)
    if entry is None or entry.resolved is None or name not in measured.entries or name not in measured.files:
        raise UsageError(
            f"the report speaks of `{name}`, which `{lock.path.name}` does not hold as it was tested",
            hint="name the upstreams that it is to be read for, or run parity again",
        )
    then = {**measured.entries[name], "files": measured.files[name]}
    reasons = evidence.stale(then, entry, evidence.on_disk(lock, entry.resolved))
    if reasons:
        raise UsageError(
            f"the report is stale for `{name}`: {'; '.join(reasons)}",
            hint="bring the lock and the files to the state that was tested, or run parity again",
        )
    for test in measured.tests:
        named = test.kernel or {"upstream": "", "name": ""}
        if named["upstream"] == name and test.outcome == "passed" and evidence.find(entry, named["name"]) is None:
            raise UsageError(
                f"the report speaks of `{named['name']}`, which `{name}` does not hold", hint="run parity again"
            )


def _required(measured: Report, left_out: Sequence[str]) -> None:
    if not any(test.outcome == "passed" and test.machine and test.machine["gpu"] != "none" for test in measured.tests):
        not_run("no test ran on a GPU", True)
    if left_out:
        not_run(f"{len(left_out)} tests were left out, such as `{left_out[0]}`", True)


def _count(measured: Report, outcomes: Collection[str]) -> int:
    return sum(test.outcome in outcomes for test in measured.tests)


def _holds(lock: Lock, name: str, gpu: str) -> bool:
    return any(record["gpu"] == gpu for record in evidence.recorded(lock.upstreams[name].resolved))


def _findings(lock: Lock, measured: Report) -> list[Finding]:
    out = []
    for test in measured.tests:
        if test.outcome in FAILED:
            rule = rules.RULES[_rule(test)]
            out.append(
                Finding(
                    rule=rule.id,
                    level=rule.level,
                    message=f"{test.id}: {test.reason or test.outcome}",
                    path=_local_path(lock, test.kernel) if test.kernel else None,
                    upstream=measured.upstream(test),
                )
            )
    return out


def _rule(test: Test) -> str:
    """By the last claim that did not hold; a test that failed without one fell over by itself."""
    missed = [note for note in test.notes if note["limit"] is not None and not note["value"] <= note["limit"]]
    return rules.RULE_OF[missed[-1]["check"]] if missed and test.outcome == "failed" else "parity-test-failed"


def _local_path(lock: Lock, named: Mapping[str, str]) -> str | None:
    entry = lock.upstreams.get(named["upstream"])
    files = entry.resolved.files if entry and entry.resolved else ()
    return next((file.to for file in files if file.path == named["name"]), None)
