"""C++ kernels that are right on warps of 32 lanes only: found from the text, and seen to be wrong on 64.

Neither takes a chip: the findings are `kab-mc check --static`'s, and the sources run on the host (`tests/on_host`).
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kernelarena.judge.problems import Problems
from kernelarena.platforms import catalogue
from kernelarena.portability.examine import examine
from kernelarena.portability.finding import Severity
from kernelarena.portability.gather import sources_of
from kernelarena.protocol.tolerance import compare
from kernelarena.spec import Shape
from kernelarena.spec.catalogue import load_tasks
from tests.corpus.cpp_specimens import LaneFault, Specimen, specimens
from tests.on_host import COMPILER, OnHost

CORPUS = list(specimens("wavefront", LaneFault))
CHIPS, TASKS = catalogue.load(), load_tasks()
ALL = [chip for chip in CHIPS.values() if chip.limits is not None]
ROWS, COLUMNS = 6, 700  # so that every warp of 256 threads has work


@pytest.mark.parametrize("specimen", CORPUS, ids=lambda one: one.name)
def test_it_is_found_and_its_twin_is_not(specimen: Specimen[LaneFault]) -> None:
    about = specimen.about
    findings = examine(sources_of([specimen.faulty]), ALL).findings
    assert {finding.rule for finding in findings} == {about.rule}
    assert about.at in findings[0].text
    for finding in findings:
        assert finding.severity is Severity.ERROR
        assert about.platform in finding.platforms
        assert not {chip for chip in finding.platforms if CHIPS[chip].backend != CHIPS[about.platform].backend}
    assert examine(sources_of([specimen.honest]), ALL).findings == ()


@pytest.mark.parametrize("specimen", CORPUS, ids=lambda one: one.name)
def test_it_is_right_on_32_lanes_and_wrong_on_64(specimen: Specimen[LaneFault], tmp_path: Path) -> None:
    if shutil.which(COMPILER) is None:
        pytest.skip(f"needs {COMPILER}")
    task = TASKS[specimen.about.task]
    shape = Shape(dims=dict(zip(task.task.dims, (ROWS, COLUMNS), strict=True)), dtype="float32")
    problem = Problems(CHIPS["cpu"]).problem(task, shape, 1)
    right = {
        (kernel.id, lanes): compare(problem.truth, built.answer(problem, lanes)).passed
        for kernel in (specimen.faulty, specimen.honest)
        for built in [OnHost(kernel, problem, tmp_path)]
        for lanes in (32, 64)
    }
    assert list(right.values()) == [True, False, True, True], right


def test_there_are_enough_of_every_sort() -> None:
    assert len(CORPUS) >= 6
    assert {one.about.rule for one in CORPUS} >= {"lane-mask", "ballot-width", "mixed-lanes", "shuffle-width"}
