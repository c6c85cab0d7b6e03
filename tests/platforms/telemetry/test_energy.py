import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelarena.platforms.telemetry import Facts, Method, Reading, Sample, energy

FACTS = Facts(source="test", name="a device", pci="0000:01:00.0")
MS = 1_000_000


def at(ms, **values):
    return Sample(int(ms * MS), 0, Reading(**values))


def trapezoid(samples, start, end, **facts):
    return energy(samples, start * MS, end * MS, Facts(source="", name="", pci="", **facts))


def test_constant_power_is_exact():
    found = trapezoid([at(t, power_w=250.0) for t in range(0, 110, 10)], 12, 87)
    assert found.method is Method.POWER
    assert found.joules == pytest.approx(250 * 0.075, rel=1e-12)
    assert found.uncertainty == 0


def test_what_happens_between_two_readings_is_uncertain():
    found = trapezoid([at(0, power_w=100.0), at(10, power_w=300.0)], 0, 10)
    assert found.joules == pytest.approx(2.0)
    assert found.uncertainty == pytest.approx(1.0)  # it may have been 100 W all along, or 300 W


def test_accuracy_and_averaging_add_to_the_uncertainty():
    samples = [at(0, power_w=100.0), at(10, power_w=100.0), at(2000, power_w=140.0)]
    assert trapezoid(samples, 0, 10, power_accuracy=0.05).uncertainty == pytest.approx(0.05)
    assert trapezoid(samples, 0, 10, power_window_s=0.5).uncertainty == 0
    assert trapezoid(samples, 0, 10, power_window_s=3.0).uncertainty == pytest.approx(1.5 * 40)


def test_an_interval_that_is_not_surrounded_has_no_energy():
    samples = [at(t, power_w=250.0) for t in range(10, 60, 10)]
    assert trapezoid(samples, 5, 30) is None
    assert trapezoid(samples, 30, 55) is None
    assert trapezoid([], 0, 1) is None


def test_readings_that_failed_are_gaps_and_not_zeros():
    samples = [at(0, power_w=200.0), at(10), at(20, power_w=200.0)]
    assert trapezoid(samples, 5, 15).joules == pytest.approx(2.0)


def test_a_counter_is_preferred():
    samples = [at(t, power_w=1000.0, energy_j=0.1 * t) for t in range(0, 110, 10)]
    found = trapezoid(samples, 20, 70)
    assert found.method is Method.COUNTER
    assert found.joules == pytest.approx(5.0, abs=0.01)


def test_a_counter_that_was_reset_is_not_believed():
    samples = [
        at(0, power_w=100.0, energy_j=50.0),
        at(10, power_w=100.0, energy_j=1.0),
        at(20, power_w=100.0, energy_j=2.0),
    ]
    assert trapezoid(samples, 0, 20).method is Method.POWER


def test_a_counter_that_does_not_move_after_the_interval_leaves_it_open():
    samples = [at(t, energy_j=min(0.1 * t, 5.0)) for t in range(0, 110, 10)]
    assert trapezoid(samples, 20, 70) is None


@settings(max_examples=300, deadline=None)
@given(
    powers=st.lists(st.floats(0, 1000), min_size=6, max_size=6),
    update=st.integers(1, 37),
    every=st.integers(1, 23),
    phase=st.floats(0, 1),
    start=st.floats(60, 150),
    length=st.floats(0, 250),
)
def test_the_truth_lies_within_the_uncertainty_of_a_counter(powers, update, every, phase, start, length):
    """Power changes every 100 ms, the counter updates every ``update`` ms, somebody looks every ``every`` ms."""

    def truth(ms):
        return sum(power * max(0.0, min(ms - 100 * i, 100.0)) for i, power in enumerate(powers)) * 1e-3

    def counter(ms):
        return truth(math.floor((ms - phase) / update) * update + phase)

    samples = [at(t, energy_j=counter(t)) for t in range(0, 600, every)]
    found = trapezoid(samples, start, start + length)
    if found is not None:
        expected = truth(start + length) - truth(start)
        assert abs(found.joules - expected) <= found.uncertainty + 1e-9


def test_energy_is_shared_out():
    found = trapezoid([at(t, power_w=250.0) for t in range(0, 110, 10)], 0, 100, power_accuracy=0.1).per(50)
    assert (found.joules, found.uncertainty) == (pytest.approx(0.5), pytest.approx(0.05))
    with pytest.raises(ValueError, match="0 executions"):
        found.per(0)


def test_an_interval_has_a_direction():
    with pytest.raises(ValueError, match="before it starts"):
        trapezoid([], 2, 1)
