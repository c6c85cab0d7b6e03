from random import Random

import pytest

from kernelarena.protocol.timing import Arm, Round
from kernelarena.protocol.timing.rounds import interleaved, means, sequential, times

A, B = Arm.KERNEL, Arm.BASELINE


def test_rounds_are_mirrored_and_a_coin_says_which_way():
    orders = interleaved(1000, Random(1))
    assert set(orders) == {(A, A, B, B, B, B, A, A), (B, B, A, A, A, A, B, B)}
    assert 400 < sum(order[0] is A for order in orders) < 600
    assert orders == interleaved(1000, Random(1))
    assert orders != interleaved(1000, Random(2))


def test_one_arm_after_the_other():
    assert sequential(3) == [(B, B, B), (A, A, A)]


def test_times_of_one_arm():
    entries = [Round((A, B, B, A), (1.0, 2.0, 3.0, 4.0)), Round((B, A, A, B), (5.0, 6.0, 7.0, 8.0))]
    assert times(entries, A) == [1.0, 4.0, 6.0, 7.0]
    assert times(entries, B) == [2.0, 3.0, 5.0, 8.0]


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
def test_times_that_cannot_be_are_refused(bad):
    with pytest.raises(ValueError, match="positive numbers"):
        Round((A, B), (1.0, bad))
    with pytest.raises(ValueError, match="1 times for 2 runs"):
        Round((A, B), (1.0,))


def test_a_run_that_does_what_belongs_to_others_gains_nothing():
    honest = Round((A, A, B, B, B, B, A, A), (2.0,) * 8)
    hasty = Round((A, A, B, B, B, B, A, A), (4.0, 0.1, 2.0, 2.0, 2.0, 2.0, 3.8, 0.1))
    assert means([honest, hasty], A) == pytest.approx([2.0, 2.0])
