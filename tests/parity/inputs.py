"""Inputs of the parity tests: random by the run's seed, and bounded so that a wrong read shows."""

from collections.abc import Callable, Iterable, Sequence

import torch
from references import packed_ranges
from torch import Tensor

from vendor_tool.parity.compare import between_walls


def normal(*shape: int, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    """Standard normal values on the GPU, drawn in float32 and rounded to `dtype`."""
    return torch.randn(shape, device="cuda").to(dtype)


def walled(*shape: int) -> Tensor:
    """`normal`, with NaN rows before and behind it in memory."""
    return between_walls(normal(*shape))


def choose(start: Tensor, end: Tensor, keys: int, count: int) -> Tensor:
    """For each row `count` different keys of start <= key < end in random order, filled up with -1: [S, count]."""
    position = torch.arange(keys, device=start.device)
    visible = (position >= start[:, None]) & (position < end[:, None])
    rank, chosen = torch.rand(visible.shape, device=start.device).masked_fill(~visible, -1).topk(min(count, keys))
    chosen = torch.nn.functional.pad(chosen.masked_fill(rank < 0, -1), (0, max(0, count - keys)), value=-1)
    return chosen.to(torch.int32).contiguous()


def causal_choice(lengths: Sequence[int], count: int) -> Tensor:
    """`choose` among the earlier positions of each row's own sequence, sequences packed end to end."""
    start, end = packed_ranges(list(lengths), "cuda")
    return choose(start, end, int(end[-1]), count)


def shift_scores(query: Tensor, memory: Tensor) -> None:
    """Raise every score by 16384 times the scale, in place: large, yet the same for all keys of a row."""
    query[..., 0] = 16384
    memory[..., 0] = 1


def away_from_kinks(grad: Tensor, query: Tensor, key: Tensor, indices: Tensor) -> Tensor:
    """`grad` [S, K], zero for chosen keys with a q . k next to zero in some head: there rounding decides relu's slope.

    Shapes: query [S, H, D], key [N, D], indices [S, K] with -1 for no key, whose gradient is zero as well.
    """
    agreement = torch.einsum("shd,nd->shn", query.float(), key.float())
    kink = (agreement.abs() < 1e-4 * agreement.std()).any(dim=1)
    return grad.masked_fill(kink.gather(1, indices.clamp(min=0).long()) | (indices < 0), 0.0)


def every_second(tensor: Tensor, dim: int = 0) -> Tensor:
    """The same values as a view with gaps along `dim`: what stands between them in memory is NaN (-2 for integers)."""
    shape = [2 * size if at == dim else size for at, size in enumerate(tensor.shape)]
    gap = float("nan") if tensor.is_floating_point() else -2
    apart = torch.full(shape, gap, dtype=tensor.dtype, device=tensor.device).unflatten(dim, (-1, 2)).select(dim + 1, 0)
    return apart.copy_(tensor.detach())


class Refused(Exception):
    """A kernel refuses its inputs."""


def unless_refused(run: Callable[[], dict[str, Tensor]]) -> dict[str, Tensor]:
    """What a kernel gives. Raises Refused where it refuses its inputs; a fault of GPU or compiler is none."""
    try:
        return run()
    except (AssertionError, RuntimeError) as error:
        torch.cuda.synchronize()  # a fault would come up again here
        if any(word in str(error).lower() for word in ("compil", "nvcc", "cuda error")):
            raise
        raise Refused(str(error)) from error


def every(claims: Iterable[Callable[[], None]]) -> None:
    """Make every claim, also behind one that fails, and fail with all that do not hold."""
    failed = []
    for claim in claims:
        try:
            claim()
        except AssertionError as error:
            failed.append(str(error))
    assert not failed, "; ".join(failed)


def assert_no_key_twice(indices: Tensor, keys: int) -> None:
    """No row of `indices` [S, K] holds a key 0 <= n < keys twice; -1 may stand as often as it likes."""
    chosen = torch.where(indices < 0, keys, indices).long()
    count = torch.zeros(indices.shape[0], keys + 1, device=indices.device, dtype=torch.int32)
    count.scatter_add_(1, chosen, torch.ones_like(chosen, dtype=torch.int32))
    assert int(count[:, :keys].max()) <= 1


def same_storage_transposed(tensor: Tensor) -> Tensor:
    """The same values as a view that is not contiguous: its first two dimensions are swapped in memory."""
    return tensor.transpose(0, 1).contiguous().transpose(0, 1)
