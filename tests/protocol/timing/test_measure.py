from random import Random

import numpy as np
import pytest

from kernelarena.errors import InputError
from kernelarena.protocol.timing import (
    AGENT_KERNEL_ARENA,
    DEFAULT,
    Arm,
    FixedCount,
    Precision,
    Round,
    Stop,
    TimingProtocol,
    measure,
    timing_protocol,
)


class Chip:
    """A source whose times are known; throttles during the rounds that ``hot`` picks."""

    def __init__(self, kernel=1e-3, baseline=2e-3, noise=0.001, hot=lambda index: ()):
        self.now = 0.0
        self.warmed, self.taken = [], []
        self._length = {Arm.KERNEL: kernel, Arm.BASELINE: baseline}
        self._rng = np.random.default_rng(7)
        self._noise, self._hot = noise, hot

    def warm_up(self, orders):
        self.warmed += orders

    def time(self, orders):
        found = []
        for order in orders:
            why = tuple(self._hot(len(self.taken)))
            self.taken.append(order)
            slow = 10.0 if why else 1.0
            times = [
                self._length[arm] * slow * float(np.exp(self._noise * self._rng.standard_normal())) for arm in order
            ]
            self.now += sum(times)
            found.append(Round(order, tuple(times), why))
        return found

    def clock(self):
        return self.now


def timed(chip, protocol=DEFAULT, seed=0):
    return measure(chip, protocol, Random(seed), clock=chip.clock)


def test_a_calm_chip_needs_the_floor_of_samples_and_no_more():
    chip = Chip()
    found = timed(chip)
    assert (found.stop, found.kept, found.dropped, found.problem) == (Stop.PRECISE, 100, 0, "")
    assert sum(order.count(Arm.KERNEL) for order in chip.warmed) == 12  # 10, in whole rounds
    assert found.speedup.low <= 2 <= found.speedup.high
    assert found.speedup.samples == 25
    assert found.kernel.median.value == pytest.approx(1e-3, rel=0.01)
    assert found.baseline.least < found.baseline.median.value < 2.01e-3
    assert found.seconds == pytest.approx(25 * 12e-3, rel=0.05)


def test_throttled_rounds_are_dropped_whole_and_taken_again():
    found = timed(Chip(hot=lambda index: ("thermal",) if index % 3 == 0 else ()))
    assert (found.stop, found.kept) == (Stop.PRECISE, 100)
    assert found.dropped >= 50
    assert found.throttled == {"thermal": found.dropped // 4}
    assert found.speedup.value == pytest.approx(2, rel=0.01)
    assert found.kernel.median.value == pytest.approx(1e-3, rel=0.01)  # nothing of the slow ones is in it


def test_if_too_few_remain_it_says_so_and_gives_no_figure():
    found = timed(Chip(hot=lambda index: ("power-cap", "thermal") if index >= 10 else ()))
    assert (found.stop, found.kept) == (Stop.THROTTLED, 40)
    assert (found.kernel, found.baseline, found.speedup) == (None, None, None)
    words = f"only 40 of {40 + found.dropped} samples were taken while the chip did not throttle (power-cap, thermal)"
    assert found.problem.startswith(words)


def test_tolerated_reasons_do_not_disqualify():
    protocol = TimingProtocol("mine", Precision(), tolerated=frozenset({"power-cap"}))
    found = timed(Chip(hot=lambda index: ("power-cap",)), protocol)
    assert (found.stop, found.dropped) == (Stop.PRECISE, 0)
    assert found.speedup.value == pytest.approx(2, rel=0.01)
    both = timed(Chip(hot=lambda index: ("power-cap", "thermal")), protocol)
    assert both.stop is Stop.THROTTLED
    assert set(both.throttled) == {"thermal"}


def test_a_noisy_chip_is_sampled_until_a_cap_and_says_how_far_it_came():
    rough = TimingProtocol("rough", Precision(samples=200))
    found = timed(Chip(noise=0.3), rough)
    assert (found.stop, found.kept) == (Stop.SAMPLE_CAP, 200)
    assert found.speedup.precision > 0.005
    assert found.problem.startswith("the interval was still ±")
    slow = timed(Chip(kernel=0.02, baseline=0.02, noise=0.3), TimingProtocol("slow", Precision(seconds=4.5)))
    assert slow.stop is Stop.TIME_CAP
    assert 100 <= slow.kept < 130


def test_the_other_suites_protocol_runs_one_arm_after_the_other():
    chip = Chip(hot=lambda index: ("thermal",))
    found = timed(chip, AGENT_KERNEL_ARENA)
    assert chip.warmed == [(Arm.BASELINE,) * 10, (Arm.KERNEL,) * 10]
    assert chip.taken == [(Arm.BASELINE,) * 100, (Arm.KERNEL,) * 100]
    assert (found.protocol, found.stop, found.kept, found.dropped) == ("agentkernelarena", Stop.COMPLETE, 100, 0)
    assert found.speedup.value == pytest.approx(2, rel=0.01)
    assert found.baseline.mean == pytest.approx(2e-2, rel=0.01)


def test_the_order_cannot_be_foreseen_and_can_be_repeated():
    first, again, other = Chip(), Chip(), Chip()
    for chip, seed in ((first, 1), (again, 1), (other, 2)):
        timed(chip, seed=seed)
    assert first.taken == again.taken
    assert first.taken[:20] != other.taken[:20]


def test_a_source_that_runs_something_else_is_refused():
    class Lazy(Chip):
        def time(self, orders):
            return super().time(orders[:-1])

    with pytest.raises(ValueError, match="other rounds than it was asked for"):
        timed(Lazy())


def test_protocols_by_name():
    assert timing_protocol("kernelarena") is DEFAULT
    assert (DEFAULT.warm_ups, DEFAULT.rule.fewest, AGENT_KERNEL_ARENA.rule) == (10, 100, FixedCount(100))
    with pytest.raises(InputError, match=r"no timing protocol 'agentkernelarna'; .*agentkernelarena"):
        timing_protocol("agentkernelarna")


@pytest.mark.parametrize(
    ("rule", "settings", "words"),
    [
        (FixedCount(14), {}, "14 samples give no interval"),
        (FixedCount(8), {"interleaved": False}, "8 samples give no interval"),
        (Precision(), {"confidence": 1.0}, "between 0 and 1"),
        (Precision(), {"warm_ups": -1}, "cannot be"),
    ],
)
def test_protocols_that_cannot_work_are_refused_before_anything_runs(rule, settings, words):
    with pytest.raises(ValueError, match=words):
        TimingProtocol("mine", rule, **settings)


def test_the_fewest_samples_that_do_work():
    assert timed(Chip(), TimingProtocol("few", FixedCount(36))).speedup is not None
    assert timed(Chip(), TimingProtocol("few", FixedCount(9), interleaved=False)).speedup is not None
