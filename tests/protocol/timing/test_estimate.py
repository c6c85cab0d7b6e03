import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.protocol.timing import Estimate, median
from kernelarena.protocol.timing.estimate import median_rank

SAMPLES = st.lists(st.floats(1e-7, 1.0), min_size=8, max_size=200)


def covered(count, rank):
    """The definition: the chance that the median lies between the rank-th least and the rank-th greatest."""
    return 1 - 2 * sum(math.comb(count, k) for k in range(rank)) / 2**count


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("count", [*range(1, 60), 100, 101, 499, 1000])
def test_the_rank_is_the_greatest_that_covers(count, confidence):
    rank = median_rank(count, confidence)
    assert rank == 0 or covered(count, rank) >= confidence - 1e-12
    if 2 * (rank + 1) <= count + 1:
        assert covered(count, rank + 1) < confidence + 1e-12


def test_ranks_of_textbooks():
    """Tables of the binomial distribution give 3 of 12, 6 of 20 and 40 of 100 for 95 %."""
    assert [median_rank(n, 0.95) for n in (12, 20, 100)] == [3, 6, 40]


def test_many_samples_neither_underflow_nor_take_long():
    assert median_rank(1_000_000, 0.99) == pytest.approx(500_000 - 2.5758 / 2 * 1000, abs=2)


@given(SAMPLES, st.sampled_from([0.9, 0.95, 0.99]))
def test_the_interval_encloses_the_median_and_is_made_of_samples(samples, confidence):
    found = median(samples, confidence)
    assert found.low <= found.value <= found.high
    assert {found.low, found.high} <= set(samples)


@given(SAMPLES, st.floats(0.01, 100), st.randoms())
def test_units_and_order_do_not_matter(samples, factor, shuffler):
    found = median(samples, 0.95)
    scaled = [sample * factor for sample in samples]
    shuffler.shuffle(scaled)
    other = median(scaled, 0.95)
    assert (other.value, other.low, other.high) == pytest.approx(
        (found.value * factor, found.low * factor, found.high * factor)
    )


@pytest.mark.parametrize("draw", ["standard_cauchy", "standard_exponential", "standard_normal"])
def test_it_covers_as_often_as_it_says_whatever_the_distribution(draw):
    rng = np.random.default_rng(1)
    truth = {"standard_cauchy": 0.0, "standard_exponential": math.log(2), "standard_normal": 0.0}[draw]
    intervals = [median(getattr(rng, draw)(41), 0.9) for _ in range(2000)]
    hits = sum(found.low <= truth <= found.high for found in intervals)
    assert hits >= 0.9 * 2000 - 3 * math.sqrt(2000 * 0.9 * 0.1)


def test_one_outlier_moves_nothing():
    samples = [1.0 + 0.001 * i for i in range(100)]
    calm, wild = median(samples, 0.99), median([*samples[:-1], 1e9], 0.99)
    assert (calm.value, calm.low, calm.high) == (wild.value, wild.low, wild.high)


def test_too_few_samples_are_refused():
    with pytest.raises(ValueError, match=r"7 samples are too few for a median with 99.0% confidence"):
        median([1.0] * 7, 0.99)
    with pytest.raises(ValueError, match="0 samples"):
        median([], 0.5)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, 95.0, float("nan")])
def test_a_confidence_is_between_0_and_1(confidence):
    with pytest.raises(ValueError, match="between 0 and 1"):
        median_rank(10, confidence)


def test_precision_is_half_the_width():
    assert Estimate(2.0, 1.9, 2.2, 0.95, 10).precision == pytest.approx(0.075)
    assert Estimate(0.0, -1.0, 1.0, 0.95, 10).precision == math.inf
