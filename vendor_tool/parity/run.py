"""`vendor-tool parity`: what would run and why, the run itself in child processes, and what comes of it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from vendor_tool import fetch
from vendor_tool.errors import ParityError, ParityNotRun, UsageError
from vendor_tool.findings import Finding
from vendor_tool.known_bad import known_bad, matches
from vendor_tool.lockfile import edit
from vendor_tool.model import Access, Lock, Resolved, Upstream
from vendor_tool.parity import evidence, kernel, machine, report, rules, table
from vendor_tool.parity.report import Report
from vendor_tool.values import dataclass, replace

FOLDER = evidence.TESTS
_PLUGIN = "vendor_tool.parity.plugin"
_NOTHING_COLLECTED = 5  # pytest's own status


@dataclass(frozen=True, slots=True)
class Step:
    """One upstream's part of a run."""

    upstream: str
    kernels: tuple[str, ...]  # local paths of its files, dotted names of its run-time imports
    why: tuple[str, ...]  # why its tests would run
    obstacles: tuple[str, ...]  # why they cannot run on this machine


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to. `evidence` holds the records to write under `resolved:`, by upstream."""

    status: Literal["passed", "failed", "not run"]
    reason: str  # of "not run"; else a count of tests
    findings: tuple[Finding, ...] = ()
    evidence: Mapping[str, list[dict[str, Any]]] | None = None
    table: str = ""  # Markdown
    report: Report | None = None


def plan(lock: Lock, names: Sequence[str] = (), *, gpus: int | None = None) -> tuple[Step, ...]:
    """What `run` would test, and why; loads neither torch nor the runtime. UsageError for a name the lock lacks.

    `gpus` as for `run`.
    """
    unknown = sorted(set(names) - lock.upstreams.keys())
    if unknown:
        raise UsageError(
            f"no upstream `{unknown[0]}` in `{lock.path.name}`", hint=f"there are: {', '.join(sorted(lock.upstreams))}"
        )
    return tuple(_step(lock, lock.upstreams[name], gpus) for name in (names or sorted(lock.upstreams)))


def run(
    lock: Lock,
    names: Sequence[str] = (),
    *,
    access: Access,
    require: bool = False,
    gpus: int | None = None,
    update: bool = False,
    junit: Path | None = None,
    json: Path | None = None,
    ray: str | None = None,
    workers: int | None = None,
) -> Outcome:
    """Run the parity tests of some upstreams, or all, and measure.

    `gpus` None takes every GPU of this machine, 0 leaves out the tests marked `gpu`. `workers` is the number of
    processes, one a GPU by default; tests marked `timing` always run alone. `ray` is the address of a cluster that runs
    the tests instead of this machine. `update` writes the evidence into the lockfile. `junit` and `json` name files.
    Lines of progress go to `access.progress`.

    Raises ParityNotRun where `require` is set and tests cannot run, UsageError for unknown names, UpstreamError where
    an upstream's own files are not to be had, ParityError where pytest itself breaks down.
    """
    steps = plan(lock, names, gpus=gpus)
    obstacles = (
        [] if (lock.root / FOLDER).is_dir() else [f"no folder `{FOLDER}`: docs/how-to/parity.md tells how to fill it"]
    )
    if importlib.util.find_spec("pytest") is None:
        obstacles.append("pytest not installed")
    obstacles += [] if ray else [obstacle for step in steps for obstacle in step.obstacles]
    if obstacles:
        return _not_run(obstacles[0], require)
    with tempfile.TemporaryDirectory(prefix="vendor-tool-parity-") as scratch:
        pristine = Path(scratch, "pristine")
        for step in steps:
            export(lock.upstreams[step.upstream], pristine, access)
        work = _Work(lock, tuple(step.upstream for step in steps), pristine, Path(scratch), require, access.progress)
        if ray:
            from vendor_tool.parity import ray as cluster

            measured = cluster.run(lock, work.names, address=ray, pristine=pristine, folder=FOLDER, require=require)
        else:
            measured = _run_here(work, len(machine.gpus()) if gpus is None else gpus, workers, junit)
    if json:
        measured.write(json)
    return conclude(lock, measured, require=require, update=update)


def conclude(lock: Lock, measured: Report, *, require: bool = False, update: bool = False) -> Outcome:
    """What a report says of a lock; the report may come from another machine. `update` writes the evidence.

    Raises ParityNotRun where `require` is set and nothing ran.
    """
    failed, passed = measured.count("failed") + measured.count("xpassed"), measured.count("passed")
    if not failed and not passed:
        reasons = sorted({test.reason for test in measured.tests if test.reason})
        return _not_run("; ".join(reasons) or f"`{FOLDER}` holds no test of these upstreams that could run", require)
    found = _recordable(lock, evidence.collect(measured, lock))
    if update and found:
        write_evidence(lock, found)
    return Outcome(
        status="failed" if failed else "passed",
        reason=f"{passed} passed, {failed} failed, {measured.count('skipped')} not run",
        findings=tuple(_findings(lock, measured)),
        evidence=found,
        table=table.markdown(measured),
        report=measured,
    )


def export(upstream: Upstream, folder: Path, access: Access) -> None:
    """Put the unmodified files of one upstream into `folder/NAME`, under their upstream paths.

    Of a run-time import, all Python files of its package: its own file would get the rest from the installed one.
    """
    if upstream.resolved is None:
        raise UsageError(f"upstream `{upstream.name}` was never synced", hint=f"run `vendor-tool sync {upstream.name}`")
    ids = {file.path: file.blob for file in upstream.resolved.files if file.blob} | _packages(upstream, access)
    contents = fetch.blobs(upstream, upstream.resolved.revision, set(ids.values()), access) if ids else {}
    for path, blob in ids.items():
        target = folder / upstream.name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(contents[blob])


def _packages(upstream: Upstream, access: Access) -> dict[str, str]:
    """Upstream path to blob of the packages that an entry's run-time imports come from, at the recorded revision."""
    found = upstream.resolved
    if found is None or not found.imports:
        return {}
    tops = tuple({kernel.package(item) for item in found.imports})
    entries = fetch.snapshot(upstream, found.revision, access).entries
    return {
        path: entry.oid
        for path, entry in entries.items()
        if path.startswith(tops) and path.endswith(".py") and entry.mode in ("100644", "100755")
    }


