"""Sums in other orders, other precisions and one term short, inside operators that PyTorch computes in one piece."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from kernelarena.protocol.other_arithmetic import STEPS, OtherArithmetic, Rules, composed, to_tf32
from tests.protocol import rounding

N = 700


def rows(*size: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed))


OPERATORS = {
    "sum": lambda x: x.sum(-1),
    "sum of rows": lambda x: x.sum(0, keepdim=True),
    "sum of all": lambda x: x.sum(),
    "mean": lambda x: x.mean((0, 1)),
    "variance": lambda x: x.var(-1),
    "variance of all": lambda x: torch.var(x, unbiased=False),
    "deviation": lambda x: x.std(-1, correction=2),
    "norm": lambda x: x.norm(dim=-1),
    "softmax": lambda x: torch.softmax(x, -1),
    "logsumexp": lambda x: x.logsumexp(-1),
    "layer norm": lambda x: F.layer_norm(x, (x.shape[-1],)),
    "rms norm": lambda x: F.rms_norm(x, (x.shape[-1],)),
    "cross entropy": lambda x: F.cross_entropy(x, torch.arange(x.shape[0]), reduction="none"),
    "cumsum": lambda x: x.cumsum(-1),
    "cumsum of columns": lambda x: x.cumsum(0),
    "product": lambda x: x @ x.t(),
    "linear": lambda x: F.linear(x, x, x[:, 0].contiguous()),
    "batched product": lambda x: torch.bmm(x.view(4, 2, -1), x.view(4, -1, 2)),
    "vector product": lambda x: x @ x[0],
    "attention": lambda x: F.scaled_dot_product_attention(*[x.reshape(1, 1, -1, 28)] * 3, is_causal=True),
}


def computed(name: str, x: torch.Tensor, rules: Rules) -> torch.Tensor:
    mode = OtherArithmetic(rules)
    with composed(), mode:
        result = OPERATORS[name](x)
    assert mode.used
    return result


def error(y: torch.Tensor, t: torch.Tensor) -> float:
    return float((y.double() - t).norm() / t.norm())


@pytest.mark.parametrize("name", OPERATORS)
def test_a_chain_in_float32_is_right_and_one_in_half_is_not(name):
    x = rows(8, N)
    t = OPERATORS[name](x.double())
    single, half = (computed(name, x, Rules(accumulator=dtype)) for dtype in (torch.float32, torch.float16))
    assert single.shape == half.shape == t.shape
    assert single.dtype is half.dtype is torch.float32
    assert error(single, t) < 1e-5
    assert error(half, t) > 30 * max(error(single, t), 1e-7)


@pytest.mark.parametrize("name", ["sum", "cumsum", "product"])
def test_chains_longer_than_the_bound_are_chains_of_partial_sums(name):
    x = rows(2, 3 * STEPS + 17)
    t = OPERATORS[name](x.double())
    assert error(computed(name, x, Rules(accumulator=torch.float32)), t) < 1e-5
    assert error(computed(name, x, Rules(accumulator=torch.bfloat16)), t) > 1e-3


def test_one_term_short_leaves_out_the_last():
    x = rows(6, N)
    rules = Rules(one_short=True)
    assert torch.equal(computed("sum", x, rules), x[:, :-1].sum(-1))
    assert torch.equal(computed("product", x, rules), x[:, :-1] @ x[:, :-1].t())
    powers = torch.exp(x - x.amax(-1, keepdim=True))
    torch.testing.assert_close(computed("softmax", x, rules), powers / powers[:, :-1].sum(-1, keepdim=True))
    running = computed("cumsum", x, rules)
    assert torch.equal(running[:, :-1], x.cumsum(-1)[:, :-1])
    assert torch.equal(running[:, -1], running[:, -2])


def test_tf32_rounds_the_factors():
    x = rows(6, N)
    assert torch.equal(to_tf32(x), rounding.to_tf32(x))
    assert torch.equal(computed("product", x, Rules(tf32=True)), rounding.to_tf32(x) @ rounding.to_tf32(x).t())
    special = torch.tensor([float("inf"), -float("inf"), float("nan"), 0.0, -0.0])
    assert torch.equal(to_tf32(special).nan_to_num(7.0), special.nan_to_num(7.0))


def test_narrow_intermediates_are_rounded_wherever_they_are_wider():
    x = rows(6, N)
    result = computed("layer norm", x, Rules(narrow=torch.bfloat16))
    assert torch.equal(result, result.bfloat16().float())
    assert 1e-3 < error(result, OPERATORS["layer norm"](x.double())) < 2e-2
    mode = OtherArithmetic(Rules(narrow=torch.float16))
    with mode:
        x.bfloat16() * 2
        torch.arange(4) + 1
    assert not mode.used


@pytest.mark.parametrize("rules", [Rules(accumulator=torch.float16), Rules(one_short=True), Rules(tf32=True)])
def test_what_adds_nothing_up_is_left_alone(rules):
    x = rows(6, N)
    mode = OtherArithmetic(rules)
    with mode:
        y = torch.relu(x.t().contiguous()).amax(-1), x.argmax(-1), x.half().float() * 2, torch.ones(3, dtype=int).sum()
    assert not mode.used
    assert torch.equal(y[0], torch.relu(x.t()).amax(-1))
