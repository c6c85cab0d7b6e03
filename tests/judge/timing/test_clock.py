"""The judge's clock beside the times that are told."""

import itertools

import pytest

from kernelarena.judge.timing.arm import Request, Run
from kernelarena.judge.timing.clock import Told, believed, slower_than_told

US = 1e-6


class Arm:
    """Calls that take as long as they take, whatever is told; the host may be busy with other things."""

    def __init__(self, device, host=20 * US, busy=0.0):
        self.device, self.host, self.busy = device, host, busy

    def run(self, calls, *, flush, pause, audit):
        assert not flush
        host = calls * (self.host + self.busy)
        seconds = 150 * US + max(pause, host) + calls * self.device
        return Request((Run(self.device, host, False),), 0, int(seconds * 1e9), {}, idle=False)


@pytest.mark.parametrize("device", [3 * US, 40 * US, 1000 * US, 0.2])
def test_whoever_tells_the_truth_is_believed(device):
    honest = Told(Arm(device), device, 20 * US)
    assert slower_than_told(honest, honest) == ""


@pytest.mark.parametrize(("device", "told"), [(100 * US, 10 * US), (1000 * US, 300 * US), (0.1, 3 * US)])
def test_whoever_tells_much_less_is_not(device, told):
    honest = Told(Arm(50 * US), 50 * US, 20 * US)
    assert "by the judge's clock" in slower_than_told(Told(Arm(device), told, 20 * US), honest)


def test_two_who_look_slow_on_purpose_convict_nobody_and_are_not_believed_either():
    pair = [Told(Arm(device), told, 20 * US) for device, told in ((1000 * US, 100 * US), (5000 * US, 500 * US))]
    assert slower_than_told(*pair) == ""
    assert [believed(told) for told in pair] == [False, False]
    assert believed(Told(Arm(50 * US), 50 * US, 20 * US))


@pytest.mark.parametrize("busy", [0.5e-3, 5e-3])
def test_a_host_that_is_busy_is_nobodys_fault(busy):
    kernel, baseline = (Told(Arm(device, busy=busy), device, 20 * US) for device in (10 * US, 30 * US))
    assert slower_than_told(kernel, baseline) == ""


def test_host_code_that_takes_its_time_is_given_it():
    slow = Told(Arm(10 * US, host=4e-3), 10 * US, 4e-3)
    honest = Told(Arm(50 * US), 50 * US, 20 * US)
    assert slower_than_told(slow, honest) == ""


def test_a_host_that_is_busy_now_and_then_does_not_convict():
    bursts = itertools.cycle([0.0, 0.0, 4e-3])

    class Sometimes(Arm):
        def runs(self, count, calls, **options):
            self.busy = next(bursts)
            return super().runs(count, calls, **options)

    honest = Told(Arm(50 * US), 50 * US, 20 * US)
    assert slower_than_told(Told(Sometimes(30 * US), 30 * US, 20 * US), honest) == ""
