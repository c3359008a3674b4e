"""`vendor-tool parity`: what would run and why, the run itself in child processes, and what comes of it."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from vendor_tool import fetch
from vendor_tool.errors import UsageError
from vendor_tool.known_bad import known_bad
from vendor_tool.model import Access, Lock, Resolved, Upstream
from vendor_tool.parity import child, evidence, kernel, machine, report
from vendor_tool.parity.conclusion import Outcome, conclude, not_run
from vendor_tool.parity.report import Report
from vendor_tool.values import dataclass, replace

__all__ = ["Outcome", "Step", "conclude", "export", "plan", "run"]

FOLDER = evidence.TESTS


@dataclass(frozen=True, slots=True)
class Step:
    """One upstream's part of a run."""

    upstream: str
    kernels: tuple[str, ...]  # local paths of its files, dotted names of its run-time imports
    why: tuple[str, ...]  # why its tests would run
    obstacles: tuple[str, ...]  # why they cannot run on this machine


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
    seed: int | None = None,
    timeout: float | None = None,
) -> Outcome:
    """Run the parity tests of some upstreams, or all, and measure.

    `gpus` None takes every GPU of this machine, 0 leaves out the tests marked `gpu`. `workers` is the number of
    processes, one a GPU by default; tests marked `timing` always run alone. `ray` is the address of a cluster that runs
    the tests instead of this machine. `update` writes the evidence into the lockfile. `junit` and `json` name files.
    `seed` repeats the inputs of an earlier run; `timeout` is in seconds, for each pytest. An upstream whose kernels
    cannot run here does not keep the others from it. Lines of progress go to `access.progress`.

    Raises ParityNotRun where `require` is set and tests cannot run, UsageError for unknown names, UpstreamError where
    an upstream's own files are not to be had or pytest cannot run the tests, ParityError where it dies of them.
    """
    if ray and junit:
        raise UsageError("a Ray cluster writes no JUnit report", hint="leave out `--junit`, or use `--json`")
    steps = plan(lock, names, gpus=gpus)
    barred = {step.upstream: _barred(lock, step, bool(ray)) for step in steps}
    ready = [step for step in steps if not barred[step.upstream]]
    why = [f"{name} was not run: {found[0]}" for name, found in barred.items() if found]
    if not ready or (why and require):
        same = {found[0] for found in barred.values() if found}
        return not_run(same.pop() if len(same) == 1 else "; ".join(why) or "the lock has no upstream", require)
    with tempfile.TemporaryDirectory(prefix="vendor-tool-parity-") as scratch:
        pristine = Path(scratch, "pristine")
        for step in ready:
            export(lock.upstreams[step.upstream], pristine, access)
        chosen = tuple(step.upstream for step in ready)
        work = _Work(lock, chosen, pristine, Path(scratch), require, access.progress, seed, timeout)
        if ray:
            from vendor_tool.parity import ray as cluster

            measured = cluster.run(
                lock,
                work.names,
                address=ray,
                pristine=pristine,
                folder=FOLDER,
                require=require,
                seed=seed,
                timeout=timeout,
            )
        else:
            measured = _run_here(work, len(machine.gpus()) if gpus is None else gpus, workers, junit)
    if json:
        measured.write(json)
    done = conclude(lock, measured, chosen, require=require, update=update)
    return replace(done, reason="; ".join((done.reason, *why)))


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
    seed: int | None
    timeout: float | None


def _barred(lock: Lock, step: Step, elsewhere: bool) -> tuple[str, ...]:
    """Why an upstream cannot be tested; of a cluster's workers only they themselves can say what they lack."""
    if not elsewhere or lock.upstreams[step.upstream].resolved is None:
        return step.obstacles
    return tuple(_untested(lock))


def _untested(lock: Lock) -> list[str]:
    there = (lock.root / FOLDER).is_dir()
    return [] if there else [f"no folder `{FOLDER}`: docs/how-to/parity.md tells how to fill it"]


def _step(lock: Lock, upstream: Upstream, gpus: int | None) -> Step:
    resolved = upstream.resolved
    if resolved is None:
        return Step(upstream.name, (), (), (f"upstream `{upstream.name}` was never synced",))
    names = (*(file.to for file in resolved.files), *(item.name for item in resolved.imports))
    return Step(
        upstream.name, names, tuple(_why(lock, upstream, resolved)), (*_untested(lock), *_obstacles(upstream, gpus))
    )


def _why(lock: Lock, upstream: Upstream, resolved: Resolved) -> list[str]:
    records = evidence.recorded(resolved)
    on_disk, bad = evidence.on_disk(lock, resolved), known_bad(lock)
    out = [] if records else ["never verified on a GPU"]
    for record in records:
        reasons = evidence.stale(record, upstream, on_disk, bad)
        out.append(evidence.sentence(record) + (f", stale: {'; '.join(reasons)}" if reasons else ", still true"))
    # of the pairs that ship with the tool an obstacle speaks
    own = [one for one in bad if one.line is not None]
    return [*out, *evidence.refused(machine.versions((*machine.RUNTIME, *upstream.requires)), own)]


def _obstacles(upstream: Upstream, gpus: int | None) -> list[str]:
    """Why an upstream's kernels cannot run here; versions first, since loading a wrong pair ends the process."""
    installed = machine.versions((*machine.RUNTIME, *upstream.requires))
    pytest = [] if importlib.util.find_spec("pytest") else ["pytest not installed"]
    refused = machine.refusal(installed)
    out = [*pytest, refused] if refused else pytest
    absent = [name for name in ("torch", *upstream.requires) if name not in installed]
    if absent:
        out.append(f"{' and '.join(dict.fromkeys(absent))} not installed")
    if gpus is None and not machine.gpus():
        out.append("no GPU: `nvidia-smi` finds none")
    return out


def _run_here(work: _Work, gpus: int, workers: int | None, junit: Path | None) -> Report:
    """Tests of results first, spread over the GPUs, then tests of time, one after the other on an idle machine."""
    machine.devices(gpus)  # an error for more than there are to be seen
    count = workers or gpus
    spread = []
    if count > 1 and importlib.util.find_spec("xdist") is not None:
        spread = ["-n", str(count), "--dist", "load" if count > gpus else "loadfile", f"--parity-gpus={gpus}"]
    marked = "" if gpus else " and not gpu"
    seeded = [] if work.seed is None else [f"--parity-seed={work.seed}"]
    parts = [_child(work, "results", ["-m", f"not timing{marked}", *spread, *seeded], junit)]
    if any(b"timing" in path.read_bytes() for path in (work.lock.root / FOLDER).rglob("*.py")):
        timed = junit.with_name(f"{junit.stem}-timing{junit.suffix}") if junit else None
        seed = f"--parity-seed={parts[0].seed}"
        parts.append(_child(work, "timing", ["-m", f"timing{marked}", seed], timed))
    return report.join(parts)


def _child(work: _Work, name: str, options: Sequence[str], junit: Path | None) -> Report:
    target = work.scratch / f"{name}.json"
    told = [
        "-v", f"--parity-lock={work.lock.path}", f"--parity-pristine={work.pristine}", f"--parity-report={target}",
        f"--parity-only={','.join(work.names)}", *options,
    ]  # fmt: skip
    told += ["--require-gpu"] if work.require else []
    told += [f"--junit-xml={junit.absolute()}"] if junit else []
    status, last = child.stream(child.command(FOLDER, told), work.lock.root, work.progress, work.timeout)
    return child.judged(target, status, last)
