import pytest

from kernelarena.protocol.timing import ArmTiming, Difference, Estimate, NoiseFloor, Pair, Stop, Timing, claim
from kernelarena.protocol.timing.floor import LEAST


def timing(low, high, seconds=1e-4):
    middle = (low * high) ** 0.5
    arm = ArmTiming(Estimate(seconds, seconds, seconds, 0.99, 100), seconds, seconds)
    return Timing("test", Stop.PRECISE, arm, arm, Estimate(middle, low, high, 0.99, 50), 100, 0, 1.0)


NOTHING = Timing("test", Stop.THROTTLED, None, None, None, 40, 60, 1.0, {"thermal": 30})
FLOOR = NoiseFloor((Pair(1e-4, 0.02),))


@pytest.mark.parametrize(
    ("low", "high", "difference"),
    [
        (1.021, 1.04, Difference.FASTER),
        (1.02, 1.04, Difference.NONE),
        (1.019, 1.10, Difference.NONE),
        (0.99, 1.01, Difference.NONE),
        (0.90, 0.99, Difference.NONE),
        (0.90, 0.98, Difference.SLOWER),
        (0.90, 0.981, Difference.NONE),
        (2.0, 3.0, Difference.FASTER),
    ],
)
def test_the_whole_interval_has_to_lie_outside_the_floor(low, high, difference):
    found = claim(timing(low, high), FLOOR)
    assert found.difference is difference
    assert "±2.00%" in found.detail


def test_what_was_not_measured_is_not_known():
    found = claim(NOTHING, FLOOR)
    assert found.difference is Difference.UNKNOWN
    assert found.detail.startswith("only 40 of 100 samples")


def test_the_floor_is_what_identical_kernels_showed():
    floor = NoiseFloor.measured([timing(0.97, 1.01), timing(0.99, 1.02, seconds=1e-3), NOTHING])
    assert [pair.seconds for pair in floor.pairs] == [1e-4, 1e-3]
    assert floor.at(1e-4) == pytest.approx(1 / 0.97 - 1)
    assert floor.at(3e-4) == pytest.approx(1 / 0.97 - 1)  # the greater of the two next to it
    assert floor.at(1e-3) == pytest.approx(0.02)
    assert floor.at(1.0) == pytest.approx(0.02)


def test_below_the_shortest_pair_it_grows():
    assert NoiseFloor((Pair(1e-4, 0.02),)).at(1e-5) == pytest.approx(0.2)


def test_however_quiet_a_chip_there_is_a_floor():
    floor = NoiseFloor.measured([timing(0.9999, 1.0001)])
    assert (floor.at(1e-5), floor.at(1e-4), floor.at(1.0)) == (LEAST, LEAST, LEAST)


def test_no_pair_no_floor():
    with pytest.raises(ValueError, match="needs an A/A pair"):
        NoiseFloor.measured([NOTHING])
