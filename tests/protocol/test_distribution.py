"""Samples of a law pass at any size and dtype; what is drawn from another one, or not drawn at all, does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from kernelarena.protocol.distribution import FALSE_ALARMS, compare, dependent, drawn, refused
from kernelarena.spec import Reason
from kernelarena.spec.law import Law

Draw = Callable[[tuple[int, ...], torch.dtype, torch.Generator], Tensor]


def _poisson(size: tuple[int, ...], dtype: torch.dtype, numbers: torch.Generator) -> Tensor:
    return torch.poisson(torch.full(size, 3.0), generator=numbers).to(dtype)


LAWS: dict[str, tuple[Law, Draw]] = {
    "bernoulli": (
        Law(name="bernoulli", p=0.3),
        lambda size, dtype, numbers: torch.empty(size, dtype=dtype).bernoulli_(0.3, generator=numbers),
    ),
    "exponential": (
        Law(name="exponential", rate=1.5),
        lambda size, dtype, numbers: torch.empty(size, dtype=dtype).exponential_(1.5, generator=numbers),
    ),
    "normal": (
        Law(name="normal", mean=1.0, deviation=2.0),
        lambda size, dtype, numbers: torch.empty(size, dtype=dtype).normal_(1, 2, generator=numbers),
    ),
    "poisson": (Law(name="poisson", rate=3.0), _poisson),
    "uniform": (
        Law(name="uniform", low=-1.0, high=3.0),
        lambda size, dtype, numbers: torch.empty(size, dtype=dtype).uniform_(-1, 3, generator=numbers),
    ),
}
SIZE = (64, 256)


def sample(name: str, size: tuple[int, ...] = SIZE, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    return LAWS[name][1](size, dtype, torch.Generator().manual_seed(seed))


def why(name: str, values: Tensor) -> str | None:
    return refused(drawn(LAWS[name][0], {}, values), values.shape[-1])


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_samples_pass_however_few_elements_and_however_coarse_the_dtype(name: str, dtype: torch.dtype) -> None:
    law = LAWS[name][0]
    for size in ((1, 1), (2, 3), (7, 31), SIZE, (100, 1000)):
        one, other = (sample(name, size, dtype, seed) for seed in (1, 2))
        assert why(name, one) is None
        assert dependent(drawn(law, {}, one), drawn(law, {}, other)) is None


def test_false_alarms_are_as_rare_as_is_claimed() -> None:
    """At a thousand times the rate, of 400 samples of few elements, where limits of many would be off."""
    from kernelarena.protocol import distribution

    def alarms(name: str) -> int:
        return sum(why(name, sample(name, (1, 5), seed=seed)) is not None for seed in range(400))

    before, distribution.FALSE_ALARMS = FALSE_ALARMS, 0.05
    try:
        assert {name: found for name in LAWS if (found := alarms(name)) > 0.05 * 400 + 5 * math.sqrt(0.05 * 400)} == {}
    finally:
        distribution.FALSE_ALARMS = before


WRONG: dict[str, Callable[[Tensor], Tensor]] = {
    "zeros": torch.zeros_like,
    "one number for all": lambda y: y[:1, :1].expand(y.shape).contiguous(),
    "the same row": lambda y: y[:1].expand(y.shape).contiguous(),
    "every tile of 128 the same": lambda y: y.view(-1, 128)[:1].expand(y.numel() // 128, 128).reshape(y.shape),
    "each number twice": lambda y: y.view(-1)[torch.arange(y.numel()) // 2].view(y.shape),
    "sorted": lambda y: y.view(-1).sort().values.view(y.shape),
    "scaled by a tenth too much": lambda y: y * 1.1,
    "one element impossible": lambda y: torch.where(torch.arange(y.numel()).view(y.shape) == 5, math.inf, y),
    "nan": lambda y: torch.full_like(y, math.nan),
    "a tail unwritten": lambda y: torch.where(torch.arange(y.numel()).view(y.shape) < 0.9 * y.numel(), y, 0.0),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_sample_is_refused(name: str, wrong: str) -> None:
    assert why(name, WRONG[wrong](sample(name)))


def test_a_kernel_that_draws_from_a_law_with_the_right_moments_is_refused() -> None:
    uniform = (sample("uniform", (64, 1024)) - 1) / math.sqrt(16 / 12) * 2 + 1  # the normal law's mean and deviation
    found = why("normal", uniform)
    assert found is not None
    assert "distribution function" in found


def test_parameters_may_differ_from_element_to_element() -> None:
    p = torch.linspace(0.05, 0.95, 256).expand(SIZE)
    numbers = torch.Generator().manual_seed(0)
    law, inputs = Law(name="bernoulli", p="p"), {"p": p}
    assert compare(law, inputs, [torch.bernoulli(p, generator=numbers)]).passed
    found = compare(law, inputs, [torch.bernoulli(p.flip(1), generator=numbers)])
    assert found.reason is Reason.MISMATCH
    assert "do not follow their own parameters" in found.detail


def test_another_rate_for_each_element_is_held_against_its_own() -> None:
    rate = torch.linspace(0.2, 5.0, 256).expand(SIZE)
    law, inputs = Law(name="exponential", rate="rate"), {"rate": rate}
    unit: Any = sample("exponential") * 1.5
    assert compare(law, inputs, [unit / rate]).passed
    found = compare(law, inputs, [unit / rate.flip(1)])
    assert found.reason is Reason.MISMATCH


@pytest.mark.parametrize("name", LAWS)
def test_seeds_must_matter(name: str) -> None:
    law, one = LAWS[name][0], sample(name)
    assert dependent(drawn(law, {}, one), drawn(law, {}, one.clone())) == "two seeds give the same elements"
    half = torch.where(torch.arange(256) < 128, one, sample(name, seed=1))
    found = dependent(drawn(law, {}, one), drawn(law, {}, half))
    assert found == "elements at the same place are correlated under two seeds"


def test_few_equal_elements_prove_nothing() -> None:
    law, ones = Law(name="bernoulli", p=0.999), torch.ones(100)
    assert dependent(drawn(law, {}, ones), drawn(law, {}, ones)) is None
    assert dependent(drawn(law, {}, torch.ones(0)), drawn(law, {}, torch.ones(0))) is None
