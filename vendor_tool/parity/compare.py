"""Numbers about two tensors, and kernels run so that nothing unwritten can pass for a result."""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

_FLUSH_BYTES = 1 << 29
_FLUSHES = 8  # about two milliseconds on an H200, more than the host takes to queue a kernel


def relative_error(actual: Tensor, expected: Tensor, floor: float | Tensor = 0.0) -> float:
    """||actual - expected|| / ||expected|| in float64, no unit; infinite where one of the two is not finite.

    A norm below `floor`, or below the norm of a `floor` for each row, counts as that; where `expected` is all zeros, as
    1. Elements where both are -inf agree, as the scores of keys that are not there do. ValueError when shapes differ.
    """
    difference, scale = _double(actual, expected)
    if not (difference.isfinite().all() and scale.isfinite().all()):
        return float("inf")
    norm = max(float(scale.norm()), floor if isinstance(floor, int | float) else float(floor.detach().double().norm()))
    return float(difference.norm()) / (norm or 1.0)


def worst_row_error(actual: Tensor, expected: Tensor, floor: float | Tensor = 0.0) -> float:
    """The largest relative error of one row (last dimension): finds a wrong row that the whole norm would hide.

    Rows far below the median row's norm are measured against that norm, since rounding has no meaning there. `floor` is
    that of `relative_error`: one for each row, or one for the whole, of which every row has the same share.
    """
    import torch

    difference, scale = _double(actual, expected)
    if not (difference.isfinite().all() and scale.isfinite().all()):
        return float("inf")
    if not difference.numel():
        return 0.0
    norms = scale.reshape(-1, scale.shape[-1] if scale.dim() else 1).norm(dim=-1)
    least = norms.new_zeros(norms.shape)
    least += floor / len(norms) ** 0.5 if isinstance(floor, int | float) else floor.detach().double().reshape(-1)
    if bool((norms > 0).any()):
        least = least.clamp(min=float(norms[norms > 0].median()))
    scales = torch.maximum(norms, least)
    scales = scales.masked_fill(scales == 0, 1.0)
    return float((difference.reshape(len(norms), -1).norm(dim=-1) / scales).max())


def same_bits(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors hold the same bytes in the same shape and dtype; NaNs with equal bits are equal here."""
    import torch

    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    raw = [tensor.detach().contiguous().view(-1).view(torch.uint8) for tensor in (one, other)]
    return bool(torch.equal(raw[0], raw[1]))


def spread(runs: Sequence[Tensor]) -> float:
    """The largest relative error between any two runs of one kernel: 0.0 for a deterministic one."""
    pairs = ((a, b) for i, a in enumerate(runs) for b in runs[:i])
    return max((0.0 if same_bits(a, b) else relative_error(a, b) for a, b in pairs), default=0.0)


def last_bit(tensor: Tensor) -> float:
    """The relative error that the last bit of the largest element makes: its dtype's epsilon times max |x| / ||x||."""
    import torch

    values = tensor.detach().double()
    return float(torch.finfo(tensor.dtype).eps * values.abs().max() / values.norm().clamp(min=1e-300))


def not_finite(tensor: Tensor) -> int:
    """How many elements are NaN or infinite."""
    return int((~tensor.detach().double().isfinite()).sum())


def no_value(tensor: Tensor) -> int:
    """How many elements are NaN or +inf; -inf has a meaning, that of the score of a key that is not there."""
    values = tensor.detach().double()
    return int((values.isnan() | (values == float("inf"))).sum())


@contextmanager
def poisoned() -> Iterator[None]:
    """Fill every tensor that is allocated without a value with NaN (integers: the largest one).

    An output that a kernel leaves unwritten then shows. Covers `torch.empty` and its kin in Python and in the runtime's
    own allocation of outputs.
    """
    import torch

    before = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.utils.deterministic.fill_uninitialized_memory,  # type: ignore[attr-defined, unused-ignore]
    )
    with warnings.catch_warnings():
        # the filling needs the deterministic mode, which warns of algorithms that are none of our business
        warnings.filterwarnings("ignore", message=".*deterministic.*", category=UserWarning)
        try:
            torch.use_deterministic_algorithms(True, warn_only=True)
            torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined, unused-ignore]
            yield
        finally:
            torch.use_deterministic_algorithms(before[0], warn_only=before[1])
            torch.utils.deterministic.fill_uninitialized_memory = before[2]  # type: ignore[attr-defined, unused-ignore]


def between_walls(tensor: Tensor, rows: int = 64) -> Tensor:
    """A contiguous copy that stands between NaN rows in memory: reads before its first or past its last row show."""
    import torch

    room = torch.full((tensor.shape[0] + 2 * rows, *tensor.shape[1:]), float("nan"), dtype=tensor.dtype)
    room = room.to(tensor.device)
    inside = room[rows:-rows]
    inside.copy_(tensor.detach())
    return inside


def medians(runs: Mapping[str, Callable[[], object]], *, repeat: int = 20, warmup: int = 3) -> dict[str, float]:
    """Median milliseconds of each function, taken turn by turn, each one first as often as the others.

    So a drifting clock, and what the function before leaves behind, meet all of them alike. CUDA events on a GPU, with
    an empty L2 cache; on a machine without one, the process's clock.
    """
    import torch

    for _ in range(warmup):
        for run in runs.values():
            run()
    clock = _event_time if torch.cuda.is_available() else _wall_time
    taken: dict[str, list[float]] = {name: [] for name in runs}
    turns = [*runs.items()]
    for number in range(repeat):
        first = number % len(turns)
        for name, run in turns[first:] + turns[:first]:
            taken[name].append(clock(run))
    return {name: statistics.median(times) for name, times in taken.items()}


def _event_time(run: Callable[[], object]) -> float:
    import torch

    # empties the L2 cache, and keeps the GPU busy until the host has queued the kernel behind the first event
    waste = torch.empty(_FLUSH_BYTES, dtype=torch.int8, device="cuda")
    for _ in range(_FLUSHES):
        waste.zero_()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    run()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end))


def _wall_time(run: Callable[[], object]) -> float:
    import time

    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e3


def _double(actual: Tensor, expected: Tensor) -> tuple[Tensor, Tensor]:
    if actual.shape != expected.shape:
        raise ValueError(f"shapes differ: {tuple(actual.shape)} and {tuple(expected.shape)}")
    left, right = actual.detach().double(), expected.detach().double()
    agree = (left == right) & (right == -float("inf"))
    return (left - right).masked_fill(agree, 0.0), right.masked_fill(agree, 0.0)
