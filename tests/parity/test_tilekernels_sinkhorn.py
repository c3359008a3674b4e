"""TileKernels' Sinkhorn normalization on the GPU, imported at run time: matrices and gradient.

4 x 4 matrices, one a token, 10 repeats and eps 1e-6: the defaults that DeepSeek-V4's residual mixing uses.
"""

import pytest

torch = pytest.importorskip("torch", reason="parity needs torch")

import inputs  # noqa: E402 - after the skip: it imports torch

from vendor_tool.parity.compare import poisoned  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.kernel(
        "tilekernels", "tile_kernels.modeling.mhc.ops.sinkhorn_normalize", reference="references:sinkhorn"
    ),
]


def draw(*tokens):
    return inputs.normal(*tokens, 4, 4, dtype=torch.float32), inputs.normal(*tokens, 4, 4, dtype=torch.float32)


CASES = {
    "model": lambda: draw(4096),
    "batch and sequence": lambda: draw(2, 1000),
    "one token": lambda: draw(1),
    "a block and one more": lambda: draw(33),
    "large": lambda: (draw(4096)[0] * 20, draw(4096)[1]),
    "equal logits": lambda: (torch.zeros(64, 4, 4, device="cuda"), draw(64)[1]),
    "not contiguous": lambda: tuple(tensor.transpose(-1, -2) for tensor in draw(512)),
}


def compute(run, logits, grad):
    leaf = logits.detach().requires_grad_()
    with poisoned():
        plan = run(leaf)
        plan.backward(grad.contiguous())
    return plan.detach(), leaf.grad


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_computes_the_definition(vendored, reference, tolerance, case):
    logits, grad = case()
    plan, slope = compute(vendored.sinkhorn_normalize, logits, grad)
    expected, expected_slope = compute(reference, logits, grad)
    tolerance.close("plan", plan, expected)
    # a gradient of equal logits, or of a plan that hardly moves, is a difference of sums as large as `grad`
    tolerance.close("dlogits", slope, expected_slope, floor=0.1 * float(grad.norm()))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_is_upstreams_kernel(vendored, upstream, tolerance, case):
    """The installed release against the pinned source: nothing of either is changed here."""
    drawn = case()
    ours, theirs = (compute(module.sinkhorn_normalize, *drawn) for module in (vendored, upstream))
    for name, one, other in zip(("plan", "dlogits"), ours, theirs, strict=True):
        tolerance.identical(name, one, other)


def test_columns_sum_to_one_and_rows_nearly(vendored, tolerance):
    plan, _ = compute(vendored.sinkhorn_normalize, *draw(4096))
    ones = torch.ones(4096, 4, device="cuda")
    tolerance.close("column sums", plan.sum(-2), ones)
    # not rounding, but how far ten repeats bring a matrix: the slowest of 4096 stays the farthest behind
    tolerance.close("row sums", plan.sum(-1), ones, 1e-3, row=0.1)
    assert bool((plan > 0).all())


def test_more_repeats_come_nearer_to_doubly_stochastic(vendored, tolerance):
    logits, _ = draw(4096)
    plan = vendored.sinkhorn_normalize(logits, repeat=30)
    tolerance.close("row sums, 30 repeats", plan.sum(-1), torch.ones(4096, 4, device="cuda"), 1e-4, row=5e-3)


def test_repeats_itself(vendored, tolerance):
    drawn = draw(4096)
    first, second = (compute(vendored.sinkhorn_normalize, *drawn) for _ in range(2))
    tolerance.repeats("plan", first[0], second[0])
    tolerance.repeats("dlogits", first[1], second[1])


@pytest.mark.timing
def test_is_as_fast_as_upstream(vendored, upstream, reference, tolerance):
    logits, grad = draw(65536)

    def backward(run):
        leaf = logits.detach().requires_grad_()
        plan = run(leaf)
        return lambda: torch.autograd.grad(plan, leaf, grad, retain_graph=True)

    tolerance.timed(
        "forward",
        vendored=lambda: vendored.sinkhorn_normalize(logits),
        upstream=lambda: upstream.sinkhorn_normalize(logits),
        reference=lambda: reference(logits),
    )
    tolerance.timed(
        "backward",
        vendored=backward(vendored.sinkhorn_normalize),
        upstream=backward(upstream.sinkhorn_normalize),
        reference=backward(reference),
    )
