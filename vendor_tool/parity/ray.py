"""Parity on a Ray cluster that already runs: each test file on each kind of GPU, with what it needs sent along.

A worker needs Python with torch, the kernel runtime, pytest and pyyaml; neither the project nor this tool.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vendor_tool import interrupts
from vendor_tool.errors import ParityError, UsageError
from vendor_tool.model import Lock
from vendor_tool.parity import child, report
from vendor_tool.parity.report import Report

_SETTINGS = ("conftest.py", "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini")
_LATE = -999  # what stands for a status where a file took too long: no process ends with it
_SLICE = 0.5  # seconds after which a worker sees that its task was cancelled
_GRACE = 10.0  # seconds to end by itself
_KIND = "accelerator_type:"  # how Ray names a node's kind of GPU among its resources


def run(
    lock: Lock,
    names: Sequence[str],
    *,
    address: str,
    pristine: Path,
    folder: str,
    require: bool = False,
    seed: int | None = None,
    timeout: float | None = None,
) -> Report:
    """Run every test file under `folder` once on each kind of GPU of the cluster at `address`, side by side.

    Tests marked `timing` run afterwards, one file at a time. All draw from one seed. On a cluster without a GPU the
    files run on CPU workers, where tests marked `gpu` skip. `timeout` is in seconds, for each file from when its worker
    begins. Raises UsageError where ray is not installed, the address does not answer, or pytest cannot run the tests;
    ParityError where it dies of them, or a file takes too long. No worker goes on after that, or after an interrupt.
    """
    seed = random.SystemRandom().randrange(2**31) if seed is None else seed
    ray = _connect(address)
    try:
        # workers have no copy of this tool to import the function from
        ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
        luggage = ray.put(pack(lock, pristine, folder))
        task = ray.remote(max_retries=0)(_work)
        tests = _files(lock.root, folder)
        places = _places(ray.cluster_resources())
        options = [f"--parity-only={','.join(names)}", f"--parity-seed={seed}", *(["--require-gpu"] if require else [])]

        def begin(place: Mapping[str, Any], file: str, marked: str) -> Any:
            return task.options(**place).remote(luggage, file, lock.path.name, [*options, "-m", marked], timeout)

        with interrupts.terminable():
            answers = _gathered(ray, [begin(place, file, "not timing") for place in places for file in tests], timeout)
            # by nothing but itself is a time disturbed least: one after the other, also on other nodes
            timed = [file for file in tests if b"timing" in (lock.root / file).read_bytes()]
            for place in places:
                for file in timed:
                    answers += _gathered(ray, [begin(place, file, "timing")], timeout)
    finally:
        ray.shutdown()
    if not answers:
        raise UsageError(f"`{folder}` holds no test file", hint="name them `test_*.py`")
    return report.join([_judged(*answer) for answer in answers])


def _gathered(ray: Any, tasks: Sequence[Any], timeout: float | None) -> list[tuple[str, str, int, str]]:
    """What the tasks came to, in their order. Where one takes too long, or this run is ended, all of them are."""
    left = list(tasks)
    try:
        while left:
            done, left = ray.wait(left)
            for file, _text, status, last in ray.get(done):
                if status == _LATE:
                    raise child.too_long(f"`{file}` on a Ray worker", timeout or 0, last)
        return list(ray.get(list(tasks)))
    except ray.exceptions.RayError as error:
        why = next(filter(None, reversed(str(error).splitlines())), type(error).__name__)
        raise ParityError(f"a Ray worker did not do its task: {why}", hint="see the logs of the cluster") from error
    finally:
        for one in left:
            ray.cancel(one)
        if left:
            ray.wait(left, num_returns=len(left), timeout=_GRACE)


def _files(root: Path, folder: str) -> list[str]:
    """The files that pytest collects by itself."""
    found = {path for pattern in ("test_*.py", "*_test.py") for path in (root / folder).rglob(pattern)}
    return sorted(path.relative_to(root).as_posix() for path in found)


def _judged(file: str, text: str, status: int, last: str) -> Report:
    with tempfile.TemporaryDirectory(prefix="vendor-tool-parity-") as scratch:
        path = Path(scratch, "report.json")
        if text:
            path.write_text(text, encoding="utf-8")
        return child.judged(path, status, f"`{file}` on a Ray worker: {last}")


def pack(lock: Lock, pristine: Path, folder: str) -> dict[str, bytes]:
    """What a worker needs, by path: `project/` with lock, vendored files and tests, `pristine/`, and `tool/` itself."""
    wanted = [lock.path, *(lock.root / name for name in _SETTINGS)]
    wanted += [path for path in (lock.root / folder).rglob("*") if path.suffix != ".pyc"]
    for entry in lock.upstreams.values():
        if entry.resolved:
            local = (*(file.to for file in entry.resolved.files), *entry.resolved.shims)
            wanted += [lock.root / path for path in local]
            # packages of the project that the vendored files live in
            wanted += [
                above / "__init__.py" for path in local for above in (lock.root / path).parents if above != lock.root
            ]
    tool = Path(__file__).parents[1]
    trees = {
        "project": (lock.root, wanted),
        "pristine": (pristine, pristine.rglob("*")),
        "tool": (tool.parent, tool.rglob("*")),
    }
    return {
        f"{name}/{path.relative_to(root).as_posix()}": path.read_bytes()
        for name, (root, paths) in trees.items()
        for path in paths
        if path.is_file() and path.is_relative_to(root) and "__pycache__" not in path.parts
    }


def _connect(address: str) -> Any:
    try:
        import ray  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise UsageError("ray is not installed", hint="install `vendor-tool[ray]`") from None
    _answers(address)
    # without it Ray hides the GPUs of workers that asked for none, and warns that it will stop doing so
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        ray.init(address=address, log_to_driver=False, include_dashboard=False if address == "local" else None)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UsageError(f"no Ray cluster at `{address}`: {error}", hint="`ray status` shows a running one") from error
    return ray


def _answers(address: str) -> None:
    """UsageError where nothing listens at `HOST:PORT`: Ray itself would go on trying for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdecimal()):
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise UsageError(
            f"no Ray cluster at `{address}`: {error.strerror or error}", hint="`ray status` shows a running one"
        ) from error


