"""`check --codegen` on the demo's kernels: a patch that changes the code is named, everything else is proven equal."""

import importlib.util
from pathlib import Path

import pytest

from tests.support.project import Project, project
from vendor_tool.errors import ExitCode

KERNELS = """\
    codegen:
      archs: [sm_90]
      kernels:
        - {file: axpy.py, kernel: axpy_kernel, args: {length: 1024}}
        - {file: row_sum.py, kernel: row_sum_kernel, args: {rows: 256, columns: 128}}
"""


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project(tmp_path / "here").done("demo", str(tmp_path / "demo"))
    monkeypatch.setenv("VENDOR_TOOL_CACHE", str(tmp_path / "demo/cache"))
    made = Project(tmp_path / "demo/project")
    made.write({"vendor.lock.yaml": made.lock.replace("    requires:", f"{KERNELS}    requires:", 1)})
    return made


def test_an_entry_without_kernels_to_trace_is_a_usage_error(demo: Project) -> None:
    demo.write({"vendor.lock.yaml": demo.lock.replace(KERNELS, "")})
    assert "no entry has `codegen:`" in demo.refused(ExitCode.USAGE, "check", "--codegen")


@pytest.mark.skipif(importlib.util.find_spec("tilelang") is not None, reason="the kernel runtime is installed here")
def test_without_the_runtime_nothing_is_claimed(demo: Project) -> None:
    assert "kernels cannot be traced" in demo.refused(ExitCode.PARITY_NOT_RUN, "check", "--codegen")


@pytest.mark.skipif(importlib.util.find_spec("tilelang") is None, reason="tilelang is not installed")
def test_the_patched_kernel_differs_and_the_rewritten_one_does_not(demo: Project) -> None:
    result = demo.run("check", "--codegen")
    assert result.code == ExitCode.FINDINGS, result.err
    assert "`axpy_kernel(length=1024)` compiles to other code than upstream's" in result.out
    assert "row_sum_kernel" not in result.out
    assert "`row_sum_kernel(rows=256, columns=128)` is upstream's: TIR, sm_90" in result.err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("archs:", "arch:", "`upstreams.tiny.codegen`: unknown key `arch`"),
        ("[sm_90]", "sm_90", "`upstreams.tiny.codegen.archs`: must be a list"),
        ("sm_90", "sm_9999", "`upstreams.tiny.codegen.archs[0]`: `sm_9999` is no architecture"),
        ("{length: 1024}", "[1024]", "`upstreams.tiny.codegen.kernels[0].args`: must be a mapping"),
        (
            "{length: 1024}",
            "{length: {size: 4}}",
            "`upstreams.tiny.codegen.kernels[0].args.length`: unknown key `size`",
        ),
        ("{length: 1024}", "{length: {tensor: [a]}}", "args.length.tensor[0]`: must be a size"),
        ("kernel: axpy_kernel, ", "", "`upstreams.tiny.codegen.kernels[0]`: no `kernel:`"),
        ("axpy_kernel", "axpy-kernel", "`axpy-kernel` is not a name"),
        ("file: axpy.py", "file: ../axpy.py", "`upstreams.tiny.codegen.kernels[0].file`: path `../axpy.py`"),
    ],
)
def test_what_is_misread_would_prove_nothing(demo: Project, old: str, new: str, said: str) -> None:
    demo.write({"vendor.lock.yaml": demo.lock.replace(KERNELS, KERNELS.replace(old, new, 1), 1)})
    refused = demo.refused(ExitCode.USAGE, "check", "--codegen")
    assert "vendor.lock.yaml:" in refused
    assert said in refused
