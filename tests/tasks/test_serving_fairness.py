"""Honest kernels that take another way than the shipped ones are right too, where values decide between integers.

Which integer is nearest, which logit is largest and which probability reaches a threshold depends on the last digits of
how one computes. Tasks that return such decisions draw inputs on which no rounding decides.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from kernelarena.protocol.sampler import Sampler
from kernelarena.protocol.tolerance import compare
from kernelarena.protocol.truth import truth
from kernelarena.spec import Shape
from tests.tasks.conftest import operator


def rows_by_the_inverse_of_the_scale(x: Tensor) -> tuple[Tensor, Tensor]:
    largest = x.float().abs().amax(1).clamp(min=1e-12)
    return (x.float() * (127 / largest)[:, None]).round().to(torch.int8), largest * (1 / 127)


def rows_with_halves_away_from_zero(x: Tensor) -> tuple[Tensor, Tensor]:
    scale = x.float().abs().amax(1).clamp(min=1e-12) / 127
    steps = x.float() / scale[:, None]
    return (steps + 0.5 * steps.sign()).trunc().to(torch.int8), scale


def all_by_the_inverse_of_the_scale(x: Tensor, scale: Tensor) -> Tensor:
    return (x.float() * (1 / scale)).round().clamp(-128, 127).to(torch.int8)


def experts_by_probability(logits: Tensor, top_k: int, renormalise: bool) -> tuple[Tensor, Tensor]:
    x = logits.float() * 1.4426950408889634
    p = torch.exp2(x - x.amax(1, keepdim=True))
    p = p / p.sum(1, keepdim=True)
    weights, ids = (found[:, :top_k] for found in p.sort(dim=1, descending=True, stable=True))
    return (weights / weights.sum(1, keepdim=True) if renormalise else weights), ids.int()


def groups_by_their_largest_two(
    scores: Tensor, bias: Tensor, top_groups: int, top_k: int, scaling: float
) -> tuple[Tensor, Tensor]:
    biased = scores.float() + bias
    first, second = biased.topk(2, dim=-1).values.unbind(-1)
    groups = (second + first).sort(dim=1, descending=True, stable=True).indices[:, :top_groups]
    kept = torch.full_like(biased, -torch.inf)
    for token, chosen in enumerate(groups):
        kept[token, chosen] = biased[token, chosen]
    ids = kept.flatten(1).sort(dim=1, descending=True, stable=True).indices[:, :top_k]
    weights = scores.float().flatten(1).gather(1, ids)
    return weights * (scaling / (weights.sum(1, keepdim=True) + 1e-20)), ids.int()


def probabilities_then_threshold(logits: Tensor, threshold: Tensor) -> Tensor:
    p = torch.softmax(logits.float(), dim=1)
    p = torch.where(p / p.amax(1, keepdim=True) >= threshold[:, None], p, 0.0)
    return (p / p.sum(1, keepdim=True)).to(logits.dtype)


def sorted_then_sampled(logits: Tensor, noise: Tensor, top_k: Tensor) -> tuple[Tensor, Tensor]:
    ranked, order = logits.float().sort(dim=1, descending=True, stable=True)
    candidates = torch.arange(logits.shape[1]) < top_k[:, None]
    keys = torch.where(candidates, ranked + noise.gather(1, order), -torch.inf)
    token = order.gather(1, keys.argmax(1, keepdim=True))
    return token[:, 0], logits.float().gather(1, token) - logits.float().logsumexp(1, keepdim=True)


@pytest.mark.parametrize(
    ("name", "answer", "dims"),
    [
        ("int8_quantise_rows", rows_by_the_inverse_of_the_scale, {"M": 32, "N": 2048}),
        ("int8_quantise_rows", rows_with_halves_away_from_zero, {"M": 32, "N": 2048}),
        ("int8_quantise", all_by_the_inverse_of_the_scale, {"M": 32, "N": 2048}),
        ("topk_softmax", experts_by_probability, {"T": 256, "E": 128, "K": 8}),
        ("grouped_topk", groups_by_their_largest_two, {"T": 256, "G": 8, "M": 4, "K": 8, "P": 32}),
        ("min_p", probabilities_then_threshold, {"B": 8, "V": 8192}),
        ("sample_top_k", sorted_then_sampled, {"B": 32, "V": 2000}),
    ],
)
def test_another_way_of_computing_is_as_right(name: str, answer: Callable[..., object], dims: dict[str, int]) -> None:
    op = operator(name)
    for dtype in op.task.dtypes:
        for seed, distribution in enumerate(op.task.distributions):
            shape = Shape(dims=dims, dtype=dtype, distribution=distribution)
            inputs = op.inputs(shape, Sampler(shape, seed))
            given = answer(**inputs)
            found = compare(truth(op.reference, inputs, seed=0), given if isinstance(given, tuple) else (given,))
            assert found.passed, f"{dtype} {distribution}: {found.detail}"
