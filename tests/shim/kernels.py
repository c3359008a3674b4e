"""Kernels in TileLang for tests with the real runtime: they run on a CPU, through gcc."""

ADD = '''
import tilelang
import tilelang.language as T
import torch

PASS = {tilelang.PassConfigKey.TL_DISABLE_WARP_SPECIALIZED: True}
WIDE = T.float32


@T.macro
def scaled(value, factor):
    return value * T.float32(factor)


@tilelang.jit(out_idx=[-1], target="c", pass_configs=PASS)
def add(n, factor: float = 1.0, dtype=T.float32):
    """Adds two vectors and scales the sum."""
    assert dtype == WIDE

    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype), C: T.Tensor((n,), WIDE)):
        with T.Kernel(1, is_cpu=True):
            for i in T.serial(n):
                C[i] = scaled(A[i] + B[i], factor)

    return main


class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return add(a.shape[0])(a, b)

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


def summed(a, b):
    return Add.apply(a, b) * 2.0
'''

GPU = """
import tilelang
from tilelang import language as T


@tilelang.jit(pass_configs={tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True})
def rows(m, n, block=64, dtype=T.bfloat16, accum=T.float32):
    @T.prim_func
    def main(A: T.Tensor((m, n), dtype), B: T.Tensor((m,), accum)):
        with T.Kernel(m, threads=128) as row:
            part = T.alloc_fragment((n,), accum)
            total = T.alloc_fragment((1,), accum)
            for j in T.Parallel(n):
                part[j] = T.exp(A[row, j])
            T.reduce_sum(part, total, dim=0)
            B[row] = total[0]

    return main
"""
