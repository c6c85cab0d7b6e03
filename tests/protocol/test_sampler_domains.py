"""Values inside a domain, indices that do not repeat, and seeds."""

from __future__ import annotations

import pytest
import torch

from kernelarena.protocol.sampler import Sampler
from kernelarena.spec import Distribution, Shape


def sampler(distribution: Distribution = Distribution.NORMAL, dtype: str = "float32", seed: int = 0) -> Sampler:
    return Sampler(Shape(dims={"M": 1}, dtype=dtype, distribution=distribution), seed)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("distribution", [one for one in Distribution if one is not Distribution.SPECIALS])
def test_a_domain_is_kept_whatever_the_distribution(distribution: Distribution, dtype: str) -> None:
    inside = sampler(distribution, dtype).within(0.25, 0.75, 64, 64).double()
    assert (inside >= 0.25).all()
    assert (inside <= 0.75).all()
    assert (sampler(distribution, dtype).above(1.0, 64, 64).double() >= 1).all()


def test_the_distribution_keeps_its_character_inside() -> None:
    def spread(distribution: Distribution) -> float:
        return float((sampler(distribution).within(-1, 1, 64, 64)).abs().median())

    assert spread(Distribution.TINY) < 1e-3 < spread(Distribution.NORMAL) < 0.9 < spread(Distribution.LARGE)
    rows = sampler(Distribution.CONSTANT_ROWS).within(2, 3, 8, 16)
    assert (rows == rows[:, :1]).all()
    specials = sampler(Distribution.SPECIALS).within(2, 3, 64, 16)
    assert not specials.isfinite().all()
    assert ((specials >= 2) & (specials <= 3))[specials.isfinite()].all()


def test_distinct_integers_do_not_repeat_in_a_row() -> None:
    index = sampler().distinct(3, 20, 50, 17, dtype="int32")
    assert index.dtype is torch.int32
    assert (index.sort(-1).values == torch.arange(3, 20)).all()
    assert not (index[0] == index).all(-1)[1:].any()
    assert sampler().distinct(0, 5, 0, 3).shape == (0, 3)
    with pytest.raises(ValueError, match=r"a row of 6 distinct integers does not fit into \[0, 5\)"):
        sampler().distinct(0, 5, 2, 6)


def test_seeds_follow_from_the_trials_and_differ() -> None:
    one, same, other = sampler(), sampler(), sampler(seed=1)
    first, second = one.seed(), one.seed()
    assert (first, second) == (same.seed(), same.seed())
    assert len({first, second, other.seed()}) == 3
    assert 0 <= first < 2**31
