"""The references of serving's operators against what their titles promise, written out once more by loops and NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from kernelarena.spec import Distribution, Shape
from tests.tasks.conftest import operator
from tests.tasks.test_definitions import close, drawn


def test_silu_and_mul() -> None:
    (x,), (y,) = drawn("silu_and_mul", dims={"T": 5, "D": 12})
    hidden, gate = x[:, :12], x[:, 12:]
    close(y, hidden / (1 + np.exp(-hidden)) * gate)


def test_rotary_embedding_gptj() -> None:
    (q, k, cos, sin), outputs = drawn("rotary_embedding_gptj", dims={"T": 5, "H": 4, "G": 2, "D": 6})
    turn = (cos + 1j * sin)[:, None, :]
    for x, y in zip((q, k), outputs, strict=True):
        turned = (x[..., ::2] + 1j * x[..., 1::2]) * turn
        close(y[..., ::2], turned.real)
        close(y[..., 1::2], turned.imag)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["int8_quantise", "int8_quantise_rows"])
def test_no_value_is_half_way_between_two_integers(name: str, dtype: str) -> None:
    op = operator(name)
    inputs = op.draw(dtype, dims={"M": 32, "N": 1024})
    x = inputs["x"].double()
    steps = x / inputs.get("scale", x.abs().amax(1, keepdim=True) / 127)
    assert ((steps - steps.floor() - 0.5).abs() > 0.9e-3).all()
    assert (x == 0).double().mean() < 0.05


def test_int8_quantise_rows() -> None:
    (x,), (q, scale) = drawn("int8_quantise_rows", dims={"M": 5, "N": 12})
    close(scale, np.abs(x).max(1) / 127)
    assert np.abs(q).max(1).tolist() == [127] * 5
    assert (np.abs(q * scale[:, None] - x) <= scale[:, None] / 2).all()


def test_int8_quantise_saturates() -> None:
    op = operator("int8_quantise")
    x = torch.tensor([[-1000.0, -127.4, -0.6, 0.0, 0.4, 126.7, 200.0]])
    q = op.reference(x, torch.tensor([1.0]))
    assert q.tolist() == [[-128, -127, -1, 0, 0, 127, 127]]
    assert op.reference(x, torch.tensor([0.5])).tolist() == [[-128, -128, -1, 0, 1, 127, 127]]


@pytest.mark.parametrize(("flavour", "limit"), [("float8_e4m3fn", 448.0), ("float8_e4m3fnuz", 240.0)])
def test_fp8_quantise(flavour: str, limit: float) -> None:
    flavours = {"float8_e4m3": flavour}
    (x, scale, _), (q,) = drawn("fp8_quantise", dims={"M": 5, "N": 12}, dtypes=lambda dtype: flavours.get(dtype, dtype))
    held = np.clip(x / scale, -limit, limit)
    step = 2.0 ** np.maximum(np.floor(np.log2(np.abs(held))) - 3, -10)
    assert (np.abs(q - held) <= step / 2).all()


def test_moe_sum() -> None:
    (x,), (y,) = drawn("moe_sum", dims={"T": 5, "K": 3, "D": 7})
    close(y, np.einsum("tkd->td", x))


def test_merge_attention_states_is_attention_to_both_parts() -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(9, 3, 8, generator=generator, dtype=torch.float64)
    values = torch.randn(9, 3, 8, 5, generator=generator, dtype=torch.float64)

    def attended(part: slice) -> tuple[torch.Tensor, torch.Tensor]:
        weights = scores[..., part].softmax(-1)
        return (weights[..., None] * values[..., part, :]).sum(-2), scores[..., part].logsumexp(-1).T

    merged = operator("merge_attention_states").reference(*attended(slice(0, 3)), *attended(slice(3, 8)))
    for one, other in zip(merged, attended(slice(0, 8)), strict=True):
        close(one.numpy(), other.numpy())


def test_without_a_prefix_the_suffix_stands_alone() -> None:
    (_, prefix_lse, suffix, suffix_lse), (o, lse) = drawn("merge_attention_states", dims={"T": 15, "H": 2, "D": 3})
    assert np.isneginf(prefix_lse).sum() == 4
    close(o[6::7], suffix[6::7])
    close(lse[:, 6::7], suffix_lse[:, 6::7])


def test_repetition_penalties() -> None:
    (logits, prompt, output, penalty), (y,) = drawn("repetition_penalties", dims={"B": 3, "V": 40})
    for row, column in np.ndindex(*logits.shape):
        x, p = logits[row, column], penalty[row]
        seen = prompt[row, column] or output[row, column]
        assert y[row, column] == pytest.approx((x / p if x > 0 else x * p) if seen else x, rel=1e-12)


@pytest.mark.parametrize("tokens", [6, 7])
@pytest.mark.parametrize("distribution", [Distribution.NORMAL, Distribution.CONSTANT_ROWS, Distribution.TINY])
def test_topk_softmax(tokens: int, distribution: Distribution) -> None:
    (logits, top_k, renormalise), (weights, ids) = drawn(
        "topk_softmax", "bfloat16", dims={"T": tokens, "E": 60, "K": 4}, distribution=distribution
    )
    assert renormalise == (tokens == 6)
    for x, row_weights, row_ids in zip(logits, weights, ids, strict=True):
        best = sorted(range(60), key=lambda expert: (-x[expert], expert))[:top_k]
        assert row_ids.tolist() == best
        expected = np.exp(x[best]) / np.exp(x[best] if renormalise else x).sum()
        close(row_weights, expected)


@pytest.mark.parametrize("distribution", [Distribution.NORMAL, Distribution.CONSTANT_ROWS, Distribution.LARGE])
def test_grouped_topk(distribution: Distribution) -> None:
    dims = {"T": 5, "G": 4, "M": 2, "K": 3, "P": 6}
    (scores, bias, top_groups, top_k, scaling), (weights, ids) = drawn(
        "grouped_topk", dims=dims, distribution=distribution
    )
    for own, row_weights, row_ids in zip(scores, weights, ids, strict=True):
        biased = own + bias
        strength = [sum(sorted(group)[-2:]) for group in biased]
        groups = sorted(range(4), key=lambda group: (-strength[group], group))[:top_groups]
        members = [(group, member) for group in sorted(groups) for member in range(6)]
        best = sorted(members, key=lambda place: (-biased[place], place))[:top_k]
        assert row_ids.tolist() == [group * 6 + member for group, member in best]
        chosen = np.array([own[place] for place in best])
        close(row_weights, chosen / chosen.sum() * scaling)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_moe_align_block_size(dtype: str) -> None:
    (ids, experts, block), (order, owners, padded) = drawn(
        "moe_align_block_size", dtype, dims={"T": 29, "K": 3, "E": 7, "P": 16}
    )
    expected: list[int] = []
    blocks: list[int] = []
    for expert in range(experts):
        mine = [pair for pair, owner in enumerate(ids.ravel()) if owner == expert]
        mine += [ids.size] * (-len(mine) % block)
        expected += mine
        blocks += [expert] * (len(mine) // block)
    assert padded.tolist() == [len(expected)]
    assert order.tolist() == expected + [ids.size] * (len(order) - len(expected))
    assert owners.tolist() == blocks + [-1] * (len(owners) - len(blocks))


def test_some_experts_are_favoured() -> None:
    ids = operator("moe_align_block_size").draw("int64", dims={"T": 512, "K": 8, "E": 64, "P": 16})["ids"]
    counts = ids.flatten().bincount(minlength=64)
    assert counts[0] > 4 * counts.double().mean()


def test_causal_conv1d_update_is_the_last_step_of_a_convolution() -> None:
    (x, state, weight, bias), (y, after) = drawn("causal_conv1d_update", dims={"B": 3, "W": 4, "D": 5})
    window = np.concatenate([state, x[..., None]], -1)
    full = torch.conv1d(torch.tensor(window), torch.tensor(weight)[:, None], torch.tensor(bias), groups=5)[..., 0]
    close(y, torch.nn.functional.silu(full).numpy())
    close(after, window[..., 1:])


def test_selective_scan() -> None:
    (u, delta, a, b, c, skip), (y, state) = drawn("selective_scan", dims={"B": 2, "L": 5, "D": 3, "N": 8})
    for batch, channel in np.ndindex(2, 3):
        h = np.zeros(8)
        for token in range(5):
            step = np.log1p(np.exp(delta[batch, token, channel]))
            h = np.exp(step * a[channel]) * h + step * b[batch, token] * u[batch, token, channel]
            close(y[batch, token, channel], c[batch, token] @ h + skip[channel] * u[batch, token, channel])
        close(state[batch, channel], h)


def test_min_p() -> None:
    (logits, threshold), (y,) = drawn("min_p", dims={"B": 4, "V": 300})
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    kept = np.where(p >= threshold[:, None] * p.max(1, keepdims=True), p, 0)
    close(y, kept / kept.sum(1, keepdims=True))
    assert (np.count_nonzero(y, axis=1) < 300).all()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_no_probability_just_reaches_the_threshold(dtype: str) -> None:
    inputs = operator("min_p").draw(dtype, dims={"B": 8, "V": 4096})
    logits = inputs["logits"].double()
    margin = logits - logits.amax(1, keepdim=True) - inputs["threshold"].double().log()[:, None]
    assert margin.abs().min() > 4e-4


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_sample_top_k(dtype: str) -> None:
    (logits, noise, top_k), (token, logprob) = drawn("sample_top_k", dtype, dims={"B": 6, "V": 500})
    for row, x in enumerate(logits):
        best = np.argsort(-x, kind="stable")[: top_k[row]]
        assert token[row] == best[np.argmax((x + noise[row])[best])]
        assert np.count_nonzero(x >= x[best].min()) == top_k[row]
        close(logprob[row], x[[int(token[row])]] - np.log(np.exp(x).sum()))


def test_noise_makes_draws_of_the_softmax() -> None:
    inputs = operator("sample_top_k").draw("float32", dims={"B": 4000, "V": 3})
    inputs["logits"].copy_(torch.tensor([2.0, 1.0, 0.0]))
    token, _ = operator("sample_top_k").reference(inputs["logits"], inputs["noise"], inputs["top_k"].fill_(2))
    share = 1 / (1 + math.exp(-1))  # of the first two
    counts = token.bincount(minlength=3)
    assert counts[2] == 0
    assert abs(float(counts[0]) / 4000 - share) < 5 * math.sqrt(share * (1 - share) / 4000)


def test_paged_attention() -> None:
    dims = {"S": 3, "G": 2, "R": 3, "P": 16, "D": 64, "W": 3}
    (q, keys, values, table, lengths), (o,) = drawn("paged_attention", "float16", dims=dims)
    assert len(set(table.ravel())) == table.size
    for sequence, head in np.ndindex(3, 6):
        slots = [(table[sequence, key // 16], key % 16, head // 3) for key in range(lengths[sequence])]
        scores = np.array([keys[slot] @ q[sequence, head] for slot in slots]) / 8
        weights = np.exp(scores) / np.exp(scores).sum()
        close(o[sequence, head], sum(weight * values[slot] for weight, slot in zip(weights, slots, strict=True)))


@pytest.mark.parametrize("sequences", [1, 2, 5, 8])
@pytest.mark.parametrize("pages", [1, 2, 7])
def test_the_work_of_paged_attention_is_that_of_its_lengths(sequences: int, pages: int) -> None:
    op = operator("paged_attention")
    dims = {"S": sequences, "G": 1, "R": 1, "P": 16, "D": 64, "W": pages}
    lengths = op.draw("float16", dims=dims)["lengths"]
    assert lengths.min() >= pages * 8
    assert lengths.max() <= pages * 16
    tokens = op.task.flops(Shape(dims=dims, dtype="float16")) / (4 * 64 + 5)
    slack = int(lengths.sum()) - tokens
    assert slack == 0 if sequences % 2 == 0 else 0 <= slack < 16


def test_grouped_query_attention() -> None:
    dims = {"B": 2, "G": 2, "R": 3, "D": 64, "C": 4, "S": 3}
    (q, k, v), (o,) = drawn("grouped_query_attention", "float16", dims=dims)
    for batch, query, head in np.ndindex(2, 3, 6):
        seen = slice(0, 4 + query + 1)
        scores = k[batch, seen, head // 3] @ q[batch, query, head] / 8
        weights = np.exp(scores) / np.exp(scores).sum()
        close(o[batch, query, head], weights @ v[batch, seen, head // 3])


def test_scaled_matmul_int8() -> None:
    (a, b, a_scale, b_scale, bias), (c,) = drawn("scaled_matmul_int8", "float16", dims={"M": 5, "N": 12, "K": 70})
    sums = a.astype(np.int64) @ b.astype(np.int64).T
    assert np.abs(sums).max() > 1000
    close(c, sums * np.outer(a_scale, b_scale) + bias)


def test_scaled_matmul_fp8() -> None:
    (a, b, a_scale, b_scale, bias), (c,) = drawn("scaled_matmul_fp8", "bfloat16", dims={"M": 5, "N": 12, "K": 70})
    close(c, np.einsum("mk,nk->mn", a, b) * np.outer(a_scale, b_scale) + bias)


ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
"""Columns in the order in which AWQ packs them, the lowest four bits first."""


def packed(codes: np.ndarray) -> torch.Tensor:
    words = np.zeros((codes.shape[0], codes.shape[1] // 8), np.int64)
    for place, column in enumerate(ORDER):
        words |= codes[:, column::8] << 4 * place
    return torch.tensor(words.astype(np.uint32).view(np.int32))


def test_awq_weights_are_those_that_were_packed() -> None:
    numbers = np.random.default_rng(0)
    codes, zeros = numbers.integers(0, 16, (64, 24)), numbers.integers(0, 16, (2, 24))
    scale, x = numbers.normal(size=(2, 24)), numbers.normal(size=(5, 64))
    weights = (codes - zeros.repeat(32, 0)) * scale.repeat(32, 0)
    given = packed(codes), torch.tensor(scale), packed(zeros)
    close(operator("awq_dequantise").reference(*given).numpy(), weights)
    close(operator("awq_matmul").reference(torch.tensor(x), *given).numpy(), x @ weights)


def test_reshape_and_cache() -> None:
    (keys, values, slots, cache), (after,) = drawn("reshape_and_cache", dims={"T": 20, "N": 3, "P": 16, "G": 2, "D": 5})
    expected = cache.copy()
    for token, slot in enumerate(slots):
        assert (slot < 0) == (token % 7 == 6)
        if slot >= 0:
            expected[:, slot // 16, slot % 16] = keys[token], values[token]
    close(after, expected)
