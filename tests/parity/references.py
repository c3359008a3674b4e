"""What the vendored kernels should compute, in plain torch, written from the mathematics.

Every function takes any floating type and computes in it: the GPU tests hand it float32, the checks of the references
themselves float64. Gradients come from autograd over these definitions. Index -1 stands for "no key".
Log-sum-exps are in base 2, as the kernels keep them: a natural one divided by ln 2.
"""

import math

import torch
from torch import Tensor


def index_logits(query: Tensor, key: Tensor, weight: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """Lighting indexer: how much query position s wants key n, I[s, n] = sum over h of w[s, h] * relu(q[s, h] . k[n]).

    Shapes: query [S, H, D], key [N, D], weight [S, H], start and end [S] (int; keys start <= n < end are visible).
    Returns [S, N], -inf where a key is not visible. Unit: none, a ranking score.
    Source: DeepSeek-V3.2 (arXiv 2512.02556, section 2.1, equation 1); interface
    https://github.com/THUDM/slime/blob/8f5e2151943e9ed0bbffaed93741d3473abb58d9/slime_plugins/models/glm5/ops/indexer.py
    """
    agreement = torch.relu(torch.einsum("shd,nd->shn", query, key))
    logits = torch.einsum("shn,sh->sn", agreement, weight)
    position = torch.arange(key.shape[0], device=key.device)
    visible = (position >= start[:, None]) & (position < end[:, None])
    return logits.masked_fill(~visible, -math.inf)


def top_keys(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` best keys of each row, best first: scores [S, count] and indices [S, count] (int64).

    Rows that see fewer keys than `count` are filled up with score -inf and index -1.
    """
    missing = count - logits.shape[-1]
    if missing > 0:
        logits = torch.nn.functional.pad(logits, (0, missing), value=-math.inf)
    scores, indices = logits.topk(count, dim=-1)
    return scores, indices.masked_fill(scores == -math.inf, -1)


def scores_at(logits: Tensor, indices: Tensor) -> Tensor:
    """The logits [S, N] of chosen keys: [S, K], -inf where an index is -1."""
    chosen = logits.gather(-1, indices.clamp(min=0).long())
    return chosen.masked_fill(indices < 0, -math.inf)


def packed_ranges(lengths: list[int], device: torch.device | str = "cpu") -> tuple[Tensor, Tensor]:
    """Causal key ranges of sequences packed end to end: start and end, [sum of lengths], int32."""
    ends = torch.arange(1, sum(lengths) + 1, dtype=torch.int32, device=device)
    starts = torch.tensor([sum(lengths[:i]) for i, n in enumerate(lengths) for _ in range(n)], dtype=torch.int32)
    return starts.to(device), ends


def compressed_ranges(queries: int, ratio: int, device: torch.device | str = "cpu") -> tuple[Tensor, Tensor]:
    """Causal key ranges where one key stands for `ratio` positions: position p sees the (p + 1) // ratio finished ones.

    Interface: https://github.com/yueming-yuan/miles/blob/e561465d0b9bbf06188b7a5e2020dc7fd691f732/miles_plugins/models/deepseek_v4/ops/kernel/tilelang_indexer_fwd.py
    """
    ends = torch.div(torch.arange(1, queries + 1, device=device), ratio, rounding_mode="floor").to(torch.int32)
    return torch.zeros_like(ends), ends


def sparse_attention(
    query: Tensor, memory: Tensor, indices: Tensor, scale: float, *, width: int, sink: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Multi-query attention over chosen rows of one shared memory that is both key and value.

    p[s, h, i] = exp(scale * q[s, h] . m[j]) / (sum over the chosen j' of exp(scale * q[s, h] . m[j']) + exp(sink[h]))
    with j = indices[s, i], and out[s, h] = sum over i of p[s, h, i] * m[j, :width]; without a sink its term is absent.
    A row without any key gives 0. An index that stands twice in a row counts twice.

    Shapes: query [S, H, D], memory [N, D], indices [S, K] (int), sink [H]. Returns out [S, H, width] and the
    log-sum-exp [S, H] in base 2 (-inf for an empty row without a sink).
    Source: multi-head latent attention after absorption, where width is the latent's and D adds the rotary part
    (DeepSeek-V2, arXiv 2405.04434, section 2.1); its sparse form (DeepSeek-V3.2, arXiv 2512.02556, section 2.1); the sink
    as a learned logit of its own (gpt-oss, arXiv 2508.10925, section 2.3). Interfaces:
    https://github.com/THUDM/slime/blob/8f5e2151943e9ed0bbffaed93741d3473abb58d9/slime_plugins/models/glm5/ops/sparse_mla.py
    https://github.com/yueming-yuan/miles/blob/e561465d0b9bbf06188b7a5e2020dc7fd691f732/miles_plugins/models/deepseek_v4/ops/attention_core.py
    """
    chosen = memory[indices.clamp(min=0).long()]
    logits = scale * torch.einsum("shd,skd->shk", query, chosen)
    logits = logits.masked_fill((indices < 0)[:, None, :], -math.inf)
    if sink is not None:
        column = sink[None, :, None].expand(*logits.shape[:2], 1)
        logits = torch.cat([logits, column], dim=-1)
    # a finite stand-in for the peak of an empty row: -inf minus -inf would be NaN
    peak = logits.detach().amax(dim=-1, keepdim=True).clamp(min=torch.finfo(logits.dtype).min)
    share = torch.exp(logits - peak)
    total = share.sum(dim=-1, keepdim=True)
    share = share / total.clamp(min=torch.finfo(logits.dtype).tiny)
    out = torch.einsum("shk,skd->shd", share[..., : indices.shape[-1]], chosen[..., :width])
    return out, (peak / math.log(2) + torch.log2(total)).squeeze(-1)


def subtracted(whole: Tensor, grad: Tensor, scale: float) -> Tensor:
    """The size of what cancels in a query's gradient of attention over keys that are values too: [S, H].

    dq = scale * sum over i of p[i] * (grad . m[i] - grad . out) * m[i]: from a sum over keys, scale * (grad . out) times
    the mean key is taken away. Shapes: whole [S, H, D], that mean, which is `sparse_attention` with width=D, and grad
    [S, H, width], out being the first `width` columns of whole.
    """
    return scale * (grad * whole[..., : grad.shape[-1]]).sum(dim=-1).abs() * whole.norm(dim=-1)


def sinkhorn(logits: Tensor, repeat: int = 10, eps: float = 1e-6) -> Tensor:
    """Sinkhorn-Knopp: u[i] * K[i, j] * v[j], the positive matrix K scaled until its rows and columns sum to 1.

    K is the softmax of each row (last dimension), plus `eps`; K itself never changes, only its scalings do. One half
    step divides the scaling of each row, or of each column, by that row's or column's present sum plus `eps`. Columns
    come first and last: there are `repeat` half steps for columns and one fewer for rows, so that columns sum to 1 and
    rows only in the limit.

    Shapes: [..., n, n] to the same. Computed in float64, returned in the dtype of `logits`. Unit of `eps`: probability.
    Source: Sinkhorn and Knopp 1967 (doi 10.2140/pjm.1967.21.343), for residual mixing in Manifold-Constrained
    Hyper-Connections (arXiv 2512.24880, section 4.2); order of steps and place of eps as in
    https://github.com/deepseek-ai/TileKernels/blob/36d9e45d38e204ebb87e6f6e833821eee0482fe5/tile_kernels/modeling/mhc/ops/sinkhorn.py
    """
    exact = logits.double()
    positive = torch.exp(exact - torch.logsumexp(exact, dim=-1, keepdim=True)) + eps
    by_row = by_column = torch.ones_like(positive[..., 0])
    for half_step in range(1, 2 * repeat):
        if half_step % 2:
            column_sums = by_column * torch.einsum("...i,...ij->...j", by_row, positive)
            by_column = by_column / (column_sums + eps)
        else:
            row_sums = by_row * torch.einsum("...ij,...j->...i", positive, by_column)
            by_row = by_row / (row_sums + eps)
    return torch.einsum("...i,...ij,...j->...ij", by_row, positive, by_column).to(logits.dtype)
