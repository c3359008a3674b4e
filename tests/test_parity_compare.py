"""Numbers about two tensors, and what may be claimed with them."""

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch", reason="comparisons need torch (any build, no GPU)")

from vendor_tool.errors import UsageError  # noqa: E402
from vendor_tool.parity import compare  # noqa: E402 - after the skip: it is of no use without torch
from vendor_tool.parity.tolerance import Note, Tolerance  # noqa: E402


@pytest.fixture
def notes() -> list[Note]:
    return []


@pytest.fixture
def tolerance(notes: list[Note]) -> Tolerance:
    return Tolerance(notes.append, slower_than=1.5, vendored=True)


def test_relative_error_is_the_norm_of_the_difference_over_the_norm() -> None:
    assert compare.relative_error(torch.tensor([3.0, 4.5]), torch.tensor([3.0, 4.0])) == pytest.approx(0.1)


def test_relative_error_to_zeros_is_the_norm_itself_or_measured_against_the_floor() -> None:
    assert compare.relative_error(torch.tensor([0.5]), torch.tensor([0.0])) == 0.5
    assert compare.relative_error(torch.tensor([0.5]), torch.tensor([0.0]), floor=10.0) == 0.05


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_is_infinitely_wrong(bad: float) -> None:
    assert compare.relative_error(torch.tensor([1.0, bad]), torch.tensor([1.0, 2.0])) == float("inf")
    assert compare.relative_error(torch.tensor([1.0, 2.0]), torch.tensor([1.0, bad])) == float("inf")
    assert compare.worst_row_error(torch.tensor([[bad]]), torch.tensor([[1.0]])) == float("inf")


def test_keys_that_are_not_there_agree_and_no_other_infinities_do() -> None:
    masked = torch.tensor([1.0, -float("inf")])
    assert compare.relative_error(masked, masked) == 0.0
    assert compare.relative_error(masked, -masked) == float("inf")
    assert compare.relative_error(-masked, -masked) == float("inf")


def test_nan_agrees_with_nothing() -> None:
    nan = torch.tensor([float("nan")])
    assert compare.relative_error(nan, nan) == float("inf")


def test_one_wrong_row_among_many_shows() -> None:
    expected = torch.ones(10_000, 4)
    actual = expected.clone()
    actual[17] = -1

    assert compare.relative_error(actual, expected) == pytest.approx(0.02)
    assert compare.worst_row_error(actual, expected) == pytest.approx(2.0)


def test_bits_tell_zeros_apart_and_know_a_nan_again() -> None:
    nan = torch.tensor([float("nan")])
    assert compare.same_bits(nan, nan.clone())
    assert not compare.same_bits(torch.tensor([0.0]), torch.tensor([-0.0]))
    assert not compare.same_bits(torch.zeros(2), torch.zeros(2, dtype=torch.int32))
    assert compare.same_bits(torch.arange(6).view(2, 3).t(), torch.arange(6).view(2, 3).t().contiguous())


def test_memory_that_nobody_wrote_is_poison_inside_and_only_there() -> None:
    with compare.poisoned():
        assert torch.empty(1000).isnan().all()
        assert torch.empty_like(torch.zeros(1000, dtype=torch.bfloat16)).isnan().all()
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_walled_tensor_is_itself_with_nan_on_either_side() -> None:
    inside = compare.between_walls(torch.arange(6.0).view(3, 2), rows=2)

    assert inside.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert inside.is_contiguous()
    around = inside.as_strided((7, 2), (2, 1), inside.storage_offset() - 4)
    assert around.isnan().any(dim=1).tolist() == [True, True, False, False, False, True, True]


def test_spread_is_the_largest_distance_of_two_runs() -> None:
    runs = [torch.tensor([1.0]), torch.tensor([1.0]), torch.tensor([1.5])]

    assert compare.spread(runs[:2]) == 0.0
    assert compare.spread(runs) == pytest.approx(0.5)


