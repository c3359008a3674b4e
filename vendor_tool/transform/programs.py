"""Processes that run other people's code: each in a session of its own, of which nothing is left in the end."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

Program = subprocess.Popen[bytes]


def start(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Program:
    """Starts a command in the folder, without input or output."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )


def wait(programs: Sequence[Program], seconds: float) -> bool:
    """Waits for all of them, stops those that take longer, and says whether any did."""
    late = threading.Event()

    def end() -> None:
        late.set()
        stop(programs)

    # to wait with a time limit is to look now and then, up to 50 ms after the end
    watch = threading.Timer(seconds, end)
    watch.start()
    try:
        for program in programs:
            program.wait()
    finally:
        watch.cancel()
        stop(programs)
    return late.is_set()


def stop(programs: Sequence[Program]) -> None:
    """Stops the programs and whatever they have started."""
    for program in programs:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()
