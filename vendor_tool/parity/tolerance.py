"""What a parity test may claim of a kernel: each claim is measured, noted down, and fails when it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from vendor_tool.errors import UsageError
from vendor_tool.parity import compare
from vendor_tool.values import dataclass

if TYPE_CHECKING:
    from torch import Tensor

LIMITS = {"torch.bfloat16": 5e-3, "torch.float16": 2e-3, "torch.float32": 1e-5, "torch.float64": 1e-12}
"""Relative errors to a float32 reference that an output's dtype explains by itself: about twice its own rounding."""
# a row's rounding errors may all point one way: measured and computed, they reach 1.5 times the whole's limit
_ROW = 4.0


@dataclass(frozen=True, slots=True)
class Note:
    """One measured claim. `limit` is None where the value is only reported."""

    check: Literal["error", "row", "identical", "repeats", "spread", "ratio", "milliseconds"]
    name: str  # of the output, or of what was timed
    value: float
    limit: float | None = None
    # an error of numbers, not of -inf alone, in a test that has the vendored kernel: a verification
    vendored: bool = False


class Tolerance:
    """The fixture `tolerance`. Every method raises AssertionError when its claim does not hold.

    `vendored` says whether the test uses the vendored kernel at all: if not, no claim of it verifies anything.
    """

    def __init__(
        self, note: Callable[[Note], None], slower_than: float | None = None, *, vendored: bool = False
    ) -> None:
        self._note = note
        self._slower_than = slower_than
        self._vendored = vendored

    def close(
        self,
        name: str,
        actual: Tensor,
        expected: Tensor,
        limit: float | None = None,
        floor: float | Tensor = 0.0,
        row: float | None = None,
    ) -> None:
        """`actual` is finite and within `limit` of `expected`: in relative error, and each row within `row`.

        Without a limit, the one of the dtype of `actual` in LIMITS; without one for rows, four times that of the whole.
        Elements where both are -inf agree. `floor` is the norm below which `expected` is nothing but rounding, as a sum
        that cancels to zero is: of the whole, of which each row has the same share, or a tensor with one for each row.
        UsageError for a dtype that has no limit of its own.
        """
        if limit is None and str(actual.dtype) not in LIMITS:
            raise UsageError(
                f"{name}: {actual.dtype} has no limit of its own", hint="name one: `close(..., limit=...)`"
            )
        limit = LIMITS[str(actual.dtype)] if limit is None else limit
        if not actual.numel():
            self._note(Note("error", name, float("inf"), limit))
            raise AssertionError(f"{name}: there is no element to compare")
        error = compare.relative_error(actual, expected, floor)
        numbers = compare.not_finite(actual) < actual.numel()
        self._note(Note("error", name, error, limit, vendored=self._vendored and numbers))
        if error == float("inf"):
            bad = compare.not_finite(actual) or f"expected: {compare.not_finite(expected)}"
            raise AssertionError(f"{name}: {bad} of {actual.numel()} elements are not finite")
        if not error <= limit:
            raise AssertionError(f"{name}: relative error {error:.2e}, limit {limit:.0e}")
        row = _ROW * limit if row is None else row
        worst = compare.worst_row_error(actual, expected, floor)
        self._note(Note("row", name, worst, row))
        if not worst <= row:
            raise AssertionError(f"{name}: relative error {worst:.2e} in the worst row, limit {row:.0e}")

    def identical(self, name: str, vendored: Tensor, upstream: Tensor) -> None:
        """Both hold the same bits, and neither NaN nor +inf."""
        same = compare.same_bits(vendored, upstream)
        self._valued("identical", name, vendored, upstream)
        self._note(Note("identical", name, 0.0 if same else 1.0, 0.0))
        if not same:
            count = int((vendored != upstream).sum()) if vendored.shape == upstream.shape else "all"
            raise AssertionError(f"{name}: {count} of {upstream.numel()} elements differ from upstream's")

    def repeats(self, name: str, first: Tensor, second: Tensor) -> None:
        """Two runs of one kernel on the same inputs gave the same bits, and neither NaN nor +inf."""
        same = compare.same_bits(first, second)
        self._valued("repeats", name, first, second)
        self._note(Note("repeats", name, 0.0 if same else 1.0, 0.0))
        if not same:
            raise AssertionError(f"{name}: a second run on the same inputs gave other bits")

    def within_spread(self, name: str, vendored: Tensor, upstream: Sequence[Tensor], factor: float = 3.0) -> None:
        """`vendored` is as near to each run of upstream as those are to each other, within `factor`; all are finite.

        For kernels that add with atomics. Where their runs differ, the largest element may besides round the other way:
        of few roundings, few runs do not show the rarest. Where all runs of upstream agree, the bits must be the same.
        """
        self._valued("spread", name, vendored, *upstream)
        own = compare.spread(upstream)
        limit = factor * own + compare.last_bit(upstream[0]) if own else 0.0
        error = max(
            0.0 if compare.same_bits(vendored, run) else compare.relative_error(vendored, run) for run in upstream
        )
        self._note(Note("spread", name, error, limit))
        if not error <= limit or own == float("inf"):
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
            if self._slower_than is not None and not ratio <= self._slower_than:
                raise AssertionError(f"{name}: {ratio:.2f} times upstream's time, limit {self._slower_than:g}")
        return times

    def _valued(self, check: Literal["identical", "repeats", "spread"], name: str, *tensors: Tensor) -> None:
        """There are elements, and none of them is what no kernel should give, be it twice the same."""
        bad = max(compare.no_value(tensor) for tensor in tensors)
        if bad or not tensors[0].numel():
            self._note(Note(check, name, float("inf"), 0.0))
            raise AssertionError(f"{name}: {bad} of {tensors[0].numel()} elements are NaN or infinite")