def write_evidence(lock: Lock, records: Mapping[str, Sequence[evidence.Record]]) -> None:
    """Write records under `resolved:` of their upstreams; those of other kinds of GPU stay. Nothing else changes."""
    text = lock.path.read_bytes().decode("utf-8")
    for name, fresh in sorted(records.items()):
        resolved = lock.upstreams[name].resolved
        if resolved is not None:
            merged = [dict(record) for record in evidence.merged(evidence.recorded(resolved), fresh)]
            extra = {**resolved.extra, evidence.KEY: merged}
            text = edit.record_resolved(text, name, replace(resolved, extra=extra))
    staged = lock.path.with_name(lock.path.name + ".parity")
    staged.write_bytes(text.encode("utf-8"))
    staged.replace(lock.path)


# ---- inside -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Work:
    """What every child process of one run is told."""

    lock: Lock
    names: tuple[str, ...]
    pristine: Path
    scratch: Path
    require: bool
    progress: Callable[[str], None]


def _step(lock: Lock, upstream: Upstream, gpus: int | None) -> Step:
    resolved = upstream.resolved
    if resolved is None:
        return Step(upstream.name, (), (), (f"upstream `{upstream.name}` was never synced",))
    names = (*(file.to for file in resolved.files), *(item.name for item in resolved.imports))
    return Step(upstream.name, names, tuple(_why(lock, upstream, resolved)), tuple(_obstacles(upstream, gpus)))


def _why(lock: Lock, upstream: Upstream, resolved: Resolved) -> list[str]:
    records = evidence.recorded(resolved)
    on_disk, bad = evidence.on_disk(lock, resolved), known_bad(lock)
    out = [] if records else ["never verified on a GPU"]
    for record in records:
        reasons = evidence.stale(record, upstream, on_disk, bad)
        out.append(evidence.sentence(record) + (f", stale: {'; '.join(reasons)}" if reasons else ", still true"))
    installed = machine.versions(machine.RUNTIME)
    for known in lock.known_bad:
        if known.versions and matches(known.versions, installed):
            named = " with ".join(f"{name} {installed[name]}" for name in known.versions)
            out.append(f"{named} is known to be bad: {known.reason}")
    return out


