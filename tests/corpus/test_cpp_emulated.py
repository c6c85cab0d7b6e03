"""Faults that only a warp of 64 lanes shows, seen without one: the code that is built for such a chip is emulated."""

import pytest

from kernelarena.judge import Judge
from kernelarena.platforms import catalogue
from kernelarena.platforms.toolchains import cpp
from kernelarena.spec import Evidence, Hidden, Language, Reason, Status, Sweep
from kernelarena.spec.catalogue import load_tasks
from kernelarena.spec.platform import Budget
from tests.corpus.cpp_specimens import LaneFault, specimens

# What is in CUDA and names 32 lanes has no translation: that one does not get so far.
SPECIMENS = [one for one in specimens("wavefront", LaneFault) if one.faulty.language is Language.HIP]
SWEEP = Sweep(evidence=Evidence.EMULATED, hidden=Hidden(enabled=False), calls=1, cache=False)
WRONG = (Reason.MISMATCH, Reason.NON_FINITE, Reason.UNWRITTEN_OUTPUT, Reason.UNINITIALISED_READ, Reason.DATA_RACE)


@pytest.fixture(scope="module")
def verdict():
    mi300 = catalogue.load()["mi300"]
    try:
        cpp.find(Language.HIP, mi300.arch)
    except cpp.Missing as missing:
        pytest.skip(str(missing))
    small = mi300.model_copy(update={"budget": Budget(elements=2048, flops=1_000_000, outer=8)})
    tasks = load_tasks()
    with Judge() as judge:
        yield lambda kernel: judge.judge(kernel, tasks[kernel.task], small, SWEEP, hidden_seed=1)


@pytest.mark.parametrize(
    "specimen",
    [pytest.param(one, marks=[pytest.mark.thorough] if at else [], id=one.name) for at, one in enumerate(SPECIMENS)],
)
def test_the_faulty_one_is_wrong_and_its_twin_is_right(verdict, specimen):
    faulty = verdict(specimen.faulty)
    assert (faulty.status, faulty.evidence) == (Status.FAIL, Evidence.EMULATED), faulty
    assert faulty.reason in WRONG, faulty.detail
    honest = verdict(specimen.honest)
    assert (honest.status, honest.evidence) == (Status.PASS, Evidence.EMULATED), honest.detail
