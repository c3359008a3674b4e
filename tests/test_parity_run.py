"""`parity` from the lock to the outcome, with kernels that run on the CPU: real pytest in child processes."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.parity import KERNEL, TESTS, VENDORED_FILE, importing_project, project
from vendor_tool.errors import ParityError, ParityNotRun
from vendor_tool.parity import machine, run

needs_torch = pytest.mark.skipif(not machine.versions(["torch"]), reason="needs torch (any build, no GPU)")

GPU_TESTS = TESTS.replace("pytestmark = ", "pytestmark = [pytest.mark.gpu, ").replace('double")', 'double")]', 1)
C_KERNEL = '''"""Doubles a tensor with a kernel for the C target."""

import tilelang
import tilelang.language as T
import torch


@tilelang.jit(target="c")
def doubled(n):
    @T.prim_func
    def kernel(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(1, is_cpu=True) as _:
            for i in T.serial(n):
                B[i] = A[i] * 2.0

    return kernel


def double(x):
    out = torch.empty_like(x)
    doubled(x.numel())(x, out)
    return out
'''


@pytest.mark.skipif(bool(machine.gpus()), reason="this machine has a GPU")
@pytest.mark.parametrize("torch_is_there", [True, False], ids=["torch", "no torch"])
def test_without_gpu_or_runtime_it_is_not_run_and_says_why(tmp_path: Path, torch_is_there: bool) -> None:
    if torch_is_there != bool(machine.versions(["torch"])):
        pytest.skip("the other case")
    made = project(tmp_path, tests=GPU_TESTS)

    done = run.run(made.lock, access=made.access)

    assert done.status == "not run"
    assert done.reason == ("no GPU: `nvidia-smi` finds none" if torch_is_there else "torch not installed")
    assert done.evidence is None
    with pytest.raises(ParityNotRun, match="parity is required and was not run"):
        run.run(made.lock, access=made.access, require=True)


def test_without_tests_it_is_not_run_and_says_where_they_belong(tmp_path: Path) -> None:
    made = project(tmp_path)
    shutil.rmtree(made.root / "tests")

    done = run.run(made.lock, access=made.access)

    assert (done.status, done.reason) == (
        "not run",
        "no folder `tests/parity`: docs/how-to/parity.md tells how to fill it",
    )


@needs_torch
def test_tests_that_all_skip_are_not_run_and_never_passed(tmp_path: Path) -> None:
    import torch

    made = project(tmp_path, tests=GPU_TESTS.replace("pytestmark", "import torch\npytestmark"))
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")

    done = run.run(made.lock, access=made.access, gpus=0)

    assert (done.status, done.reason) == ("not run", "`tests/parity` holds no test of these upstreams that could run")


@needs_torch
def test_a_kernel_that_computes_the_definition_passes(tmp_path: Path) -> None:
    made = project(tmp_path)

    done = run.run(made.lock, access=made.access, gpus=0, junit=tmp_path / "j.xml", json=tmp_path / "r.json")

    assert (done.status, done.reason, done.findings) == ("passed", "2 passed, 0 failed, 0 not run", ())
    assert done.evidence == {}  # a CPU is no evidence
    assert "| demo: `plugins/ops/double.py` | CPU | 2 passed | y 0.0e+00 | y |" in done.table
    assert len(ElementTree.parse(tmp_path / "j.xml").findall(".//testcase")) == 2
    assert {test["outcome"] for test in json.loads((tmp_path / "r.json").read_text())["tests"]} == {"passed"}
    assert any("seed" in line for line in made.said)


@needs_torch
def test_the_report_names_the_versions_that_the_entry_asks_for(tmp_path: Path) -> None:
    made = project(tmp_path, extra="    requires: {pluggy: '>=1'}\n")

    report = run.run(made.lock, access=made.access, gpus=0).report

    assert report is not None
    assert all(test.machine and test.machine["versions"]["pluggy"] for test in report.tests)


@needs_torch
@pytest.mark.parametrize(
    ("vendored", "rule", "words"),
    [
        (KERNEL.replace("x * 2", "x * 2.1"), "kernel-wrong", "y: relative error 5.00e-02"),
        (KERNEL.replace("x * 2", "x / 0"), "kernel-wrong", "y: 64 of 64 elements are not finite"),
        (KERNEL.replace("out.copy_(x * 2)", "out[1:] = x[1:] * 2"), "kernel-wrong", "y: 1 of 64 elements are not finite"),
        (KERNEL.replace("x * 2)", "x * 2 * (1 + 1e-6))"), "kernel-differs", "elements differ from upstream's"),
    ],
    ids=["wrong", "not finite", "one element unwritten", "right but not upstream's bits"],
)  # fmt: skip
def test_a_kernel_that_fails_a_claim_is_found(tmp_path: Path, vendored: str, rule: str, words: str) -> None:
    made = project(tmp_path, vendored=vendored)

    done = run.run(made.lock, access=made.access, gpus=0)

    assert done.status == "failed"
    found = {finding.rule: finding for finding in done.findings}[rule]
    assert words in found.message
    assert found.path == VENDORED_FILE


DRAWING_TESTS = (
    TESTS
    + """

