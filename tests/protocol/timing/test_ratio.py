import itertools
import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.protocol.timing import Arm, Round, shift, speedup
from kernelarena.protocol.timing.ratio import _walsh, log_ratio, signed_rank, speedup_of_medians
from kernelarena.protocol.timing.rounds import interleaved

VALUES = st.lists(st.floats(-1, 1), min_size=8, max_size=60)


def rounds(count, ratio, noise=lambda: 1.0, seed=0, drift=0.0):
    """Rounds of a baseline that takes ``ratio`` times as long as a kernel of 1 ms, on a clock that drifts evenly."""
    found, step = [], 0
    for order in interleaved(count, Random(seed)):
        times = []
        for arm in order:
            times.append(1e-3 * (ratio if arm is Arm.BASELINE else 1.0) * noise() * (1 + drift * step))
            step += 1
        found.append(Round(order, tuple(times)))
    return found


def swapped(entries):
    other = {Arm.BASELINE: Arm.KERNEL, Arm.KERNEL: Arm.BASELINE}
    return [Round(tuple(other[arm] for arm in entry.order), entry.seconds) for entry in entries]


@pytest.mark.parametrize("count", range(1, 13))
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_the_signed_rank_is_that_of_every_assignment_of_signs(count, confidence):
    sums = [
        sum(rank for rank, up in zip(range(1, count + 1), ups, strict=True) if up)
        for ups in itertools.product((0, 1), repeat=count)
    ]
    tail = (1 - confidence) / 2 * len(sums)
    expected = max((r for r in range(max(sums) + 2) if sum(s <= r - 1 for s in sums) <= tail + 1e-9), default=0)
    assert signed_rank(count, confidence) == expected


def test_the_normal_approximation_takes_over_where_it_is_as_good(monkeypatch):
    exact = {n: signed_rank(n, 0.99) for n in (90, 100)}
    monkeypatch.setattr("kernelarena.protocol.timing.ratio.EXACT_UP_TO", 0)
    signed_rank.cache_clear()
    for n, rank in exact.items():
        assert signed_rank(n, 0.99) == pytest.approx(rank, rel=0.01)
    signed_rank.cache_clear()


@given(VALUES, st.data())
def test_walsh_averages_are_found_without_making_them(values, data):
    ordered = np.sort(np.array(values))
    every = sorted((a + b) / 2 for a, b in itertools.combinations_with_replacement(values, 2))
    rank = data.draw(st.integers(1, len(every)))
    assert _walsh(ordered, rank) == pytest.approx(every[rank - 1], abs=2e-10)


@given(VALUES, st.floats(-10, 10))
def test_the_centre_moves_with_the_values_and_mirrors_with_them(values, by):
    found, moved, mirrored = (shift(v, 0.9) for v in (values, [v + by for v in values], [-v for v in values]))
    assert found.low <= found.value <= found.high
    assert (moved.value, moved.low, moved.high) == pytest.approx(
        (found.value + by, found.low + by, found.high + by), abs=1e-8
    )
    assert (mirrored.value, mirrored.low, mirrored.high) == pytest.approx(
        (-found.value, -found.high, -found.low), abs=1e-8
    )


@given(st.floats(0.1, 10), st.floats(-1e-3, 1e-3), st.integers(0, 99))
def test_a_clock_that_drifts_evenly_cancels_out(ratio, drift, seed):
    found = speedup(rounds(20, ratio, seed=seed, drift=drift), 0.95)
    assert (found.value, found.low, found.high) == pytest.approx((ratio, ratio, ratio), rel=1e-6)


def test_arms_may_be_swapped():
    noise = np.random.default_rng(3)
    entries = rounds(60, 1.2, lambda: math.exp(0.05 * noise.standard_cauchy()))
    found, other = speedup(entries, 0.95), speedup(swapped(entries), 0.95)
    assert (other.value, other.low, other.high) == pytest.approx((1 / found.value, 1 / found.high, 1 / found.low))


def test_a_sixth_of_the_rounds_may_be_lost_to_outliers():
    entries = rounds(60, 1.05)
    wild = [
        Round(entry.order, (entry.seconds[0] * 100, *entry.seconds[1:])) if index % 6 == 0 else entry
        for index, entry in enumerate(entries)
    ]
    found = speedup(wild, 0.95)
    assert found.value == pytest.approx(1.05, rel=1e-6)


@pytest.mark.parametrize("noise", ["standard_normal", "standard_cauchy", "flips"])
def test_the_interval_covers_as_often_as_it_says(noise):
    """In 500 trials at 95 %: fewer than 455 would happen once in 50,000 times."""
    rng = np.random.default_rng(2)

    def draw():
        return math.exp(0.05 * rng.integers(2)) if noise == "flips" else math.exp(0.01 * getattr(rng, noise)())

    found = [speedup(rounds(40, 1.03, draw, seed=seed), 0.95) for seed in range(500)]
    assert sum(entry.low - 1e-9 <= 1.03 <= entry.high + 1e-9 for entry in found) >= 455


def test_too_few_rounds_are_refused():
    with pytest.raises(ValueError, match=r"7 rounds are too few for a ratio with 99.0% confidence"):
        speedup(rounds(7, 1.0), 0.99)


def test_a_round_needs_both_arms_equally_often():
    with pytest.raises(ValueError, match="2 baseline and 1 kernel runs"):
        log_ratio(Round((Arm.BASELINE, Arm.KERNEL, Arm.BASELINE), (1.0, 1.0, 1.0)))
    with pytest.raises(ValueError, match="0 baseline"):
        log_ratio(Round((Arm.KERNEL,), (1.0,)))


def test_medians_of_arms_one_after_the_other():
    rng = np.random.default_rng(5)
    found = speedup_of_medians(2 + 0.01 * rng.random(100), 1 + 0.01 * rng.random(100), 0.99)
    assert found.low <= 2 <= found.high
    assert found.precision < 0.01
