"""`vendor-tool parity` as people call it: what fails, was not run, or speaks of something else is never "passed"."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.parity import KERNEL, TESTS, Project, project
from vendor_tool.errors import ExitCode
from vendor_tool.parity import machine

SOURCES = Path(__file__).parents[2]
TORCH = pytest.mark.skipif(len(machine.versions(["torch", "pytest-xdist"])) < 2, reason="needs torch and xdist")
pytestmark = TORCH
SMI = """#!/bin/sh
echo 'NVIDIA H200, 580.1, 143771 MiB, 5, GPU-aaaa'
echo 'NVIDIA H200, 580.1, 143771 MiB, 6, GPU-bbbb'
echo 'NVIDIA H200, 580.1, 143771 MiB, 7, GPU-cccc'
"""
SETUP = """

@pytest.fixture(scope="session")
def broken():
    raise RuntimeError("boom")

def test_more(broken, vendored):
    pass
"""
TEARDOWN = """

@pytest.fixture
def broken():
    yield
    raise RuntimeError("illegal memory access")

def test_more(vendored, broken):
    pass
"""
CRASH = """

def test_more(vendored):
    import os
    os.abort()
"""
MISSING = """

@pytest.mark.kernel("demo", "missing.py")
def test_more(vendored):
    pass
"""
HANGING = """

def test_more(vendored):
    import os, pathlib, time
    pathlib.Path("pid").write_text(str(os.getpid()))
    time.sleep(600)
"""


def vendor(made: Project, *arguments: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """The command in the project, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), "VENDOR_TOOL_CACHE": str(made.cache), **env}
    command = [sys.executable, "-m", "vendor_tool", "parity", *arguments]
    return subprocess.run(command, cwd=made.root, env=environment, capture_output=True, text=True, check=False)


def on_gpu(made: Project, *arguments: str) -> Path:
    """The measurements of a run on a CPU, as a GPU would have written them."""
    path = made.root.parent / "measured.json"
    vendor(made, "--gpus", "0", "--json", str(path), *arguments)
    path.write_text(path.read_text().replace('"gpu": "none"', '"gpu": "NVIDIA H200"'))
    return path


def evidence(made: Project) -> Any:
    """The records in the lock."""
    resolved = made.lock.upstreams["demo"].resolved
    assert resolved is not None
    return resolved.extra.get("evidence")


@pytest.mark.parametrize(
    ("more", "gpus", "words"),
    [(CRASH, "2", "crashed while running"), (TEARDOWN, "0", "illegal memory access"), (SETUP, "0", "boom"),
     (MISSING, "0", "no file `missing.py`")],
    ids=["a worker that crashes", "a teardown", "a setup", "a kernel that the lock lacks"],
)  # fmt: skip
def test_what_fails_outside_of_a_test_fails_and_gives_no_evidence(
    tmp_path: Path, more: str, gpus: str, words: str
) -> None:
    made = project(tmp_path, tests=TESTS + more)

    done = vendor(made, "--gpus", gpus)

    assert done.returncode == ExitCode.PARITY_FAILED, done.stdout + done.stderr
    assert words in done.stderr
    if gpus == "0":
        vendor(made, "--from", str(on_gpu(made)), "--update-evidence")
        assert evidence(made) is None


@pytest.mark.parametrize("gpus", ["0", "2"])
def test_a_file_that_cannot_be_collected_is_no_run(tmp_path: Path, gpus: str) -> None:
    made = project(tmp_path)
    made.write({"tests/parity/test_other.py": "def x(:\n"})

    done = vendor(made, "--gpus", gpus)

    assert done.returncode == ExitCode.USAGE, done.stderr
    assert "pytest could not collect `tests/parity/test_other.py`" in done.stderr


def test_a_failure_takes_the_evidence_of_its_gpu_out_of_the_lock(tmp_path: Path) -> None:
    made = project(tmp_path)
    right = on_gpu(made)
    assert "evidence recorded: demo on NVIDIA H200" in vendor(made, "--from", str(right), "--update-evidence").stderr
    assert [record["gpu"] for record in evidence(made)] == ["NVIDIA H200"]
    made.write({"tests/parity/test_double.py": TESTS + SETUP})

    done = vendor(made, "--from", str(on_gpu(made)), "--update-evidence")

    assert done.returncode == ExitCode.PARITY_FAILED
    assert "evidence removed: demo on NVIDIA H200" in done.stderr
    assert evidence(made) is None


def test_a_report_of_other_bytes_another_upstream_or_beside_a_run_is_a_usage_error(tmp_path: Path) -> None:
    made = project(tmp_path)
    path = str(on_gpu(made))
    assert vendor(made, "--from", path).returncode == ExitCode.CLEAN

    assert vendor(made, "nosuch", "--from", path).returncode == ExitCode.USAGE
    assert vendor(made, "--from", path, "--ray", "local").returncode == ExitCode.USAGE
    made.write({"vendored/demo/double.py": KERNEL + "#\n"})
    stale = vendor(made, "--from", path)
    assert (stale.returncode, "the report is stale for `demo`" in stale.stderr) == (ExitCode.USAGE, True)


MALFORMED: dict[str, Any] = {
    "no files": lambda report: report.pop("files"),
    "no gpu": lambda report: report["tests"][0]["machine"].pop("gpu"),
    "an outcome of its own": lambda report: report["tests"][0].update(outcome="PASSED!"),
    "a date to come": lambda report: report.update(date="2131-01-01"),
    "a line break in a name": lambda report: report["tests"][0]["machine"].update(gpu="H200\nx"),
    "more about the entry": lambda report: report["entries"]["demo"].update(date="2020-01-01"),
}


