"""The kernels of ``examples/generated``, run as what they are compiled to for an absent chip.

What the compiler refuses is refused for the same reason. What it takes, and Triton's interpreter finds wrong, is found
wrong here for the same reason; the rest passes. Where that is not so, the chip is the cause, or more is seen.
"""

import pytest

from kernelarena.judge import Judge
from kernelarena.platforms import catalogue
from kernelarena.spec import Deadlines, Evidence, Reason, Status, Sweep
from tests.examples.test_generated import BY_VERSION, ENDLESS, EXPECTED, KERNELS, SEED, TASKS, reasons, triton_version

OTHERWISE = {
    # All workgroups of a small grid are at work together, on the chip and here, so the barrier is passed.
    "cumsum-grid-barrier": (Status.PASS, set()),
    # The write is seen when it is made, with its line; the interpreter's judge sees what it has left behind.
    "cumsum-unmasked-store": (Status.FAIL, {Reason.ILLEGAL_ACCESS}),
    # The sum starts from whatever the memory holds, which may be no number.
    "layer-norm-uninitialised-partials": (Status.FAIL, {Reason.NONDETERMINISTIC, Reason.NON_FINITE, Reason.MISMATCH}),
    # 128 GiB: the chip has them, a host may not.
    "attention-big-workspace": (None, {Reason.EMULATOR_UNSUPPORTED, Reason.OUT_OF_MEMORY}),
}
SAMPLE = {"cumsum-unmasked-store", "geglu-swapped-halves", "softmax-1024-columns", "softmax-unmasked-64k"}


@pytest.fixture(scope="module")
def judge():
    with Judge() as judge:
        yield judge


def expected(name):
    """Return the status and the reasons, one of which is to be given."""
    if name in OTHERWISE:
        return OTHERWISE[name]
    compiled, interpreted = EXPECTED[name]["mi300"], EXPECTED[name]["cpu"]
    decisive = interpreted if compiled["status"] == "pass" else compiled
    return Status(decisive["status"]), set(reasons(decisive))


@pytest.mark.parametrize(
    "kernel",
    [
        pytest.param(one, marks=[] if one.id in SAMPLE else [pytest.mark.thorough], id=one.id)
        for one in KERNELS
        if one.language == "triton"
    ],
)
def test_the_reason_is_the_same_where_the_chip_is_not_the_cause(judge, kernel):
    if triton_version() < BY_VERSION.get(kernel.id, (0, 0)):
        pytest.skip("expected of a later version of Triton")
    status, among = expected(kernel.id)
    endless = not ENDLESS.isdisjoint(among)
    deadlines = Deadlines(compile=20, call=12) if endless else Deadlines(compile=240, call=120)
    sweep = Sweep(evidence=Evidence.EMULATED, deadlines=deadlines, cache=not endless)
    found = judge.judge(kernel, TASKS[kernel.task], catalogue.load()["mi300"], sweep, SEED)
    said = f"{found.status} {found.gate} {found.reason}: {found.detail}"
    assert status in (None, found.status), said
    assert (found.reason in among) if among else (found.reason is None), said


def test_those_that_are_judged_otherwise_and_those_of_the_sample_are_among_them():
    assert OTHERWISE.keys() | SAMPLE <= {kernel.id for kernel in KERNELS}
