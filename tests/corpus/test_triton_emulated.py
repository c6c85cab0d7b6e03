"""Triton kernels that are right on one chip and wrong on another, seen without the other: ``tests/corpus/triton``."""

from pathlib import Path

import pytest

from kernelarena.judge import Judge
from kernelarena.platforms import catalogue
from kernelarena.spec import Evidence, Hidden, Kernel, Reason, Status, Sweep
from kernelarena.spec.catalogue import load_tasks
from kernelarena.spec.platform import Budget

ROOT = Path(__file__).parents[2]
QUANTISE = (ROOT / "tasks/quantisation/fp8_quantise_rows/kernels/triton/kernel.py").read_text()
NEXT = (Path(__file__).parent / "triton" / "next_element.py").read_text()
FAULTS = {
    # What the honest twin says, and what the faulty one says in its place.
    "float8-limit": (
        "fp8_quantise_rows", QUANTISE, ("scale, flavour.max, 1e-12", "scale, 448.0, 1e-12"), Reason.NON_FINITE,
    ),
    "float8-bits": (
        "fp8_quantise_rows", QUANTISE, ("int(math.log2(flavour.smallest_normal))", "-6"), Reason.MISMATCH,
    ),
    "next-element": (
        "diff", NEXT, ("x_ptr + i + 1, mask=inside & (i + 1 < M * N)", "x_ptr + i + 1, mask=inside"),
        Reason.ILLEGAL_ACCESS,
    ),
}  # fmt: skip
SWEEP = Sweep(evidence=Evidence.EMULATED, hidden=Hidden(enabled=False), calls=1, cache=False)


@pytest.fixture(scope="module")
def verdict():
    budget = Budget(elements=2048, flops=1_000_000, outer=8)
    chips = {name: chip.model_copy(update={"budget": budget}) for name, chip in catalogue.load().items()}
    tasks = load_tasks()
    with Judge() as judge:
        yield lambda kernel, chip: judge.judge(kernel, tasks[kernel.task], chips[chip], SWEEP, hidden_seed=1)


def made(name, task, source):
    return Kernel(
        id=name, task=task, language="triton", file="kernel.py", function=task, files={"kernel.py": source},
        origin="a test",
    )  # fmt: skip


@pytest.mark.parametrize(
    "fault", [pytest.param(name, marks=[pytest.mark.thorough] if at < 2 else []) for at, name in enumerate(FAULTS)]
)
def test_the_faulty_one_is_wrong_on_that_chip_alone(verdict, fault):
    task, source, (honest, faulty), reason = FAULTS[fault]
    sources = source.replace(faulty, honest), source.replace(honest, faulty)
    assert sources[0] != sources[1]
    twin, wrong = (made(name, task, text) for name, text in zip(("honest", "faulty"), sources, strict=True))
    for kernel, chip in ((twin, "cpu"), (twin, "mi300"), (wrong, "cpu")):
        found = verdict(kernel, chip)
        assert (found.status, found.evidence) == (Status.PASS, Evidence.EMULATED), (kernel.id, chip, found.detail)
    found = verdict(wrong, "mi300")
    assert (found.status, found.reason, found.evidence) == (Status.FAIL, reason, Evidence.EMULATED), found.detail
    if reason is Reason.ILLEGAL_ACCESS:
        assert "following = tl.load" in found.location.text
        assert "of x_ptr" in found.detail