def test_medians_call_every_function_equally_often() -> None:
    calls = {"a": 0, "b": 0}

    def count(name: str) -> None:
        calls[name] += 1

    times = compare.medians({"a": lambda: count("a"), "b": lambda: count("b")}, repeat=5, warmup=2)

    assert calls == {"a": 7, "b": 7}
    assert set(times) == {"a", "b"}
    assert all(value >= 0 for value in times.values())


def test_a_close_output_is_noted_with_its_error_and_the_limit_of_its_dtype(
    tolerance: Tolerance, notes: list[Note]
) -> None:
    tolerance.close("y", torch.tensor([1.0, 1.0], dtype=torch.bfloat16), torch.tensor([1.0, 1.001]))

    whole, row = notes
    assert (whole.check, whole.name, whole.limit, whole.vendored) == ("error", "y", 5e-3, True)
    assert whole.value == pytest.approx(0.001 / 2**0.5, rel=1e-2)
    assert (row.check, row.name, row.limit, row.value) == ("row", "y", 2e-2, whole.value)


def test_only_numbers_of_a_vendored_kernel_verify_it(tolerance: Tolerance, notes: list[Note]) -> None:
    masked = torch.full((3,), -float("inf"))
    tolerance.close("no key at all", masked, masked)
    Tolerance(notes.append).close("of another module", torch.ones(3), torch.ones(3))
    tolerance.close("y", torch.ones(3), torch.ones(3))

    assert [note.name for note in notes if note.vendored] == ["y"]


def test_nothing_is_not_close_to_nothing(tolerance: Tolerance) -> None:
    with pytest.raises(AssertionError, match="y: there is no element to compare"):
        tolerance.close("y", torch.ones(0, 4), torch.ones(0, 4))


@pytest.mark.parametrize("dtype", ["int64", "bool", "float8_e4m3fn"])
def test_a_type_without_a_limit_of_its_own_needs_one(tolerance: Tolerance, dtype: str) -> None:
    one = torch.ones(4).to(getattr(torch, dtype))
    with pytest.raises(UsageError, match=r"y: torch\.\w+ has no limit of its own"):
        tolerance.close("y", one, torch.ones(4))
    tolerance.close("y", one, torch.ones(4), limit=1e-3)


def test_nan_fails_with_a_count(tolerance: Tolerance) -> None:
    with pytest.raises(AssertionError, match="y: 2 of 3 elements are not finite"):
        tolerance.close("y", torch.tensor([1.0, float("nan"), float("inf")]), torch.ones(3), limit=1e9)


def test_a_distant_output_fails_and_is_noted_all_the_same(tolerance: Tolerance, notes: list[Note]) -> None:
    with pytest.raises(AssertionError, match="relative error 1.00e-01, limit 1e-05"):
        tolerance.close("y", torch.tensor([1.1]), torch.tensor([1.0]))
    assert len(notes) == 1


def test_one_wrong_row_fails_where_the_whole_is_close(tolerance: Tolerance) -> None:
    expected = torch.ones(10_000, 4)
    actual = expected.clone()
    actual[17] = -1
    with pytest.raises(AssertionError, match="in the worst row"):
        tolerance.close("y", actual, expected, limit=0.03)


def test_a_row_of_a_bfloat16_output_may_not_be_three_percent_off(tolerance: Tolerance) -> None:
    expected = torch.ones(10_000, 4)
    actual = expected.bfloat16()
    actual[17] *= 1.03
    with pytest.raises(AssertionError, match=r"relative error 3\.\d+e-02 in the worst row, limit 2e-02"):
        tolerance.close("y", actual, expected)
    tolerance.close("y", actual, expected, row=0.05)


