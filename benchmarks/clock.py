"""Two commands against each other in one run: interleaved, whole processes, medians."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Command:
    """What is run and timed; `codes` are the exit codes that mean that it did its work."""

    argv: Sequence[str | Path]
    folder: Path
    environment: Mapping[str, str]
    codes: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True)
class Run:
    """One finished command: wall seconds, and seconds of processor time with its children."""

    seconds: float
    work: float
    out: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Medians of two commands; `ratio` is the median of the rounds' ratios: a slow moment hits both sides.

    `work` is the same ratio of processor time, which other work on the machine hardly moves; a server's is not in it.
    """

    ours: float
    theirs: float
    ratio: float
    work: float


def run(command: Command) -> Run:
    """Run a command to its end. Raises SystemExit with its words where it fails: a figure of a failure is none."""
    with tempfile.TemporaryFile() as words:
        begin = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command.argv],
            cwd=command.folder,
            env=dict(command.environment),
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        words.seek(0)
        out = words.read().decode("utf-8", "replace")
    if process.returncode not in command.codes:
        raise SystemExit(f"{' '.join(map(str, command.argv))}: exit {process.returncode}\n{out[-2000:]}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, out)


# a child's peak is never less than what its parent held when it started, so a small parent starts it
_LAUNCH = """\
import os, sys
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(process, 0)
print("PEAK", usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak(command: Command) -> float:
    """MiB that a command or the largest of its children holds at most."""
    launched = Command([sys.executable, "-I", "-S", "-c", _LAUNCH, *command.argv], command.folder, command.environment)
    return int(run(launched).out.rpartition("PEAK")[2]) / 1024


def against(ours: Callable[[], Command], theirs: Callable[[], Command], rounds: int) -> Pair:
    """Time two commands in turn. Each callable prepares what its command needs, untimed, before every round.

    A first round of both warms the file cache and is thrown away.
    """
    mine: list[Run] = []
    yardstick: list[Run] = []
    for number in range(rounds + 1):
        turns = [(ours, mine), (theirs, yardstick)]
        for prepare, runs in reversed(turns) if number % 2 else turns:
            done = run(prepare())
            if number:
                runs.append(done)
    return Pair(
        statistics.median(one.seconds for one in mine),
        statistics.median(one.seconds for one in yardstick),
        statistics.median(a.seconds / b.seconds for a, b in zip(mine, yardstick, strict=True)),
        statistics.median(a.work / b.work for a, b in zip(mine, yardstick, strict=True)),
    )
