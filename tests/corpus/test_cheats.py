"""No cheat passes, each is named for what it is, and no honest twin fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from kernelarena.judge import Judge
from kernelarena.platforms import catalogue
from kernelarena.spec import Reason, ReasonGroup
from tests.corpus.runner import CHEATS, Specimen, Where, judged, specimens

CORPUS = specimens()
CPU = catalogue.load()["cpu"]
_KIND_OF_LUCK = {Reason.MISMATCH, Reason.NON_FINITE, Reason.REDUCED_PRECISION}
"""Reasons that say that an answer is wrong, and nothing of why."""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as judge:
        yield judge


@pytest.mark.parametrize("specimen", [one for one in CORPUS if one.suits(CPU)], ids=lambda one: one.name)
def test_a_cheat_is_caught_and_its_twin_is_not(specimen: Specimen, judge: Judge) -> None:
    for outcome in judged(judge, [specimen], CPU):
        assert outcome.good, outcome.trouble


def test_there_are_enough_cheats_of_every_sort() -> None:
    where = Counter(place for one in CORPUS for place in one.about.platforms)
    assert where[Where.CPU] >= 50
    assert where[Where.DEVICE] >= 8
    groups = Counter(one.name.split("/")[0] for one in CORPUS)
    assert set(groups) == {folder.name for folder in CHEATS.iterdir() if folder.is_dir() and folder.name != "common"}
    assert min(groups.values()) >= 3, groups


@pytest.mark.parametrize("specimen", CORPUS, ids=lambda one: one.name)
def test_a_cheat_is_described(specimen: Specimen) -> None:
    about = specimen.about
    assert about.kind
    assert about.story
    assert about.fools
    assert about.reasons[0] not in _KIND_OF_LUCK, "the best reason names the deceit"
    assert not any(reason.group is ReasonGroup.INFRA for reason in about.reasons)
    assert specimen.cheat.digest != specimen.honest.digest


def test_no_two_specimens_are_the_same() -> None:
    sources = Counter(kernel.files["kernel.py"] for one in CORPUS for kernel in (one.cheat, one.honest))
    assert max(sources.values()) == 1
