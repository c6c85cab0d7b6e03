"""Known kernels and the rig, on a device that a backend of another distribution brings; no duration is asserted."""

import pytest
import torch

from benchmarks.device_pairs import Pairs
from benchmarks.known_kernels import ELEMENTWISE, KNOWN, LOOP, Curve, curve
from benchmarks.rig import Rig
from benchmarks.timing_power import counted
from kernelarena.protocol.timing import Stop
from kernelarena.spec import Language
from tests.judge.test_measuring import installed  # noqa: F401
from tests.judge.timing.test_gate import CHIP


@pytest.fixture(scope="module")
def rig(installed):  # noqa: F811
    with Rig(CHIP) as rig:
        yield rig


def test_a_curve_tells_the_work_that_takes_longer_by_a_given_factor():
    measured = curve(LOOP, 1e-3, lambda shape: 2e-6 + 2e-9 * shape.dims["S"])
    assert measured.seconds[-1] >= 1e-3
    work = measured.work_for(50e-6)
    assert work == pytest.approx(24000, abs=1)
    more, truth = measured.slower(work, 1.03)
    assert truth == pytest.approx(1.03, abs=1e-4)
    assert (2e-6 + 2e-9 * more) / (2e-6 + 2e-9 * work) == pytest.approx(1.03, abs=1e-4)
    assert measured.slower(work, 1.0) == (work, 1.0)


def test_a_constant_taken_for_work_hardly_changes_the_ratio():
    """Times that are a tenth too long at 3 µs: what is added is a tenth too much, of three per cent."""
    wrong = curve(LOOP, 1e-3, lambda shape: 2.3e-6 + 2e-9 * shape.dims["S"])
    work = wrong.work_for(3.3e-6)
    more, _ = wrong.slower(work, 1.03)
    assert (2e-6 + 2e-9 * more) / (2e-6 + 2e-9 * work) == pytest.approx(1.03, abs=0.0035)


def test_more_work_that_takes_no_longer_tells_nothing():
    noisy = {1: 2.0e-6, 4: 1.9e-6, 16: 2.05e-6, 64: 2.2e-6, 256: 5e-6}
    assert curve(LOOP, 4e-6, lambda shape: noisy[shape.dims["S"]]) == Curve((1, 64, 256), (2.0e-6, 2.2e-6, 5e-6))


@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
def test_the_kernels_compute_what_their_tasks_say(known):
    """In the framework's own operators; on a device, the rig looks at an answer of each process."""
    namespace = {}
    exec(known.kernel(Language.TORCH).files["kernel.py"], namespace)
    reference = {}
    exec(known.task.reference, reference)
    x = torch.randn(64)
    for arguments in [(x, 3), (x, 4)] if known is LOOP else [(x,)]:
        assert torch.equal(namespace["entry"](*arguments), reference["reference"](*arguments))


def test_pairs_are_timed_on_a_device_and_counted(rig):
    pairs = Pairs(rig, 3e-5, 3e-4)
    floor = rig.floor()
    for slowdown, kernels in ((1.0, {ELEMENTWISE.name: 1, LOOP.name: 2}), (2.0, {LOOP.name: 3})):
        assert pairs.kernels(slowdown, 3) == kernels
        for name, count in kernels.items():
            timings, truth = pairs.timed(name, slowdown, count)
            assert truth == 1 if slowdown == 1 else truth > 1
            assert all(timing.stop in (Stop.PRECISE, Stop.TIME_CAP, Stop.SAMPLE_CAP) for timing in timings)
            found = counted(name, truth, timings, floor)
            assert (found.pairs, found.unknown) == (count, 0)
            assert found.samples >= 100
            assert found.floor >= 0.01
