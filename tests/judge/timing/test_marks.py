"""What marks are worth, on devices whose marks are made up."""

import contextlib

import pytest
import torch

from kernelarena.judge.timing.marks import Marks, marks_of

US = 1e-6


class Device:
    """A device on which everything takes as long as it takes, told in steps."""

    device = torch.device("cpu")

    def __init__(self, overhead, launch, step):
        self.overhead, self.launch, self.step = overhead, launch, step
        self.launched = 0
        self.noise = 0

    def stream(self):
        return object()

    def on(self, stream):
        return contextlib.nullcontext()

    def synchronise(self):
        pass

    def delay(self, seconds):
        self.launched = 0

    def marks(self):
        return Mark(self)


class Mark:
    def __init__(self, device):
        self.device = device

    def record(self, stream):
        self.at = self.device.launched

    def synchronize(self):
        pass

    def elapsed_time(self, later):
        device = self.device
        device.noise = (device.noise + 1) % 4
        seconds = device.overhead + (later.at - self.at) * device.launch + device.noise * device.step
        return round(seconds / device.step) * device.step * 1e3


@pytest.fixture
def counted(monkeypatch):
    """Zeroing a tensor is a launch."""

    def device(*args):
        made = Device(*args)
        zeros = torch.zeros(1)

        class Nothing:
            def zero_(self):
                made.launched += 1

        monkeypatch.setattr(torch, "zeros", lambda *_, **__: Nothing() if zeros is not None else None)
        return made

    return device


@pytest.mark.parametrize(("overhead", "launch", "step"), [(2.4 * US, 1.9 * US, 0.032 * US), (8 * US, 5 * US, 1 * US)])
def test_overhead_and_step_are_found(counted, overhead, launch, step):
    found = marks_of(counted(overhead, launch, step))
    assert found.step == pytest.approx(step, rel=0.01)
    assert found.overhead == pytest.approx(overhead, abs=2 * step)


def test_the_work_between_two_marks_is_never_nothing():
    marks = Marks(step=1e-6, overhead=5e-6)
    assert marks.between(15e-6) == pytest.approx(10e-6)
    assert marks.between(5e-6) == 1e-6
    assert Marks(step=0.0).between(0.0) > 0