def _obstacles(upstream: Upstream, gpus: int | None) -> list[str]:
    """Why an upstream's kernels cannot run here; versions first, since loading a wrong pair ends the process."""
    installed = machine.versions((*machine.RUNTIME, *upstream.requires))
    refused = machine.refusal(installed)
    out = [refused] if refused else []
    absent = [name for name in ("torch", *upstream.requires) if name not in installed]
    if absent:
        out.append(f"{' and '.join(dict.fromkeys(absent))} not installed")
    if gpus is None and not machine.gpus():
        out.append("no GPU: `nvidia-smi` finds none")
    return out


def _not_run(reason: str, require: bool) -> Outcome:
    if require:
        raise ParityNotRun(
            f"parity is required and was not run: {reason}",
            hint="`vendor-tool parity --plan` says what each upstream lacks here",
        )
    return Outcome("not run", reason)


def _run_here(work: _Work, gpus: int, workers: int | None, junit: Path | None) -> Report:
    """Tests of results first, spread over the GPUs, then tests of time, one after the other on an idle machine."""
    count = workers or gpus
    spread = []
    if count > 1 and importlib.util.find_spec("xdist") is not None:
        spread = ["-n", str(count), "--dist", "load" if count > gpus else "loadfile", f"--parity-gpus={gpus}"]
    marked = "" if gpus else " and not gpu"
    parts = [_child(work, "results", ["-m", f"not timing{marked}", *spread], junit)]
    if any(b"timing" in path.read_bytes() for path in (work.lock.root / FOLDER).rglob("*.py")):
        timed = junit.with_name(f"{junit.stem}-timing{junit.suffix}") if junit else None
        seed = f"--parity-seed={parts[0].seed}"
        parts.append(_child(work, "timing", ["-m", f"timing{marked}", seed], timed))
    return report.join(parts)


def _child(work: _Work, name: str, options: Sequence[str], junit: Path | None) -> Report:
    target = work.scratch / f"{name}.json"
    command = [
        sys.executable, "-m", "pytest", "-p", _PLUGIN, FOLDER, "-v", "-W", "default",
        f"--parity-lock={work.lock.path}", f"--parity-pristine={work.pristine}", f"--parity-report={target}",
        f"--parity-only={','.join(work.names)}", *options,
    ]  # fmt: skip
    command += ["--require-gpu"] if work.require else []
    command += [f"--junit-xml={junit.absolute()}"] if junit else []
    status, last = _stream(command, work)
    if not target.is_file() or status not in (0, 1, _NOTHING_COLLECTED):
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        raise ParityError(f"pytest {how} before its tests were done: {last}", hint="see its output above")
    return report.read(target)


def _stream(command: Sequence[str], work: _Work) -> tuple[int, str]:
    """Run a command in the project, handing each line on; its status and last line."""
    ours = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(filter(None, (ours, os.environ.get("PYTHONPATH"))))
    last = ""
    with subprocess.Popen(
        command,
        cwd=work.lock.root,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as child:
        for line in child.stdout or ():
            if line.strip():
                last = line.strip()
                work.progress(last)
    return child.returncode, last


def _recordable(lock: Lock, found: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Without the records of versions that the entry does not ask for: they say nothing of what users will run."""
    out = {
        name: [record for record in records if not machine.unmet(lock.upstreams[name].requires, record)]
        for name, records in found.items()
    }
    return {name: records for name, records in out.items() if records}


def _findings(lock: Lock, measured: Report) -> list[Finding]:
    out = []
    for test in measured.tests:
        if test.outcome not in ("failed", "xpassed"):
            continue
        last = test.notes[-1] if test.notes else None
        missed = last is not None and last["limit"] is not None and not last["value"] <= last["limit"]
        rule = rules.RULE_OF[last["check"]] if last and missed else "parity-test-failed"
        name = test.kernel["upstream"] if test.kernel else None
        out.append(
            Finding(
                rule=rule,
                level=rules.RULES[rule].level,
                message=f"{test.id}: {test.reason or test.outcome}",
                path=_local_path(lock, test.kernel) if test.kernel else None,
                upstream=name,
            )
        )
    return out


def _local_path(lock: Lock, named: Mapping[str, str]) -> str | None:
    entry = lock.upstreams.get(named["upstream"])
    files = entry.resolved.files if entry and entry.resolved else ()
    return next((file.to for file in files if file.path == named["name"]), None)
