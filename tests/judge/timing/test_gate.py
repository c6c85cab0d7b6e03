"""The timing gate on a device that a backend of another distribution brings; nothing is asserted of durations."""

import textwrap

import pytest

from kernelarena.judge import Judge
from kernelarena.spec import Gate, Reason, Status, Sweep
from kernelarena.spec.platform import Memory
from tests.judge.test_judge import ADD_ONE
from tests.judge.test_measuring import PLATFORM, installed  # noqa: F401

SWEEP = Sweep.model_validate(
    {"hidden": {"count": 2}, "deadlines": {"call": 20}, "cache": False, "timing": {"seconds": 0.1}, "calls": 1}
)
CHIP = PLATFORM.model_copy(update={"memory": Memory(bytes=1 << 36, bandwidth=1e9, cache_bytes=1 << 16)})


@pytest.fixture(scope="module")
def judge(installed):  # noqa: F811
    with Judge() as judge:
        yield judge


@pytest.fixture
def verdict(judge, kernel):
    def make(source, **changes):
        subject = kernel(textwrap.dedent(source), task="add_one", language="torch")
        return judge.judge(subject, ADD_ONE, CHIP, SWEEP.model_copy(update=changes), hidden_seed=5)

    return make


def test_every_published_shape_is_timed_in_one_of_the_dtypes(verdict):
    found = verdict("def entry(x):\n    return x + 1\n")
    assert (found.status, found.gate) == (Status.PASS, Gate.HIDDEN), found.detail
    assert not [note for note in found.notes if not note.startswith("telemetry is null")]
    assert [(dict(timed.shape.dims), timed.shape.dtype) for timed in found.timings] == [
        ({"M": 16, "N": 1024}, "float32"),
        ({"M": 64, "N": 128}, "float16"),
    ]
    for timed in found.timings:
        assert timed.kernel > 0
        assert timed.baseline > 0
        assert timed.samples >= 100
        assert timed.speedup.baseline == "pytorch-eager"
        assert timed.speedup.ci[0] <= timed.speedup.median <= timed.speedup.ci[1]
        assert timed.claim in ("faster", "slower", "none")
        assert timed.noise >= 0.01
    assert found.speedup is not None
    assert found.efficiency.architectural > 0


def test_nothing_is_timed_when_it_is_switched_off(verdict):
    found = verdict("def entry(x):\n    return x + 1\n", timing=SWEEP.timing.model_copy(update={"enabled": False}))
    assert (found.status, found.gate, found.timings, found.speedup) == (Status.PASS, Gate.HIDDEN, (), None)


CHEATS = {
    "wrong after so many calls": (
        "calls = []\n\n\ndef entry(x):\n    calls.append(1)\n    return x + (1 if len(calls) < 30 else 2)\n",
        Reason.MISMATCH,
    ),
    "raises after so many calls": (
        "calls = []\n\n\ndef entry(x):\n    calls.append(1)\n    assert len(calls) < 30\n    return x + 1\n",
        Reason.LAUNCH_ERROR,
    ),
    "answers from memory after so many calls": (
        "calls, kept = [], {}\n\n\ndef entry(x):\n    calls.append(1)\n    key = x.shape, x.dtype\n"
        "    if len(calls) < 30 or key not in kept:\n        kept[key] = x + 1\n    return kept[key].clone()\n",
        Reason.MISMATCH,
    ),
    "writes to an input after so many calls": (
        "calls = []\n\n\ndef entry(x):\n    calls.append(1)\n    if len(calls) > 30:\n        x.zero_()\n"
        "        return x + 1\n    return x + 1\n",
        Reason.INPUT_MUTATED,
    ),
    "ends after so many calls": (
        "import os\n\ncalls = []\n\n\ndef entry(x):\n    calls.append(1)\n"
        "    if len(calls) > 30:\n        os._exit(0)\n    return x + 1\n",
        Reason.CRASH,
    ),
}


@pytest.mark.parametrize(("source", "reason"), CHEATS.values(), ids=CHEATS)
def test_what_is_honest_until_it_is_timed_fails_the_gate(verdict, source, reason):
    found = verdict(source)
    assert (found.status, found.gate, found.reason) == (Status.FAIL, Gate.TIMING, reason), found.detail
    assert found.speedup is None
    assert found.hidden.total == 2
    assert found.hidden.passed == 0


def test_a_time_that_the_chip_cannot_have_needed_is_no_record(judge, kernel):
    """The same task, said to move so many bytes that nobody could move them in that time."""
    work = ADD_ONE.task.work.model_copy(update={"bytes": "40000*M*N"})
    heavy = ADD_ONE.model_copy(update={"task": ADD_ONE.task.model_copy(update={"work": work})})
    subject = kernel("def entry(x):\n    return x + 1\n", task="add_one", language="torch")
    found = judge.judge(subject, heavy, CHIP, SWEEP, hidden_seed=5)
    assert (found.status, found.gate, found.reason) == (Status.FAIL, Gate.TIMING, Reason.FASTER_THAN_PHYSICS)
    assert "the work was not done while the clock ran" in found.detail