@pytest.mark.parametrize("change", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_report_is_a_usage_error(tmp_path: Path, change: Any) -> None:
    made = project(tmp_path)
    path = on_gpu(made)
    report = json.loads(path.read_text())
    change(report)
    path.write_text(json.dumps(report))

    done = vendor(made, "--from", str(path))

    assert (done.returncode, "is no parity report" in done.stderr) == (ExitCode.USAGE, True), done.stderr


def test_a_run_on_a_cpu_is_not_what_was_required(tmp_path: Path) -> None:
    done = vendor(project(tmp_path), "--gpus", "0", "--require")

    assert done.returncode == ExitCode.PARITY_NOT_RUN, done.stderr
    assert "no test ran on a GPU" in done.stderr


@pytest.mark.parametrize("how", ["deselected", "not reached"])
def test_tests_that_were_left_out_are_counted_and_keep_evidence_away(tmp_path: Path, how: str) -> None:
    leave = "\ndef test_exit():\n    pytest.exit('enough', returncode=0)\n"
    made = project(
        tmp_path, tests=TESTS.replace("\ndef test_is", f"{leave}\ndef test_is") if how != "deselected" else TESTS
    )
    if how == "deselected":
        made.write({"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k definition'\n"})
    path = on_gpu(made)

    done = vendor(made, "--from", str(path), "--update-evidence")

    assert f"1 passed, 0 failed, {1 if how == 'deselected' else 2} not run" in done.stderr
    assert "no evidence recorded: demo on NVIDIA H200: " in done.stderr
    assert evidence(made) is None
    assert vendor(made, "--from", str(path), "--require").returncode == ExitCode.PARITY_NOT_RUN


def test_why_no_evidence_is_recorded_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    cpu = vendor(project(tmp_path / "a"), "--gpus", "0", "--update-evidence")
    assert "no evidence recorded: demo on a CPU: it is no GPU" in cpu.stderr

    nothing = TESTS.partition("def test")[0] + "def test_nothing(vendored):\n    pass\n"
    made = project(tmp_path / "b", tests=nothing)
    done = vendor(made, "--from", str(on_gpu(made)), "--update-evidence")
    assert "no test that passed holds an output of `plugins/ops/double.py` to a reference" in done.stderr
    assert evidence(made) is None


def test_an_upstream_that_lacks_something_here_does_not_keep_the_others_from_running(tmp_path: Path) -> None:
    made = project(tmp_path)
    lock = (made.root / "vendor.lock.yaml").read_text()
    more = "  other:\n    url: https://example.org/x.git\n    revision: " + "a" * 40 + "\n    to: vendored/other\n"
    made.write({"vendor.lock.yaml": lock.replace("upstreams:\n", f"upstreams:\n{more}    files: [a.py]\n", 1)})

    done = vendor(made, "--gpus", "0")

    assert done.returncode == ExitCode.CLEAN, done.stderr
    assert "2 passed, 0 failed, 0 not run; other was not run: upstream `other` was never synced" in done.stderr
    assert vendor(made, "--gpus", "0", "--require").returncode == ExitCode.PARITY_NOT_RUN


def test_workers_see_the_gpus_that_this_process_may_see(tmp_path: Path) -> None:
    seen = "\n\n@pytest.mark.parametrize('turn', range(4))\ndef test_sees(vendored, turn):\n    import os\n"
    seen += "    assert os.environ['CUDA_VISIBLE_DEVICES'] in ('5', '6')\n"
    made = project(tmp_path, tests=TESTS + seen)
    made.write({"bin/nvidia-smi": SMI})
    (made.root / "bin/nvidia-smi").chmod(0o755)
    path = f"{made.root / 'bin'}:{os.environ['PATH']}"

    done = vendor(made, PATH=path, CUDA_VISIBLE_DEVICES="5,6,9")

    assert (done.returncode, "6 passed" in done.stderr) == (ExitCode.CLEAN, True), done.stdout + done.stderr
    assert vendor(made, "--gpus", "3", PATH=path, CUDA_VISIBLE_DEVICES="5,6").returncode == ExitCode.USAGE
    assert vendor(made, "--gpus", "-1").returncode == ExitCode.USAGE


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_outlives_a_run_that_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    made = project(tmp_path, tests=TESTS + HANGING)
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), "VENDOR_TOOL_CACHE": str(made.cache)}
    command = [sys.executable, "-m", "vendor_tool", "parity", "--gpus", "0"]
    with subprocess.Popen(command, cwd=made.root, env=environment, stderr=subprocess.PIPE, text=True) as tool:
        assert tool.stderr is not None
        for line in tool.stderr:
            if "test_is_upstreams_kernel" in line:
                break
        while not ((made.root / "pid").is_file() and (made.root / "pid").read_text()):
            os.sched_yield()
        tool.send_signal(number)
        assert tool.wait() == ExitCode.INTERRUPTED
    with pytest.raises(ProcessLookupError):
        os.kill(int((made.root / "pid").read_text()), 0)


def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    done = vendor(project(tmp_path, tests=TESTS + HANGING), "--gpus", "0", "--timeout", "15")

    assert (done.returncode, "did not end within 15 s" in done.stderr) == (ExitCode.PARITY_FAILED, True), done.stderr
