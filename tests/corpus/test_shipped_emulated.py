"""The kernels that are shipped with the tasks, run as what they are compiled to: right on every emulated chip."""

import pytest

from kernelarena.judge import Judge
from kernelarena.platforms import catalogue
from kernelarena.spec import Deadlines, Evidence, Gate, Hidden, Language, Status, Sweep
from kernelarena.spec.catalogue import load_tasks, shipped_kernels
from kernelarena.spec.kernels import load_kernels

CHIPS = ("mi250", "mi300", "mi355")
TASKS = load_tasks()
KERNELS = {kernel.id: kernel for kernel in load_kernels(shipped_kernels(), tasks=set(TASKS))[0]}
EVERYWHERE = {("cumsum-triton", "mi250"), ("fp8_quantise_rows-triton", "mi355")}
"""Those of the ordinary run, on fewer shapes."""


@pytest.fixture(scope="module")
def judge():
    with Judge() as judge:
        yield judge


def marks(name, chip):
    return [] if (name, chip) in EVERYWHERE else [pytest.mark.thorough]


CELLS = [
    pytest.param(kernel, chip, marks=marks(name, chip), id=f"{chip}-{name}")
    for chip in CHIPS
    for name, kernel in KERNELS.items()
    if kernel.language is Language.TRITON
]


def test_those_of_the_ordinary_run_are_among_them():
    assert {name for name, _ in EVERYWHERE} <= KERNELS.keys()


@pytest.mark.parametrize(("kernel", "chip"), CELLS)
def test_every_shape_is_right_and_every_instruction_known(judge, kernel, chip):
    hidden = Hidden(count=2) if (kernel.id, chip) in EVERYWHERE else Hidden()
    sweep = Sweep(evidence=Evidence.EMULATED, hidden=hidden, deadlines=Deadlines(compile=240, call=120))
    found = judge.judge(kernel, TASKS[kernel.task], catalogue.load()[chip], sweep, hidden_seed=7)
    assert (found.status, found.evidence) == (Status.PASS, Evidence.EMULATED), f"{found.reason}: {found.detail}"
    assert found.gate is Gate.HIDDEN
    assert found.hidden.passed == found.hidden.total == hidden.count
    assert found.visible.passed == found.visible.total > 0
