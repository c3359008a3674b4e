"""DeepSeek-V4 indexer on the GPU: scores, chosen keys, dq, dk and dweights of the vendored kernel.

64 index heads of width 128, top-k 512, one key for 4 positions: the models' own. Layout [position, batch, ...], so
sequences are not packed: each has a place of its own in the batch.
"""

import pytest

torch = pytest.importorskip("torch", reason="parity needs torch")

import inputs  # noqa: E402 - after the skip: it imports torch
import references  # noqa: E402

from vendor_tool.parity.compare import between_walls, poisoned  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.kernel("miles", "kernel/tilelang_indexer.py", reference="references:index_logits"),
]

HEADS, WIDTH, RATIO, TOP = 64, 128, 4, 512


def draw(rows, batch=1):
    """query, key, weight."""
    keys = max(1, rows // RATIO)
    return (
        inputs.normal(rows, batch, HEADS, WIDTH),
        between_walls(inputs.normal(keys, batch, WIDTH)),
        inputs.normal(rows, batch, HEADS, dtype=torch.float32) * HEADS**-0.5,
    )


def model():
    return draw(4096)


def two_sequences():
    return draw(2048, batch=2)


def fewer_keys_than_top_k():
    return draw(512)


def rows_that_fill_no_block():
    return draw(2051)


def before_the_first_key():
    return draw(3)


def one_token():
    return draw(1)


def large():
    query, key, weight = draw(2048)
    return query * 256, key * 256, weight


CASES = [
    model, two_sequences, fewer_keys_than_top_k, rows_that_fill_no_block, before_the_first_key, one_token, large,
]  # fmt: skip


def odd_number_of_keys():
    return draw(300)


def compute(module, query, key, weight):
    leaves = [tensor.detach().requires_grad_() for tensor in (query, key, weight)]
    with poisoned():
        scores, indices = module.v4_lighting_indexer(*leaves, RATIO, TOP)
    torch.manual_seed(0)  # the same gradient for the vendored and the upstream kernel
    drawn = torch.randn(scores.shape, device="cuda")
    sides = (drawn, query.transpose(0, 1), key.transpose(0, 1), indices)
    grad = torch.stack([inputs.away_from_kinks(*(side[b] for side in sides)) for b in range(query.shape[1])])
    with poisoned():
        scores.backward(grad)
    dq, dk, dw = (leaf.grad for leaf in leaves)
    return {"scores": scores.detach(), "indices": indices, "grad": grad, "dq": dq, "dk": dk, "dweights": dw}


def check(reference, tolerance, actual, query, key, weight):
    leaves = [tensor.detach().float().requires_grad_() for tensor in (query, key, weight)]
    start, end = references.compressed_ranges(query.shape[0], RATIO, "cuda")
    logits = torch.stack(
        [reference(leaves[0][:, b], leaves[1][:, b], leaves[2][:, b], start, end) for b in range(query.shape[1])]
    )
    expected, _ = references.top_keys(logits, min(TOP, key.shape[0]))
    chosen = references.scores_at(logits, actual["indices"])

    tolerance.close("scores", actual["scores"], expected)
    tolerance.close("scores at the chosen keys", chosen, actual["scores"])
    inputs.assert_no_key_twice(actual["indices"].flatten(0, 1), key.shape[0])
    (chosen.masked_fill(actual["indices"] < 0, 0.0) * actual["grad"]).sum().backward()
    for name, leaf in zip(("dq", "dk", "dweights"), leaves, strict=True):
        tolerance.close(name, actual[name], leaf.grad)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_computes_the_definition(vendored, reference, tolerance, case):
    drawn = case()
    check(reference, tolerance, compute(vendored, *drawn), *drawn)


@pytest.mark.xfail(strict=True, reason="a number of keys that is no power of two is refused", raises=inputs.Refused)
def test_a_number_of_keys_that_is_no_power_of_two(vendored, reference, tolerance):
    drawn = odd_number_of_keys()
    check(reference, tolerance, inputs.unless_refused(lambda: compute(vendored, *drawn)), *drawn)


def test_inputs_that_are_not_contiguous(vendored, reference, tolerance):
    drawn = draw(2048, batch=2)
    moved = [inputs.same_storage_transposed(tensor) for tensor in drawn]
    check(reference, tolerance, compute(vendored, *moved), *drawn)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_is_upstreams_kernel(vendored, upstream, tolerance, case):
    drawn = case()
    ours, theirs = compute(vendored, *drawn), [compute(upstream, *drawn) for _ in range(4)]
    for name in ("scores", "indices", "dq", "dweights"):
        tolerance.identical(name, ours[name], theirs[0][name])
    tolerance.within_spread("dk", ours["dk"], [run["dk"] for run in theirs])


def test_repeats_itself(vendored, tolerance):
    drawn = draw(2048)
    first, second = compute(vendored, *drawn), compute(vendored, *drawn)
    for name in ("scores", "indices", "dq", "dweights"):
        tolerance.repeats(name, first[name], second[name])


@pytest.mark.timing
def test_is_as_fast_as_upstream(vendored, upstream, reference, tolerance):
    query, key, weight = model()

    def backward(module):
        leaves = [tensor.detach().requires_grad_() for tensor in (query, key, weight)]
        scores, _ = module.v4_lighting_indexer(*leaves, RATIO, TOP)
        grad = torch.randn_like(scores)
        return lambda: torch.autograd.grad(scores, leaves, grad, retain_graph=True)

    def by_torch(query, key, weight):
        start, end = references.compressed_ranges(query.shape[0], RATIO, "cuda")
        return references.top_keys(reference(query[:, 0].float(), key[:, 0].float(), weight[:, 0], start, end), TOP)

    def backward_by_torch():
        leaves = [tensor.detach().float().requires_grad_() for tensor in (query, key, weight)]
        scores, _ = by_torch(*leaves)
        grad = torch.randn_like(scores)
        return lambda: torch.autograd.grad(scores, leaves, grad, retain_graph=True)

    with torch.no_grad():
        tolerance.timed(
            "forward",
            vendored=lambda: vendored.v4_lighting_indexer(query, key, weight, RATIO, TOP),
            upstream=lambda: upstream.v4_lighting_indexer(query, key, weight, RATIO, TOP),
            reference=lambda: by_torch(query, key, weight),
        )
    tolerance.timed("backward", vendored=backward(vendored), upstream=backward(upstream), reference=backward_by_torch())
