import importlib.util

import pytest

from tests.shim.kernels import ADD, GPU
from vendor_tool import codegen
from vendor_tool.codegen import Case, Result, Spec
from vendor_tool.errors import ParityNotRun, UsageError
from vendor_tool.findings import Finding
from vendor_tool.model import At, BuiltFile, Context, Shim, ShimSpec, Source
from vendor_tool.transform import shim

SPEC = ShimSpec("tilelang", "vendored/_tilelang.py", At(1, 1), names={"T": "tilelang.language"})
STAND_INS = {SPEC.to: shim.render(SPEC)}


def built(name: str, text: str, patched: tuple[str, str] = ("", "")) -> BuiltFile:
    """A file as `sync` makes it, with one replacement for a patch."""
    source = Source(f"ops/{name}.py", f"vendored/{name}.py", "", text.encode())
    plain = shim.apply(source, Shim(("tilelang",)), Context("up", {}, frozenset(), {"tilelang": SPEC})).data
    final = plain.replace(patched[0].encode(), patched[1].encode()) if patched[0] else plain
    return BuiltFile(source.path, source.to, "0" * 40, False, text.encode(), plain, final)


def test_the_spec_is_read_from_the_lock() -> None:
    read = codegen.read({"archs": ["sm_80"], "kernels": [{"file": "k.py", "kernel": "rows", "args": {"m": 4}}]}, "ops")
    assert read == Spec((Case("ops/k.py", "rows", {"m": 4}),), ("sm_80",))
    assert read.cases[0].label == "rows(m=4)"


def test_the_architecture_has_a_default_and_arguments_are_optional() -> None:
    assert codegen.read({"kernels": [{"file": "k.py", "kernel": "rows"}]}, "") == Spec((Case("k.py", "rows", {}),))


def test_workspaces_are_numbered_as_they_appear() -> None:
    one = "float* workspace_3; f(workspace, workspace_3, workspaces_2)"
    two = "float* workspace; f(workspace_7, workspace, workspaces_2)"
    assert codegen.normalised(one) == codegen.normalised(two)
    assert codegen.normalised(one) == "float* workspace_0; f(workspace_1, workspace_0, workspaces_2)"


def test_workspaces_that_change_places_are_other_code() -> None:
    one = "float* workspace, float* workspace_1; workspace[0] = 1; workspace_1[0] = 2"
    two = "float* workspace, float* workspace_1; workspace_1[0] = 1; workspace[0] = 2"
    assert codegen.normalised(one) != codegen.normalised(two)


def test_a_case_must_name_a_vendored_file() -> None:
    with pytest.raises(UsageError, match="`codegen:` names `ops/gone.py`, which is not vendored"):
        codegen.compare([built("k", GPU)], STAND_INS, Spec((Case("ops/gone.py", "rows", {}),)))


def test_results_become_findings() -> None:
    case = Case("ops/k.py", "rows", {"m": 4})
    results = (
        Result(case, "vendored/k.py", "equal", {"sm_90": "equal"}),
        Result(case, "vendored/k.py", "different", {"sm_90": "different"}, "2 lines differ, first `x`"),
        Result(case, "vendored/k.py", "failed", {}, "vendored: TypeError: m"),
        Result(case, "vendored/k.py", "equal", {"sm_9999": "failed"}, "upstream: x; vendored: x"),
    )
    assert codegen.told(results) == ("codegen: vendored/k.py: `rows(m=4)` is upstream's: TIR, sm_90",)
    assert codegen.findings(results) == (
        Finding(
            "codegen-differs",
            "warning",
            "`rows(m=4)` compiles to other code than upstream's: 2 lines differ, first `x`",
            path="vendored/k.py",
            side="local",
        ),
        Finding(
            "codegen-failed", "error", "`rows(m=4)` cannot be compared: vendored: TypeError: m", path="vendored/k.py"
        ),
        Finding(
            "codegen-failed", "error", "`rows(m=4)` cannot be compared: upstream: x; vendored: x", path="vendored/k.py"
        ),
    )


@pytest.mark.skipif(importlib.util.find_spec("tilelang") is not None, reason="needs a Python without tilelang")
def test_a_python_without_the_runtime_is_said_and_not_passed() -> None:
    with pytest.raises(ParityNotRun) as caught:
        codegen.compare([built("k", GPU)], STAND_INS, Spec((Case("ops/k.py", "rows", {}),)))
    assert "ModuleNotFoundError: No module named 'tilelang'" in caught.value.message


@pytest.mark.skipif(importlib.util.find_spec("tilelang") is None, reason="needs tilelang")
def test_kernels_are_compared_one_by_one() -> None:
    files = [built("k", GPU), built("add", ADD), built("patched", GPU, ("T.exp(A[row, j])", "T.exp(A[row, j] * 2)"))]
    rows = {"m": 16, "n": 256}
    spec = Spec(
        (
            Case("ops/k.py", "rows", rows),
            Case("ops/k.py", "rows", {**rows, "dtype": {"dtype": "float16"}}),
            Case("ops/add.py", "add", {"n": 8, "factor": 2.0}),
            Case("ops/patched.py", "rows", rows),
            Case("ops/k.py", "rows", {"wrong": 1}),
        ),
        ("sm_80", "sm_90"),
    )
    same, half, add, patched, wrong = codegen.compare(files, STAND_INS, spec)
    for result in (same, half):
        assert (result.tir, result.cuda, result.detail) == ("equal", {"sm_80": "equal", "sm_90": "equal"}, "")
    assert (add.tir, add.cuda, add.failed) == ("equal", {"sm_80": "failed", "sm_90": "failed"}, True)  # for CPUs only
    assert (patched.tir, patched.cuda, patched.equal) == (
        "different",
        {"sm_80": "different", "sm_90": "different"},
        False,
    )
    assert "lines differ, first `" in patched.detail
    assert wrong.tir == "failed"
    assert wrong.detail.startswith("upstream: TypeError")


@pytest.mark.skipif(importlib.util.find_spec("tilelang") is None, reason="needs tilelang")
def test_an_architecture_that_neither_side_compiles_for_proves_nothing() -> None:
    spec = Spec((Case("ops/k.py", "rows", {"m": 16, "n": 256}),), ("sm_9999",))
    (result,) = codegen.compare([built("k", GPU)], STAND_INS, spec)
    assert (result.tir, result.cuda, result.equal) == ("equal", {"sm_9999": "failed"}, False)
    assert [one.rule for one in codegen.findings([result])] == ["codegen-failed"]


@pytest.mark.skipif(importlib.util.find_spec("tilelang") is None, reason="needs tilelang")
def test_a_function_of_the_module_is_traced_as_it_stands() -> None:
    text = (
        GPU
        + """

@T.prim_func
def whole(A: T.Tensor((8,), "float32")):
    with T.Kernel(1, threads=32) as row:
        for i in T.serial(8):
            A[i] = 1.0
"""
    )
    (result,) = codegen.compare([built("k", text)], STAND_INS, Spec((Case("ops/k.py", "whole", {}),)))
    assert (result.tir, result.cuda, result.detail) == ("equal", {"sm_90": "equal"}, "")
