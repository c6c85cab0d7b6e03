"""Kernels whose time is known: what they compute, and how much of them takes how long."""

import pytest
import torch

from benchmarks.known_kernels import KNOWN, LOOP, Curve, curve
from kernelarena.spec import Language


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
