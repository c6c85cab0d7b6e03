from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelarena.metrics.comparison import Pace, compare, decide, time_changes
from kernelarena.spec import Evidence, TimedShape
from kernelarena.spec.catalogue import load_tasks
from tests.metrics.comparison.conftest import measured, run, timed
from tests.metrics.conftest import cell

WIDE = 2 * 2.5758293035489004
"""Standard errors in a 99 % interval."""


def paces(base, new, **versions):
    found = compare(run([measured("a", "p", *base)]), run([measured("a", "p", *new)], **versions))
    return [change.pace for change in found.times]


def test_slower_and_faster_beyond_noise():
    assert paces([timed(1, 2.0)], [timed(1, 1.8)]) == [Pace.SLOWER]
    assert paces([timed(1, 2.0)], [timed(1, 2.2)]) == [Pace.FASTER]
    assert paces([timed(1, 2.0)], [timed(1, 2.0)]) == [Pace.NONE]


def test_both_noise_floors_count():
    assert paces([timed(1, 1.0, 1e-6)], [timed(1, 1 / 1.03, 1e-6)]) == [Pace.SLOWER]
    assert paces([timed(1, 1.0, 1e-6, noise=0.02)], [timed(1, 1 / 1.03, 1e-6, noise=0.02)]) == [Pace.NONE]


def test_a_chip_that_is_slower_on_that_day_slows_nobody():
    (change,) = time_changes(
        measured("a", "p", timed(1, 2.0, seconds=1e-4)),
        measured("a", "p", timed(1, 2.0, seconds=2e-4)),
        same_baseline=True,
    )
    assert change.relative
    assert change.ratio == 1.0
    assert (change.base_seconds, change.new_seconds) == (5e-5, 1e-4)


def test_another_baseline_is_no_unit():
    # a quicker baseline makes the speedup fall; the kernel is as it was
    base, new = [timed(1, 2.0, seconds=1e-4)], [timed(1, 1.0, seconds=0.5e-4)]
    assert paces(base, new) == [Pace.SLOWER]
    assert paces(base, new, versions={"torch": "2.14.0"}) == [Pace.NONE]


def test_a_baseline_is_what_its_program_says_and_not_its_name():
    """The kernel is as fast as it was; what it was optimised from, or what its task ships, has become quicker."""
    before, after = (
        run([measured("a", "p", timed(1, speedup, seconds=seconds))])
        for speedup, seconds in ((2.0, 1e-4), (1.0, 0.5e-4))
    )
    original = {"original": "slow.py::f", "files": {"k.py": "", "slow.py": "1"}}
    kernel = before.kernels["a"].model_copy(update=original)
    quicker = kernel.model_copy(update={"files": {"k.py": "", "slow.py": "2"}})
    again = kernel.model_copy(update={"files": {"k.py": "2", "slow.py": "1"}})

    def pace(old, now):
        runs = (data.model_copy(update={"kernels": {"a": one}}) for data, one in ((before, old), (after, now)))
        return compare(*runs).times[0].pace

    assert pace(kernel, kernel) is Pace.SLOWER
    assert pace(kernel, again) is Pace.SLOWER, "what it became is what is compared"
    assert pace(kernel, quicker) is Pace.NONE

    task = load_tasks()["softmax"]
    runs = (
        data.model_copy(update={"tasks": {"softmax": task.model_copy(update={"kernels": (shipped,)})}})
        for data, shipped in ((before, kernel), (after, quicker))
    )
    assert compare(*runs).times[0].pace is Pace.NONE


def test_the_p_value_is_that_of_the_formula():
    width = math.exp(0.01 * WIDE / 2) - 1  # a standard error of 0.01 in either run
    (change,) = time_changes(
        measured("a", "p", timed(1, 1.0, width, noise=0.0)),
        measured("a", "p", timed(1, math.exp(-0.02 * math.sqrt(2)), width, noise=0.0)),
        same_baseline=True,
    )
    assert change.p == pytest.approx(0.0455, abs=1e-4)  # two standard errors of the difference
    assert change.ratio == pytest.approx(math.exp(0.02 * math.sqrt(2)))


def test_shapes_are_matched_and_untimed_ones_left_out():
    nothing = TimedShape(shape=timed(3, 1.0).shape)
    odd = timed(4, 1.0).model_copy(update={"speedup": timed(4, 1.0).speedup.model_copy(update={"ci": (0.0, math.inf)})})
    assert paces([timed(1, 1.0), timed(2, 1.0), nothing, odd], [timed(2, 1.0), timed(3, 1.0), odd]) == [Pace.NONE]


def test_only_what_was_measured_on_both_sides_is_compared():
    base = measured("a", "p", timed(1, 2.0))
    new = cell("a", "p", evidence=Evidence.COMPILED, timings=(timed(1, 1.0),))
    assert compare(run([base]), run([new])).times == ()


def test_intervals_of_claims_are_wider_the_rarer_claims_are():
    base = [timed(m, 1.0) for m in range(1, 51)]
    alone = compare(run([measured("a", "p", base[0])]), run([measured("a", "p", timed(1, 0.9))])).times[0]
    among = compare(run([measured("a", "p", *base)]), run([measured("a", "p", timed(1, 0.9), *base[1:])])).times[0]
    assert alone.pace is among.pace is Pace.SLOWER
    assert alone.low > among.low
    assert alone.high < among.high
    assert among.low < among.ratio < among.high


@pytest.mark.parametrize("rate", [0.0, 1.0, -1.0])
def test_no_rate(rate):
    with pytest.raises(ValueError, match="a rate of false claims is between 0 and 1"):
        decide([], rate)
    assert decide([]) == []


def _changes(p_values):
    (change,) = time_changes(measured("a", "p", timed(1, 1.0)), measured("a", "p", timed(1, 0.9)), same_baseline=True)
    return [type(change)(**{**vars(change), "p": p}) for p in p_values]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_claims_are_those_of_the_step_up_procedure(p_values):
    """By definition: the greatest k such that k of the p-values are at most k q / m."""
    count = len(p_values)
    most = max((k for k in range(1, count + 1) if sum(p <= k * 0.05 / count for p in p_values) >= k), default=0)
    claimed = [change.pace is not Pace.NONE for change in decide(_changes(p_values))]
    assert claimed == [bool(most) and p <= most * 0.05 / count for p in p_values]


def test_false_claims_stay_below_the_rate():
    """200 pairs of runs of 60 shapes; in 12 the kernel is 8 % slower, and each run has a bias within its floor."""
    rng = np.random.default_rng(3)
    error, slower = 0.008, 12
    width = math.exp(error * WIDE / 2) - 1
    shares, found = [], 0
    for _ in range(200):
        truth = np.where(np.arange(60) < slower, math.log(1.08), 0.0)
        bias = rng.uniform(-1, 1, 60) * math.log(1.01) * 2
        base, new = rng.normal(0, error, 60), rng.normal(0, error, 60) - truth + bias
        pairs = [(timed(m + 1, math.exp(base[m]), width), timed(m + 1, math.exp(new[m]), width)) for m in range(60)]
        times = time_changes(
            measured("a", "p", *(old for old, _ in pairs)),
            measured("a", "p", *(now for _, now in pairs)),
            same_baseline=True,
        )
        claims = [change.shape["M"] <= slower for change in decide(times) if change.pace is not Pace.NONE]
        shares.append(claims.count(False) / len(claims) if claims else 0.0)
        found += claims.count(True)
    assert np.mean(shares) <= 0.05
    assert found / (200 * slower) > 0.9
