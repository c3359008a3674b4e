"""The references are right: against dense attention, against loops over single elements, by gradcheck in float64."""

import math

import pytest

torch = pytest.importorskip("torch", reason="the references need torch (any build, no GPU)")

import references as ref  # noqa: E402 - after the skip: it imports torch
from torch.autograd import gradcheck  # noqa: E402


@pytest.fixture
def draw(request):
    generator = torch.Generator().manual_seed(sum(map(ord, request.node.name)))
    return lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)


def dense_attention(query, memory, indices, scale, width, sink=None):
    """The same by a full score matrix and a count of how often each key was chosen."""
    count = torch.zeros(query.shape[0], memory.shape[0], dtype=query.dtype)
    for row, chosen in enumerate(indices.tolist()):
        for key in chosen:
            if key >= 0:
                count[row, key] += 1
    weight = torch.exp(scale * torch.einsum("shd,nd->shn", query, memory)) * count[:, None, :]
    total = weight.sum(-1) + (0 if sink is None else torch.exp(sink))
    out = torch.einsum("shn,nd->shd", weight, memory[:, :width]) / total.clamp(min=1e-300)[..., None]
    return out, torch.log2(total)


CHOICES = {
    "all keys once": [[0, 1, 2, 3, 4]] * 3,
    "fewer keys than asked for": [[0, -1, -1], [1, 0, -1], [2, 0, 1]],
    "a key twice": [[4, 4, 1], [0, 2, 2], [3, 3, 3]],
    "the last key only": [[4]] * 3,
    "an empty row among others": [[0, 1], [-1, -1], [3, -1]],
}


@pytest.mark.parametrize("with_sink", [False, True], ids=["no sink", "sink"])
@pytest.mark.parametrize("rows", CHOICES.values(), ids=CHOICES.keys())
def test_sparse_attention_is_dense_attention_on_the_chosen_keys(draw, rows, with_sink):
    query, memory, indices = draw(3, 2, 6), draw(5, 6), torch.tensor(rows)
    sink = draw(2) if with_sink else None

    out, lse = ref.sparse_attention(query, memory, indices, 0.5, width=4, sink=sink)

    expected_out, expected_lse = dense_attention(query, memory, indices, 0.5, 4, sink)
    torch.testing.assert_close(out, expected_out)
    torch.testing.assert_close(lse, expected_lse)


def test_sparse_attention_over_every_earlier_key_is_torchs_causal_attention(draw):
    query, memory = draw(7, 2, 6), draw(7, 6)
    indices = torch.tensor([[key if key <= row else -1 for key in range(7)] for row in range(7)])

    out, _ = ref.sparse_attention(query, memory, indices, 6**-0.5, width=6)

    keys = memory[None].expand(2, -1, -1)
    expected = torch.nn.functional.scaled_dot_product_attention(query.transpose(0, 1), keys, keys, is_causal=True)
    torch.testing.assert_close(out, expected.transpose(0, 1))


def test_sparse_attention_does_not_overflow(draw):
    query, memory = draw(2, 1, 4), draw(3, 4)
    query[..., 0], memory[:, 0] = 2048, 64

    out, lse = ref.sparse_attention(query, memory, torch.tensor([[0, 1], [2, -1]]), 1.0, width=4)

    assert out.isfinite().all()
    assert lse.isfinite().all()
    assert (lse > 2048 * 64).all()


def test_an_empty_row_gives_zero_and_the_sinks_own_weight(draw):
    sink = draw(2)
    out, lse = ref.sparse_attention(draw(1, 2, 4), draw(3, 4), torch.tensor([[-1, -1]]), 1.0, width=4, sink=sink)

    assert out.eq(0).all()
    torch.testing.assert_close(lse[0] * math.log(2), sink)


@pytest.mark.parametrize("rows", CHOICES.values(), ids=CHOICES.keys())
def test_gradients_of_sparse_attention(draw, rows):
    inputs = [draw(3, 2, 6), draw(5, 6), draw(2)]
    for tensor in inputs:
        tensor.requires_grad_()

    assert gradcheck(
        lambda q, m, sink: ref.sparse_attention(q, m, torch.tensor(rows), 0.5, width=4, sink=sink)[0], inputs
    )
    assert gradcheck(lambda q, m: ref.sparse_attention(q, m, torch.tensor(rows), 0.5, width=4)[0], inputs[:2])


