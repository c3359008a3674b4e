# Adapted from https://github.com/vendor-tool-demo/basics/blob/e9d1de5f12ffe378c96d8fb52edaa4f74dc12baf/kernels/row_sum.py
import tilelang as tl
from tilelang import language as T

pass_configs = {
    tl.PassConfigKey.TL_ENABLE_FAST_MATH: False,
}


@tl.jit(out_idx=[-1], pass_configs=pass_configs)
def row_sum_kernel(rows, columns, block=64, dtype=T.float16, accumulate=T.float32):
    @T.prim_func
    def row_sum_main(x: T.Tensor((rows, columns), dtype), out: T.Tensor((rows,), accumulate)):
        with T.Kernel(T.ceildiv(rows, block), threads=128) as part:
            tile = T.alloc_fragment((block, columns), accumulate)
            total = T.alloc_fragment((block,), accumulate)
            T.copy(x[part * block, 0], tile)
            T.reduce_sum(tile, total, dim=1)
            T.copy(total, out[part * block])

    return row_sum_main


def row_sum(x):
    """(rows, columns) in, (rows,) out, summed in float32."""
    rows, columns = x.shape
    return row_sum_kernel(rows, columns)(x)
