"""One pytest in a process group of its own: what it says is handed on, and nothing of it outlives this process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from vendor_tool import interrupts
from vendor_tool.errors import ParityError, UsageError
from vendor_tool.parity import report
from vendor_tool.parity.report import Report

PLUGIN = "vendor_tool.parity.plugin"
_NOTHING_COLLECTED = 5  # pytest's own status
_PYTEST_BROKE = {2: "was interrupted", 3: "broke down", 4: "did not understand its options"}
_GRACE = 5.0  # seconds to end by itself


def command(folder: str, options: Sequence[str]) -> list[str]:
    """The command line of pytest with the plugin, on a folder or a file."""
    return [sys.executable, "-m", "pytest", "-p", PLUGIN, folder, "-W", "default", *options]


def stream(
    argv: Sequence[str], root: Path, progress: Callable[[str], None], timeout: float | None = None
) -> tuple[int, str]:
    """Run a command in `root`, handing each line on; its status and last line.

    An interrupt or SIGTERM of this process ends the command and all that it started. `timeout` is in seconds;
    ParityError when it passes.
    """
    ours = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(filter(None, (ours, os.environ.get("PYTHONPATH"))))
    last, late = "", threading.Event()
    with (
        interrupts.terminable(),
        subprocess.Popen(
            argv,
            cwd=root,
            env={**os.environ, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as child,
        _limited(child, timeout, late),
    ):
        try:
            for line in child.stdout or ():
                if line.strip():
                    last = line.strip()
                    progress(last)
            child.wait()
        finally:
            if child.poll() is None:
                _end(child)
    if late.is_set():
        raise too_long("pytest", timeout or 0, last)
    return child.returncode, last


def too_long(what: str, timeout: float, last: str) -> ParityError:
    """That a run was ended after `timeout` seconds, and what it had said last."""
    return ParityError(f"{what} did not end within {timeout:g} s: {last}", hint="raise `--timeout`, or mend the test")


def judged(path: Path, status: int, last: str) -> Report:
    """The report of a pytest that ended with this status.

    Raises UsageError where pytest could not run the tests at all, ParityError where it died, or where its status and
    its report say different things.
    """
    hint = "see its output above"
    found = report.read(path) if path.is_file() else None
    if found and found.broken:
        raise UsageError(f"pytest could not collect {', '.join(f'`{name}`' for name in found.broken)}", hint=hint)
    if status in _PYTEST_BROKE:
        raise UsageError(f"pytest {_PYTEST_BROKE[status]}: {last}", hint=hint)
    if found is None or status not in (0, 1, _NOTHING_COLLECTED):
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        raise ParityError(f"pytest {how} before its tests were done: {last}", hint=hint)
    if (status == 1) and not any(test.outcome in ("failed", "xpassed") for test in found.tests):
        raise ParityError(f"pytest ended with status 1, and no test failed: {last}", hint=hint)
    return found


@contextlib.contextmanager
def _limited(child: subprocess.Popen[str], timeout: float | None, late: threading.Event) -> Iterator[None]:
    if timeout is None:
        yield
        return

    def stop() -> None:
        late.set()
        _signal(child, signal.SIGKILL)

    clock = threading.Timer(timeout, stop)
    clock.start()
    try:
        yield
    finally:
        clock.cancel()


def _end(child: subprocess.Popen[str]) -> None:
    _signal(child, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(_GRACE)
    _signal(child, signal.SIGKILL)  # what the child itself had started


def _signal(child: subprocess.Popen[str], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
