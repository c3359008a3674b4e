"""Parity handed out over Ray: a local cluster of CPU workers."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.parity import KERNEL, Project, project
from tests.test_parity_run import C_KERNEL
from vendor_tool.errors import ExitCode, ParityError, UsageError
from vendor_tool.parity import machine, run

NEEDED = ("torch", "ray")
pytestmark = [
    pytest.mark.skipif(len(machine.versions(NEEDED)) < len(NEEDED), reason="needs torch and ray (no GPU)"),
    # Ray leaves sockets and files to the end of the process
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """What Ray leaves is taken away where its warnings are expected, not when pytest ends."""
    yield
    gc.collect()


def test_a_kernel_is_measured_on_a_worker(tmp_path: Path) -> None:
    made = project(tmp_path, kernel=C_KERNEL if machine.versions(["tilelang"]) else KERNEL)

    done = run.run(made.lock, access=made.access, ray="local")

    assert (done.status, done.reason) == ("passed", "2 passed, 0 failed, 0 not run")
    assert done.report is not None
    assert done.report.files["demo"].keys() == {"vendored/demo/double.py"}


def test_a_wrong_kernel_is_found_by_a_worker(tmp_path: Path) -> None:
    made = project(tmp_path, vendored=KERNEL.replace("x * 2", "x * 3"))

    done = run.run(made.lock, access=made.access, ray="local")

    assert [finding.rule for finding in done.findings] == ["kernel-wrong", "kernel-differs"]


def test_an_address_without_a_cluster_is_a_usage_error(tmp_path: Path) -> None:
    made = project(tmp_path)

    with pytest.raises(UsageError, match="no Ray cluster at `127.0.0.1:1`"):
        run.run(made.lock, access=made.access, ray="127.0.0.1:1")


def hanging(folder: Path) -> tuple[Project, Path]:
    """A project whose tests hang, with a process beside them; and the file that their ids are written to."""
    ids = folder / "ids"
    tests = (
        "import os, pathlib, subprocess, sys, time\n"
        "beside = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"ids = pathlib.Path({str(ids)!r})\n"
        "ids.with_suffix('.new').write_text(f'{os.getpid()} {beside.pid}')\n"
        "ids.with_suffix('.new').replace(ids)\n"
        "time.sleep(600)\n"
    )
    return project(folder, tests=tests), ids


def living(ids: Path) -> list[int]:
    """Which of the processes still run; one that nobody has asked for its status does not."""
    found = [int(one) for one in ids.read_text().split()]
    assert len(found) == 2
    states = {one: Path(f"/proc/{one}/stat") for one in found}
    return [
        one for one, path in states.items() if path.exists() and path.read_text().rpartition(")")[2].split()[0] != "Z"
    ]


def test_a_file_that_takes_too_long_on_a_worker_ends_the_run_and_nothing_of_it_goes_on(tmp_path: Path) -> None:
    made, ids = hanging(tmp_path)

    with pytest.raises(ParityError, match="`tests/parity/test_double.py` on a Ray worker did not end within 30 s"):
        run.run(made.lock, access=made.access, ray="local", timeout=30)

    assert living(ids) == []


def test_nothing_goes_on_after_a_run_that_is_ended(tmp_path: Path) -> None:
    made, ids = hanging(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "VENDOR_TOOL_CACHE": str(made.cache)}
    command = [sys.executable, "-m", "vendor_tool", "parity", "--ray", "local"]
    with subprocess.Popen(command, cwd=made.root, env=environment, stderr=subprocess.PIPE, text=True) as tool:
        while not ids.exists() and tool.poll() is None:
            os.sched_yield()
        tool.send_signal(signal.SIGTERM)
        _, said = tool.communicate()
    assert (tool.returncode, "error: interrupted" in said) == (ExitCode.INTERRUPTED, True), said
    assert living(ids) == []