def test_index_logits_are_the_definitions_double_sum(draw):
    query, key, weight = draw(3, 2, 4), draw(5, 4), draw(3, 2)
    start, end = torch.tensor([0, 1, 2]), torch.tensor([1, 5, 2])

    logits = ref.index_logits(query, key, weight, start, end)

    for s in range(3):
        for n in range(5):
            seen = start[s] <= n < end[s]
            score = sum(float(weight[s, h]) * max(float(query[s, h] @ key[n]), 0.0) for h in range(2))
            assert float(logits[s, n]) == pytest.approx(score if seen else -math.inf)


def test_gradients_of_the_chosen_scores(draw):
    query, key, weight = draw(3, 2, 4).requires_grad_(), draw(5, 4).requires_grad_(), draw(3, 2).requires_grad_()
    start, end = ref.packed_ranges([3])
    chosen = torch.tensor([[0, -1], [1, 0], [2, 1]])

    def finite_scores(query, key, weight):
        scores = ref.scores_at(ref.index_logits(query, key, weight, start, end), chosen)
        return scores[chosen >= 0]

    assert gradcheck(finite_scores, (query, key, weight))


def test_top_keys_of_a_row_with_fewer_keys_are_filled_up():
    logits = torch.tensor([[3.0, -math.inf, 5.0], [-math.inf] * 3])

    scores, indices = ref.top_keys(logits, 4)

    assert indices.tolist() == [[2, 0, -1, -1], [-1, -1, -1, -1]]
    assert scores.tolist() == [[5.0, 3.0, -math.inf, -math.inf], [-math.inf] * 4]


def test_packed_sequences_do_not_see_each_other():
    start, end = ref.packed_ranges([1, 3, 2])

    assert start.tolist() == [0, 1, 1, 1, 4, 4]
    assert end.tolist() == [1, 2, 3, 4, 5, 6]


def test_a_compressed_key_is_seen_once_all_its_positions_are_past():
    start, end = ref.compressed_ranges(9, 4)

    assert start.tolist() == [0] * 9
    assert end.tolist() == [0, 0, 0, 1, 1, 1, 1, 2, 2]


def test_sinkhorn_tends_to_a_doubly_stochastic_matrix(draw):
    plan = ref.sinkhorn(draw(6, 4, 4), repeat=200, eps=0.0)

    torch.testing.assert_close(plan.sum(-1), torch.ones(6, 4, dtype=torch.float64))
    torch.testing.assert_close(plan.sum(-2), torch.ones(6, 4, dtype=torch.float64))


def test_sinkhorn_leaves_a_doubly_stochastic_matrix_alone(draw):
    plan = ref.sinkhorn(draw(4, 4), repeat=300, eps=0.0)

    torch.testing.assert_close(ref.sinkhorn(plan.log(), repeat=1, eps=0.0), plan)


BY_HAND = {  # logits log 1, log 3 over log 1, log 1, eps 1/4: K is 1/2, 1 over 3/4, 3/4
    1: [[1 / 3, 1 / 2], [1 / 2, 3 / 8]],  # columns of K sum to 5/4 and 7/4, and 1/4 more
    2: [[144 / 469, 72 / 163], [208 / 469, 52 / 163]],  # then rows by 13/12 and 9/8, and columns by 469/468 and 163/156
}


@pytest.mark.parametrize("repeat", BY_HAND)
def test_sinkhorn_by_hand(repeat):
    logits = torch.tensor([[1.0, 3.0], [1.0, 1.0]], dtype=torch.float64).log()

    plan = ref.sinkhorn(logits, repeat=repeat, eps=0.25)

    torch.testing.assert_close(plan, torch.tensor(BY_HAND[repeat], dtype=torch.float64))


def test_sinkhorn_of_large_logits_is_finite_and_does_not_know_a_rows_common_term(draw):
    logits = 300 * draw(5, 4, 4)

    plan = ref.sinkhorn(logits)

    assert plan.isfinite().all()
    torch.testing.assert_close(ref.sinkhorn(logits + 1e4), plan)


def test_sinkhorn_answers_in_the_type_that_it_was_asked_in(draw):
    logits = draw(3, 4, 4)
    plan = ref.sinkhorn(logits.float())

    assert plan.dtype == torch.float32
    torch.testing.assert_close(plan, ref.sinkhorn(logits).float())


def test_gradients_of_sinkhorn(draw):
    assert gradcheck(ref.sinkhorn, (draw(2, 4, 4).requires_grad_(),))
