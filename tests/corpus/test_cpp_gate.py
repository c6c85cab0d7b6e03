"""Every faulty C++ kernel fails by its own reason, at its own line; its honest twin passes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernelarena.judge import Judge
from kernelarena.platforms import catalogue
from kernelarena.platforms.toolchains import cpp
from kernelarena.spec import Deadlines, Evidence, Kernel, Reason, ReasonGroup, Status, Sweep, Verdict
from kernelarena.spec.catalogue import load_tasks
from tests.corpus.cpp_specimens import GateFault, Specimen, specimens

CORPUS = list(specimens("gate", GateFault))
CHIPS, TASKS = catalogue.load(), load_tasks()


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """Return a judge that remembers the twins which several faults share, and nothing from before."""
    with pytest.MonkeyPatch.context() as patch, Judge() as judge:
        cache = tmp_path_factory.mktemp("cache")
        patch.setattr("kernelarena.protocol.compile_cache.cache_dir", lambda: cache)
        yield judge


def verdict(judge: Judge, kernel: Kernel, platform: str, seconds: float | None = None) -> Verdict:
    deadlines = Deadlines() if seconds is None else Deadlines(compile=seconds, call=seconds)
    sweep = Sweep(deadlines=deadlines, evidence=Evidence.COMPILED)
    return judge.judge(kernel, TASKS[kernel.task], CHIPS[platform], sweep, 1)


@pytest.mark.parametrize("specimen", CORPUS, ids=lambda one: one.name)
def test_a_fault_has_its_reason_and_its_twin_none(specimen: Specimen[GateFault], judge: Judge) -> None:
    about = specimen.about
    try:
        cpp.find(specimen.faulty.language, CHIPS[about.platform].arch)
    except cpp.Missing as missing:
        pytest.skip(str(missing))
    found = verdict(judge, specimen.faulty, about.platform, about.seconds)
    assert (found.status, found.reason) == (Status.FAIL, about.reason), found.detail
    assert about.says in found.detail
    assert "\n" not in found.detail
    assert len(found.log) < 20_000
    if about.at is not None:
        assert found.location is not None
        assert about.at in found.location.text
    honest = verdict(judge, specimen.honest, about.platform)
    assert (honest.status, honest.reason) == (Status.PASS, None), honest.detail


def test_there_are_enough_for_every_reason() -> None:
    assert len(CORPUS) >= 16
    at_compile_time = {reason for reason in Reason if reason.group is ReasonGroup.COMPILE}
    assert at_compile_time - {one.about.reason for one in CORPUS} <= {Reason.FRAMEWORK_FALLBACK}
