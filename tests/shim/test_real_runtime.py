"""The real TileLang on a machine without a GPU: vendored kernels are those of the unmodified file."""

import importlib.util

import pytest

from tests.shim.kernels import ADD
from tests.shim.projects import Project

for package in ("torch", "tilelang"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"needs {package}", allow_module_level=True)

USE = """
import torch
a, b = torch.arange(8.0, requires_grad=True), torch.ones(8)
"""


def lines(said: str) -> list[str]:
    """What the script itself printed: the runtime logs to the same place."""
    return [line for line in said.splitlines() if "[TileLang:" not in line]


@pytest.fixture
def pair(project: Project) -> Project:
    """The vendored file beside the unmodified one."""
    project.vendor("k", ADD)
    project.write("original.py", ADD)
    return project


def test_nothing_is_loaded_before_the_first_call_and_results_are_right(pair: Project) -> None:
    said = pair.run(
        USE
        + """
import vendored.k as k
print("tilelang" in sys.modules, "tvm" in sys.modules)
print(k.add(8, factor=3.0)(a.detach(), b).tolist())
from tilelang.jit import JITImpl
print(isinstance(k.add, JITImpl), k.T is sys.modules["tilelang.language"])
"""
    )
    assert lines(said) == ["False False", "[3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 21.0, 24.0]", "True True"]


def test_cache_keys_and_tir_are_those_of_the_unmodified_file(pair: Project) -> None:
    said = pair.run(
        """
import vendored.k as k
ours = k.add.get_tir(8)
import original
theirs = original.add.get_tir(8)
from tilelang.cache.kernel_cache import KernelCache
def key(kernel, tir):
    return KernelCache()._generate_key(tir, kernel.out_idx, args=(), target="c", pass_configs=kernel.pass_configs)
print(ours.script() == theirs.script(), key(k.add, ours) == key(original.add, theirs))
"""
    )
    assert lines(said)[-1] == "True True"


def test_autograd_works_at_the_first_call(pair: Project) -> None:
    said = pair.run(USE + "import vendored.k as k\nk.summed(a, b).sum().backward()\nprint(a.grad.tolist())")
    assert lines(said)[-1] == str([2.0] * 8)


def test_torch_compile_may_make_the_first_call(pair: Project) -> None:
    said = pair.run(
        USE
        + """
import warnings
warnings.simplefilter("ignore")
import vendored.k as k
compiled = torch.compile(k.summed, backend="eager")
print(compiled(a, b).tolist() == compiled(a, b).tolist() == [2.0 * n + 2 for n in range(8)])
"""
    )
    assert lines(said)[-1] == "True"


def test_built_in_names_of_a_star_are_those_of_the_unmodified_file(project: Project) -> None:
    text = """
        import tilelang
        from tilelang.language import *

        @tilelang.jit
        def clip(n, dtype=float32):
            @prim_func
            def main(a: Tensor((n,), dtype), b: Tensor((n,), dtype)):
                with Kernel(1, threads=32):
                    for i in Parallel(n):
                        b[i] = max(min(a[i], float(1)), abs(int(-1)))
            return main
        """
    project.vendor("k", text)
    project.write("original.py", text)
    said = project.run(
        """
import vendored.k as k, original
print(k.clip.get_tir(32).script() == original.clip.get_tir(32).script())
print(all(getattr(k, name) is getattr(original, name) for name in ("abs", "float", "int", "max", "min")))
"""
    )
    assert lines(said)[-2:] == ["True", "True"]
