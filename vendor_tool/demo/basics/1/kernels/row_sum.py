"""Sums over rows, one step after the other."""

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def row_sum(rows, columns, dtype=T.float32):
    @T.prim_func
    def main(x: T.Tensor((rows, columns), dtype), out: T.Tensor((rows,), dtype)):
        with T.Kernel(rows, threads=32) as row:
            line = T.alloc_fragment((1, columns), dtype)
            total = T.alloc_fragment((1,), dtype)
            T.copy(x[row, 0], line)
            T.reduce_sum(line, total, dim=1)
            T.copy(total, out[row])

    return main
