"""What needs a device, on the host's processor, of which a backend of another distribution makes one.

Nothing is asserted of durations.
"""

import pytest

from benchmarks.device_pairs import Pairs
from benchmarks.known_kernels import ELEMENTWISE, LOOP
from benchmarks.profiler_agreement import agreements
from benchmarks.rig import Rig
from benchmarks.timing_power import counted
from kernelarena.protocol.timing import Stop
from tests.judge.test_measuring import installed  # noqa: F401
from tests.judge.timing.test_gate import CHIP


@pytest.fixture(scope="module")
def rig(installed):  # noqa: F811
    with Rig(CHIP) as rig:
        yield rig


def test_pairs_are_timed_on_a_device_and_counted(rig):
    pairs = Pairs(rig, 3e-5, 1e-4, 2.0)
    floor = rig.floor()
    for slowdown, kernels in ((1.0, {ELEMENTWISE.name: 1, LOOP.name: 1}), (2.0, {LOOP.name: 2})):
        assert pairs.kernels(slowdown, 2) == kernels
        for name, count in kernels.items():
            timings, truth = pairs.timed(name, slowdown, count)
            assert truth == 1 if slowdown == 1 else truth >= 1  # a single step may take longer than what is asked for
            assert all(timing.stop in (Stop.PRECISE, Stop.TIME_CAP, Stop.SAMPLE_CAP) for timing in timings)
            found = counted(name, truth, timings, floor)
            assert (found.pairs, found.unknown) == (count, 0)
            assert found.samples >= 100
            assert found.floor >= 0.01


def test_times_are_told_by_the_rig_and_by_the_profiler_on_this_host(rig, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    rows, notes = agreements(rig, 3e-5, 1e-4, 2)
    assert notes == ["ncu: it is not on PATH"]
    assert {row.kernel for row in rows} == {"elementwise", "loop"}
    for row in rows:
        assert row.ours > 0
        assert row.profiler > 0
        assert row.ncu is None
        assert row.off.keys() == {"profiler"}
