"""alpha * x + y over one vector."""

import tilelang
import tilelang.language as T


@tilelang.jit(
    out_idx=[-1],
    pass_configs={
        tilelang.PassConfigKey.TL_DISABLE_TMA_LOWER: True,
        tilelang.PassConfigKey.TL_DISABLE_WARP_SPECIALIZED: True,
    },
)
def axpy_kernel(length, block=256, dtype=T.float32):
    @T.prim_func
    def axpy_main(
        alpha: T.Tensor((1,), dtype),
        x: T.Tensor((length,), dtype),
        y: T.Tensor((length,), dtype),
        out: T.Tensor((length,), dtype),
    ):
        with T.Kernel(T.ceildiv(length, block), threads=block) as part:
            for lane in T.Parallel(block):
                out[part * block + lane] = alpha[0] * x[part * block + lane] + y[part * block + lane]

    return axpy_main


def axpy(alpha, x, y):
    """Length-n tensors in, one out."""
    return axpy_kernel(x.shape[0])(alpha, x, y)