def _places(resources: Mapping[str, float]) -> list[dict[str, Any]]:
    """Where to run each file: once on each kind of GPU, or once on any CPU."""
    kinds = sorted(name for name in resources if name.startswith(_KIND))
    if resources.get("GPU", 0) < 1:
        return [{"num_cpus": 1}]
    return [{"num_gpus": 1, "resources": {kind: 0.001}} for kind in kinds] or [{"num_gpus": 1}]


def _work(
    luggage: Mapping[str, bytes], file: str, lock: str, options: Sequence[str], timeout: float | None
) -> tuple[str, str, int, str]:
    """On a worker: unpack, run one test file in a process group of its own, of which nothing is left afterwards.

    Gives its name, its report or "", its status, its last line.
    """
    with tempfile.TemporaryDirectory(prefix="vendor-tool-parity-") as scratch:
        for path, data in luggage.items():
            target = Path(scratch, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        out = Path(scratch, "report.json")
        command = [
            sys.executable, "-m", "pytest", "-p", "vendor_tool.parity.plugin", file, "-W", "default",
            f"--parity-lock={scratch}/project/{lock}", f"--parity-pristine={scratch}/pristine",
            f"--parity-report={out}", *options,
        ]  # fmt: skip
        paths = os.pathsep.join(filter(None, (f"{scratch}/tool", os.environ.get("PYTHONPATH"))))
        status, said = _ended(command, f"{scratch}/project", {**os.environ, "PYTHONPATH": paths}, timeout)
        last = "".join(said.strip().splitlines()[-1:])
        return file, out.read_text(encoding="utf-8") if out.is_file() else "", status, last


def _ended(command: Sequence[str], folder: str, env: Mapping[str, str], timeout: float | None) -> tuple[int, str]:
    """Status and output of a command, `_LATE` for one that took longer than `timeout`, in seconds."""
    until = None if timeout is None else time.monotonic() + timeout
    with subprocess.Popen(
        command,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as running:
        try:
            while True:
                left = _SLICE if until is None else min(_SLICE, max(0.0, until - time.monotonic()))
                try:
                    said = running.communicate(timeout=left)[0]
                    return running.returncode, said
                except subprocess.TimeoutExpired:
                    if until is not None and time.monotonic() >= until:
                        break
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(running.pid, signal.SIGKILL)
        try:
            return _LATE, running.communicate(timeout=_SLICE)[0]
        except subprocess.TimeoutExpired:  # something that left the group holds its output open
            return _LATE, ""
