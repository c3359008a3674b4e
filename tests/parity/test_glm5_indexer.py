"""GLM-5.2 lighting indexer on the GPU: scores, chosen keys, dq, dk and dweights of the vendored kernel.

32 index heads of width 128 and top-k 2048 are the model's own.
"""

import pytest

torch = pytest.importorskip("torch", reason="parity needs torch")

import inputs  # noqa: E402 - after the skip: it imports torch
import references  # noqa: E402

from vendor_tool.parity.compare import poisoned  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.kernel("slime", "indexer.py", reference="references:index_logits"),
]

HEADS, WIDTH = 32, 128


def draw(lengths, top=512):
    """query, key, weight, first and past-the-last visible key, top-k."""
    rows = sum(lengths)
    weight = inputs.normal(rows, HEADS, dtype=torch.float32) * HEADS**-0.5
    ranges = references.packed_ranges(list(lengths), "cuda")
    return inputs.normal(rows, HEADS, WIDTH), inputs.walled(rows, WIDTH), weight, *ranges, top


def model():
    return draw([4096], top=2048)


def baseline_shape():
    return draw([2048])


def ragged():
    return draw([1, 5, 63, 64, 300, 591, 1024])


def rows_that_fill_no_block():
    return draw([600, 1], top=512)


def rows_without_any_key():
    query, key, weight, start, end, top = draw([2048])
    end[77:90] = start[77:90]
    return query, key, weight, start, end, top


def last_keys_only():
    """Every row sees the last 64 keys and no other: fewer than it asks for."""
    query, key, weight, start, end, top = draw([2048])
    return query, key, weight, torch.full_like(start, 2048 - 64), torch.full_like(end, 2048), top


def large():
    query, key, weight, start, end, top = draw([2048])
    return query * 256, key * 256, weight, start, end, top


CASES = [model, baseline_shape, ragged, rows_that_fill_no_block, rows_without_any_key, last_keys_only, large]
SHORT = {"shorter than top-k": lambda: draw([300], top=2048), "one token": lambda: draw([1], top=2048)}


def compute(module, query, key, weight, start, end, top):
    leaves = [tensor.detach().requires_grad_() for tensor in (query, key, weight)]
    with poisoned():
        scores, indices = module.lighting_indexer(*leaves, start, end, top)
    torch.manual_seed(0)  # the same gradient for the vendored and the upstream kernel
    grad = inputs.away_from_kinks(torch.randn(scores.shape, device="cuda"), query, key, indices)
    with poisoned():
        scores.backward(grad)
    dq, dk, dw = (leaf.grad for leaf in leaves)
    return {"scores": scores.detach(), "indices": indices, "grad": grad, "dq": dq, "dk": dk, "dweights": dw}


def check(reference, tolerance, actual, query, key, weight, start, end, top):
    leaves = [tensor.detach().float().requires_grad_() for tensor in (query, key, weight)]
    logits = reference(*leaves, start, end)
    expected, _ = references.top_keys(logits, top)
    chosen = references.scores_at(logits, actual["indices"])

    tolerance.close("scores", actual["scores"], expected)
    # equal scores may stand in either order: what counts is that the chosen keys have the scores that they claim
    tolerance.close("scores at the chosen keys", chosen, actual["scores"])
    choices = actual["indices"]
    inputs.assert_no_key_twice(choices, key.shape[0])
    (chosen.masked_fill(choices < 0, 0.0) * actual["grad"]).sum().backward()
    tolerance.close("dq", actual["dq"], leaves[0].grad)
    tolerance.close("dk", actual["dk"], leaves[1].grad)
    tolerance.close("dweights", actual["dweights"], leaves[2].grad)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_computes_the_definition(vendored, reference, tolerance, case):
    drawn = case()
    check(reference, tolerance, compute(vendored, *drawn), *drawn)


@pytest.mark.xfail(strict=True, reason="a sequence shorter than top-k is refused", raises=inputs.Refused)
@pytest.mark.parametrize("case", SHORT.values(), ids=SHORT.keys())
def test_sequences_shorter_than_top_k(vendored, reference, tolerance, case):
    drawn = case()
    check(reference, tolerance, inputs.unless_refused(lambda: compute(vendored, *drawn)), *drawn)


@pytest.mark.parametrize("which", range(3), ids=["query", "key", "weight"])
def test_an_input_that_is_not_contiguous_is_refused_or_right(vendored, reference, tolerance, which):
    drawn = draw([2048])
    moved = [inputs.every_second(item) if at == which else item for at, item in enumerate(drawn)]
    try:
        actual = inputs.unless_refused(lambda: compute(vendored, *moved))
    except inputs.Refused:
        return
    check(reference, tolerance, actual, *drawn)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_is_upstreams_kernel(vendored, upstream, tolerance, case):
    drawn = case()
    ours, theirs = compute(vendored, *drawn), [compute(upstream, *drawn) for _ in range(4)]
    for name in ("scores", "indices", "dq", "dweights"):
        tolerance.identical(name, ours[name], theirs[0][name])
    tolerance.within_spread("dk", ours["dk"], [run["dk"] for run in theirs])


def test_repeats_itself(vendored, tolerance):
    drawn = draw([2048])
    first, second = compute(vendored, *drawn), compute(vendored, *drawn)
    for name in ("scores", "indices", "dq", "dweights"):
        tolerance.repeats(name, first[name], second[name])


@pytest.mark.timing
def test_is_as_fast_as_upstream(vendored, upstream, reference, tolerance):
    query, key, weight, start, end, top = draw([2048])

    def backward(module):
        leaves = [tensor.detach().requires_grad_() for tensor in (query, key, weight)]
        scores, _ = module.lighting_indexer(*leaves, start, end, top)
        grad = torch.randn_like(scores)
        return lambda: torch.autograd.grad(scores, leaves, grad, retain_graph=True)

    def backward_by_torch():
        leaves = [tensor.detach().float().requires_grad_() for tensor in (query, key, weight)]
        scores, _ = references.top_keys(reference(*leaves, start, end), top)
        grad = torch.randn_like(scores)
        return lambda: torch.autograd.grad(scores, leaves, grad, retain_graph=True)

    with torch.no_grad():
        tolerance.timed(
            "forward",
            vendored=lambda: vendored.lighting_indexer(query, key, weight, start, end, top),
            upstream=lambda: upstream.lighting_indexer(query, key, weight, start, end, top),
            reference=lambda: references.top_keys(reference(query.float(), key.float(), weight, start, end), top),
        )
    tolerance.timed("backward", vendored=backward(vendored), upstream=backward(upstream), reference=backward_by_torch())
