"""The kernels of ``examples/cpp`` build for the chips that their README says.

Each for one chip of each vendor, and for one of the others in turn; ``benchmarks/cpp_build.py`` builds all for all.
"""

from pathlib import Path

import pytest

from kernelarena.judge import Judge
from kernelarena.platforms import catalogue
from kernelarena.platforms.toolchains import cpp
from kernelarena.spec import Evidence, Status, Sweep
from kernelarena.spec.catalogue import load_tasks
from kernelarena.spec.kernels import load_kernels

TASKS, CHIPS = load_tasks(), catalogue.load()
ALWAYS, IN_TURN = ("mi300", "h100"), ("mi250", "a100", "h200", "b200")
KERNELS = load_kernels([Path(__file__).parents[2] / "examples" / "cpp"], tasks=TASKS)[0]


@pytest.fixture(scope="module")
def judge():
    with Judge() as judge:
        yield judge


@pytest.mark.parametrize(
    ("kernel", "platform"),
    [
        pytest.param(kernel, platform, id=f"{kernel.id}-{platform}")
        for index, kernel in enumerate(KERNELS)
        for platform in (*ALWAYS, IN_TURN[index % len(IN_TURN)])
    ],
)
def test_builds_and_fits(judge, kernel, platform):
    chip = CHIPS[platform]
    try:
        cpp.find(kernel.language, chip.arch)
    except cpp.Missing as missing:
        pytest.skip(str(missing))
    verdict = judge.judge(kernel, TASKS[kernel.task], chip, Sweep(cache=False, evidence=Evidence.COMPILED), 1)
    assert (verdict.status, verdict.evidence, verdict.detail) == (Status.PASS, Evidence.COMPILED, "")
    assert verdict.visible.passed == verdict.visible.total == 12
    assert verdict.resources.spills == 0