def test_a_floor_leaves_rows_their_own_check(tolerance: Tolerance) -> None:
    nothing = torch.zeros(4, 9)
    rounded = nothing + 1e-6
    wrong = nothing.clone()
    wrong[2, 0] = 1e-3

    tolerance.close("y", rounded, nothing, floor=2.0)
    with pytest.raises(AssertionError, match="in the worst row"):
        tolerance.close("y", wrong, nothing, limit=1e-2, floor=2.0, row=1e-4)
    tolerance.close("y", wrong, nothing, limit=1e-2, floor=torch.tensor([1.0, 1.0, 11.0, 1.0]), row=1e-4)
    with pytest.raises(AssertionError, match="relative error 1.00e-03 in the worst row"):
        tolerance.close("y", wrong, nothing, limit=1e-2, floor=torch.ones(4), row=1e-4)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_no_number_is_not_right_for_being_the_same_twice(tolerance: Tolerance, bad: float) -> None:
    both = torch.tensor([1.0, bad])
    claims: list[Callable[[], None]] = [
        lambda: tolerance.identical("y", both, both.clone()),
        lambda: tolerance.repeats("y", both, both.clone()),
        lambda: tolerance.within_spread("y", both, [both, both]),
        lambda: tolerance.within_spread("y", torch.ones(2), [torch.ones(2), both]),
    ]
    for claim in claims:
        with pytest.raises(AssertionError, match="y: 1 of 2 elements are NaN or infinite"):
            claim()


def test_other_bits_than_upstreams_fail(tolerance: Tolerance) -> None:
    tolerance.identical("y", torch.ones(4), torch.ones(4))
    with pytest.raises(AssertionError, match="y: 1 of 4 elements differ"):
        tolerance.identical("y", torch.tensor([1.0, 1.0, 1.0, 1.5]), torch.ones(4))


def test_a_kernel_that_does_not_repeat_itself_fails(tolerance: Tolerance, notes: list[Note]) -> None:
    tolerance.repeats("y", torch.ones(4), torch.ones(4))
    with pytest.raises(AssertionError, match="y: a second run"):
        tolerance.repeats("y", torch.ones(4), torch.tensor([1.0, 1.0, 1.0, 1.5]))
    assert [(note.check, note.value) for note in notes] == [("repeats", 0.0), ("repeats", 1.0)]


def test_a_kernel_with_atomics_may_differ_as_much_as_upstream_from_itself(tolerance: Tolerance) -> None:
    upstream = [torch.tensor([1.0]), torch.tensor([1.001])]
    tolerance.within_spread("y", torch.tensor([1.002]), upstream)
    coarse = [torch.tensor([256.0, 1.0], dtype=torch.bfloat16), torch.tensor([256.0, 1.01], dtype=torch.bfloat16)]
    tolerance.within_spread("one rounding", torch.tensor([258.0, 1.0], dtype=torch.bfloat16), coarse)
    with pytest.raises(AssertionError, match="whose own runs differ by"):
        tolerance.within_spread("three roundings", torch.tensor([262.0, 1.0], dtype=torch.bfloat16), coarse)
    with pytest.raises(AssertionError, match="whose own runs differ by"):
        tolerance.within_spread("y", torch.tensor([1.1]), upstream)


def test_where_upstream_repeats_itself_bits_must_be_the_same(tolerance: Tolerance) -> None:
    with pytest.raises(AssertionError, match=r"differ by 0\.00e\+00"):
        tolerance.within_spread("y", torch.tensor([1.0000001]), [torch.ones(1), torch.ones(1)])


def test_a_kernel_slower_than_the_entry_allows_fails(
    tolerance: Tolerance, notes: list[Note], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "medians", lambda *_, **__: {"vendored": 1.6, "upstream": 1.0, "reference": 9.0})
    with pytest.raises(AssertionError, match="forward: 1.60 times upstream's time, limit 1.5"):
        tolerance.timed("forward", vendored=lambda: None, upstream=lambda: None, reference=lambda: None)
    assert [note.name for note in notes] == ["forward vendored", "forward upstream", "forward reference", "forward"]
