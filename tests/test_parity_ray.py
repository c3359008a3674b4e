"""Parity handed out over Ray: a local cluster of CPU workers."""

from pathlib import Path

import pytest

from tests.support.parity import KERNEL, project
from tests.test_parity_run import C_KERNEL
from vendor_tool.errors import UsageError
from vendor_tool.parity import machine, run

NEEDED = ("torch", "ray")
pytestmark = [
    pytest.mark.skipif(len(machine.versions(NEEDED)) < len(NEEDED), reason="needs torch and ray (no GPU)"),
    # Ray leaves sockets and files to the end of the process
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


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
