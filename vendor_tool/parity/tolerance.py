"""What a parity test may claim of a kernel: each claim is measured, noted down, and fails when it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from vendor_tool.parity import compare
from vendor_tool.values import dataclass

if TYPE_CHECKING:
    from torch import Tensor

LIMITS = {"torch.bfloat16": 5e-3, "torch.float16": 2e-3, "torch.float32": 1e-5, "torch.float64": 1e-12}
"""Relative errors to a float32 reference that an output's dtype explains by itself: about twice its own rounding."""
_ROW = 50.0  # a row of few terms is rounded worse than the whole; a wrong one is off by its own size


@dataclass(frozen=True, slots=True)
class Note:
    """One measured claim. `limit` is None where the value is only reported."""

    check: Literal["error", "identical", "repeats", "spread", "ratio", "milliseconds"]
    name: str  # of the output, or of what was timed
    value: float
    limit: float | None = None


class Tolerance:
    """The fixture `tolerance`. Every method raises AssertionError when its claim does not hold."""

    def __init__(self, note: Callable[[Note], None], slower_than: float | None = None) -> None:
        self._note = note
        self._slower_than = slower_than

    def close(
        self, name: str, actual: Tensor, expected: Tensor, limit: float | None = None, floor: float = 0.0
    ) -> None:
        """`actual` is finite and within `limit` of `expected`: relative error of the whole, fifty times that for a row.

        Without a limit, the one of the dtype of `actual` in LIMITS. Elements where both are the same infinity agree.
        `floor` is the norm below which `expected` is nothing but rounding, as a sum that cancels to zero is.
        """
        limit = LIMITS[str(actual.dtype)] if limit is None else limit
        error = compare.relative_error(actual, expected, floor)
        self._note(Note("error", name, error, limit))
        if error == float("inf"):
            bad = compare.not_finite(actual)
            raise AssertionError(f"{name}: {bad} of {actual.numel()} elements are not finite")
        if error > limit:
            raise AssertionError(f"{name}: relative error {error:.2e}, limit {limit:.0e}")
        row = 0.0 if floor else compare.worst_row_error(actual, expected)
        if row > _ROW * limit:
            raise AssertionError(f"{name}: relative error {row:.2e} in the worst row, limit {_ROW * limit:.0e}")

    def identical(self, name: str, vendored: Tensor, upstream: Tensor) -> None:
        """Both hold the same bits."""
        same = compare.same_bits(vendored, upstream)
        self._note(Note("identical", name, 0.0 if same else 1.0, 0.0))
        if not same:
            count = int((vendored != upstream).sum()) if vendored.shape == upstream.shape else "all"
            raise AssertionError(f"{name}: {count} of {upstream.numel()} elements differ from upstream's")

    def repeats(self, name: str, first: Tensor, second: Tensor) -> None:
        """Two runs of one kernel on the same inputs gave the same bits."""
        same = compare.same_bits(first, second)
        self._note(Note("repeats", name, 0.0 if same else 1.0, 0.0))
        if not same:
            raise AssertionError(f"{name}: a second run on the same inputs gave other bits")

    def within_spread(self, name: str, vendored: Tensor, upstream: Sequence[Tensor], factor: float = 3.0) -> None:
        """`vendored` is as near to each run of upstream as those are to each other, within `factor`.

        For kernels that add with atomics. Where their runs differ, the largest element may besides round the other way:
        of few roundings, few runs do not show the rarest. Where all runs of upstream agree, the bits must be the same.
        """
        own = compare.spread(upstream)
        limit = factor * own + compare.last_bit(upstream[0]) if own else 0.0
        error = max(
            0.0 if compare.same_bits(vendored, run) else compare.relative_error(vendored, run) for run in upstream
        )
        self._note(Note("spread", name, error, limit))
        if error > limit:
            raise AssertionError(f"{name}: {error:.2e} from upstream, whose own runs differ by {own:.2e}")

    def timed(self, name: str, *, repeat: int = 20, **runs: Callable[[], object]) -> dict[str, float]:
        """Median milliseconds of `vendored`, `upstream` and `reference`, and the ratio of the first two.

        The ratio may not pass the entry's `parity: {slower-than: ...}`; without that it is only reported.
        """
        times = compare.medians(runs, repeat=repeat)
        for label, value in times.items():
            self._note(Note("milliseconds", f"{name} {label}", value))
        if "vendored" in times and "upstream" in times:
            ratio = times["vendored"] / times["upstream"]
            self._note(Note("ratio", name, ratio, self._slower_than))
            if self._slower_than is not None and ratio > self._slower_than:
                raise AssertionError(f"{name}: {ratio:.2f} times upstream's time, limit {self._slower_than:g}")
        return times
