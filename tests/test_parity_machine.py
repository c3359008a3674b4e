"""What parity reads of a machine, and that it reads it without loading the runtime."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.parity import project
from vendor_tool.parity import machine

SOURCES = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("tilelang", "ffi"),
    [("0.1.11", "0.1.12"), ("0.1.10", "0.1.15.post2"), ("0.1.12", "0.1.12"), ("0.1.12", "0.1.10"), ("0.1.9", "0.1.12"),
     ("0.1.15", "0.1.13.post3"), ("0.1.13", "0.1.9")],
)  # fmt: skip
def test_versions_that_cannot_be_loaded_together_are_refused_by_name(tilelang: str, ffi: str) -> None:
    reason = machine.refusal({"tilelang": tilelang, "apache-tvm-ffi": ffi})

    assert reason is not None
    assert f"tilelang {tilelang}" in reason
    assert f"apache-tvm-ffi {ffi}" in reason


@pytest.mark.parametrize(
    ("tilelang", "ffi"),
    [("0.1.9", "0.1.8.post2"), ("0.1.10", "0.1.11"), ("0.1.11", "0.1.11"), ("0.1.12", "0.1.11"), ("0.1.15", "0.1.12")],
)
def test_versions_that_go_together_are_not_refused(tilelang: str, ffi: str) -> None:
    assert machine.refusal({"tilelang": tilelang, "apache-tvm-ffi": ffi}) is None


def test_one_package_alone_is_not_refused() -> None:
    assert machine.refusal({"tilelang": "0.1.11"}) is None


def test_unmet_requirements_name_what_is_there_and_what_is_asked_for() -> None:
    assert machine.unmet({"a": "==1", "b": ">=2", "c": ""}, {"a": "1.1", "c": "5"}) == [
        "a 1.1 is installed, the lock asks for a==1",
        "b is not installed, the lock asks for b>=2",
    ]


def test_a_pair_that_ends_the_process_is_named_and_never_imported(tmp_path: Path) -> None:
    made = project(tmp_path, extra="    requires: {tilelang: '>=0.1.11', apache-tvm-ffi: '==0.1.11'}\n")
    made.write(
        {
            "site/tilelang/__init__.py": "import os\nos.abort()\n",
            "site/tilelang-0.1.11.dist-info/METADATA": "Metadata-Version: 2.1\nName: tilelang\nVersion: 0.1.11\n",
            "site/apache_tvm_ffi-0.1.12.dist-info/METADATA": (
                "Metadata-Version: 2.1\nName: apache-tvm-ffi\nVersion: 0.1.12\n"
            ),
            "ask.py": "import sys\nfrom pathlib import Path\n"
            "from vendor_tool import lockfile\nfrom vendor_tool.model import Access\n"
            "from vendor_tool.parity import run\n"
            "print(run.run(lockfile.load(Path('vendor.lock.yaml')), access=Access(Path('cache'))))\n"
            "assert not {'tilelang', 'torch', 'pytest'} & set(sys.modules)\n",
        }
    )
    paths = os.pathsep.join([str(made.root / "site"), str(SOURCES)])

    done = subprocess.run(
        [sys.executable, "ask.py"],
        cwd=made.root,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "status='not run'" in done.stdout
    assert "tilelang 0.1.11 with apache-tvm-ffi 0.1.12" in done.stdout