def test_draws(tolerance):
    import torch

    tolerance.close("drawn", torch.rand(1), torch.zeros(1), limit=2)
"""
)


@needs_torch
def test_inputs_differ_from_run_to_run(tmp_path: Path) -> None:
    made = project(tmp_path, tests=DRAWING_TESTS)

    def drawn() -> float:
        report = run.run(made.lock, access=made.access, gpus=0).report
        assert report is not None
        return next(float(note["value"]) for test in report.tests for note in test.notes if note["name"] == "drawn")

    assert drawn() != drawn()


@needs_torch
def test_a_child_that_dies_is_an_error_and_not_a_pass(tmp_path: Path) -> None:
    made = project(tmp_path, kernel=KERNEL + "\nimport os\nos.abort()\n")

    with pytest.raises(ParityError, match="pytest was ended by signal 6"):
        run.run(made.lock, access=made.access, gpus=0)


@needs_torch
def test_only_the_named_upstreams_are_tested(tmp_path: Path) -> None:
    tests = TESTS + '\n\n@pytest.mark.kernel("other", "x.py")\ndef test_other():\n    raise AssertionError\n'
    made = project(tmp_path, tests=tests)

    assert run.run(made.lock, ["demo"], access=made.access, gpus=0).status == "passed"


@needs_torch
def test_workers_measure_what_one_process_would(tmp_path: Path) -> None:
    pytest.importorskip("xdist", reason="needs pytest-xdist")
    made = project(tmp_path)

    done = run.run(made.lock, access=made.access, gpus=0, workers=2)

    assert (done.status, done.reason) == ("passed", "2 passed, 0 failed, 0 not run")


@needs_torch
def test_the_example_of_the_guide_runs_as_it_stands_but_for_the_gpu(tmp_path: Path) -> None:
    guide = Path(__file__).parents[1] / "docs" / "how-to" / "parity.md"
    example = guide.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
    assert len([line for line in example.splitlines() if line.strip()]) < 30
    small = example.replace("pytest.mark.gpu, ", "").replace("8192, 4096", "64, 64")
    made = project(tmp_path, tests=small)

    done = run.run(made.lock, access=made.access, gpus=0)

    assert (done.status, done.reason) == ("passed", "3 passed, 0 failed, 0 not run"), made.said


@pytest.mark.skipif(len(machine.versions(["torch", "tilelang"])) < 2, reason="needs torch and tilelang (no GPU)")
def test_a_kernel_for_the_c_target_runs_without_a_gpu(tmp_path: Path) -> None:
    made = project(tmp_path, kernel=C_KERNEL, extra="    requires: {tilelang: '>=0.1.9'}\n")

    done = run.run(made.lock, access=made.access, gpus=0)

    assert (done.status, done.reason) == ("passed", "2 passed, 0 failed, 0 not run"), made.said


IMPORT_TESTS = (
    TESTS.replace('"double.py"', '"twice.ops.double"')
    + """

def test_both_are_there_and_imports_give_the_installed_one(vendored, upstream):
    import sys
    from twice.ops import double

    assert vendored is not upstream
    assert sys.modules["twice.ops.double"] is vendored
    assert vendored.double is double
"""
)


@needs_torch
def test_a_run_time_import_is_compared_with_the_pinned_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = importing_project(tmp_path, tests=IMPORT_TESTS, installed={})
    monkeypatch.setenv("PYTHONPATH", str(made.root / "site"))

    done = run.run(made.lock, access=made.access, gpus=0)

    assert (done.status, done.reason) == ("passed", "3 passed, 0 failed, 0 not run"), made.said
    assert "| demo: `twice.ops.double` | CPU | 3 passed | y 0.0e+00 | y |" in done.table


@needs_torch
def test_a_release_that_differs_from_the_pinned_source_in_another_file_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = importing_project(tmp_path, tests=IMPORT_TESTS, installed={"twice/factor.py": "FACTOR = 2.000001\n"})
    monkeypatch.setenv("PYTHONPATH", str(made.root / "site"))

    done = run.run(made.lock, access=made.access, gpus=0)

    assert [finding.rule for finding in done.findings] == ["kernel-differs"], made.said


@needs_torch
def test_a_release_whose_very_file_is_another_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = importing_project(
        tmp_path, tests=IMPORT_TESTS, installed={"twice/ops/double.py": "def double(x):\n    return x + x\n"}
    )
    monkeypatch.setenv("PYTHONPATH", str(made.root / "site"))

    done = run.run(made.lock, access=made.access, gpus=0)

    assert "the installed `twice.ops.double` is not the file that the lock pins" in done.findings[0].message
