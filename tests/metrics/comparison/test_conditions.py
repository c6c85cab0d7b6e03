from __future__ import annotations

import pytest

from kernelarena.errors import InputError
from kernelarena.metrics.comparison import CONDITIONS, Condition, breaches, compare, parse
from kernelarena.spec import Gate, Reason
from tests.metrics.comparison.conftest import launch, measured, run, timed
from tests.metrics.conftest import cell

BASE = run(
    [
        cell("a", "p"),
        cell("b", "p", Reason.MISMATCH),
        cell("c", "p"),
        cell("d", "p"),
        cell("e", "p", launches=(launch(shared_memory=1000, registers=100),)),
        measured("f", "p", timed(1, 1.0), timed(2, 1.0)),
    ]
)
NEW = run(
    [
        cell("a", "p", Reason.COMPILE_ERROR),
        cell("b", "p", Reason.CRASH, gate=Gate.CORRECTNESS),
        cell("c", "p", Reason.WORKER_LOST),
        cell("e", "p", launches=(launch(shared_memory=1100, registers=105, spills=4, scratch=16, occupancy=0.45),)),
        measured("f", "p", timed(1, 0.9), timed(2, 0.8)),
    ]
)


@pytest.mark.parametrize(
    ("condition", "places"),
    [
        ("new-failures", ["a on p (compile-error)"]),
        ("other-failures", ["b on p (crash)"]),
        ("lost", ["c on p (worker-lost)"]),
        ("missing", ["d on p (no verdict)"]),
        ("slower", ["f on p (M=2 float16: +25.0%)", "f on p (M=1 float16: +11.1%)"]),
        ("slower:20%", ["f on p (M=2 float16: +25.0%)"]),
        ("slower:30%", []),
        ("spills", ["e on p (f: spills 0 to 4)"]),
        ("scratch", ["e on p (f: scratch 0 to 16)"]),
        ("shared-memory:10%", ["e on p (f: shared memory 1000 to 1100)"]),
        ("shared-memory:10.1%", []),
        ("occupancy:5%", ["e on p (f: occupancy 0.5 to 0.45)"]),
        ("occupancy:20%", []),
        ("registers", ["e on p (f: registers 100 to 105)"]),
        ("registers:6%", []),
    ],
)
def test_each_condition_names_its_places(condition, places):
    found = breaches(compare(BASE, NEW), parse(condition))
    assert [place for breach in found for place in breach.places] == places


def test_resources_are_all_that_can_only_be_worse():
    (breach,) = breaches(compare(BASE, NEW), parse("resources"))
    assert [place.rpartition(": ")[2].split(" ")[0] for place in breach.places] == [
        "spills",
        "scratch",
        "shared",
        "occupancy",
    ]


def test_nothing_holds_between_a_run_and_itself_or_when_all_got_better():
    everything = parse(",".join(CONDITIONS))
    assert breaches(compare(BASE, BASE), everything) == []
    better = breaches(compare(NEW, BASE), everything)
    assert [str(breach.condition) for breach in better] == ["other-failures"]


def test_words():
    assert parse(" new-failures, slower:5% ,spills") == [
        Condition("new-failures"),
        Condition("slower", 0.05),
        Condition("spills"),
    ]
    assert [str(condition) for condition in parse("slower:2.5%,lost")] == ["slower:2.5%", "lost"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slowr:5%", "--fail-on slowr:5%: no such condition; did you mean 'slower'?"),
        ("slower:5", "--fail-on slower:5: a threshold is a percentage, as in slower:5%"),
        ("slower:-5%", "a threshold is a percentage"),
        ("lost:5%", "--fail-on lost:5%: lost has no threshold; leave it out"),
        (" , ", "--fail-on: names nothing; known: new-failures, "),
    ],
)
def test_mistakes_are_one_clear_line(text, message):
    with pytest.raises(InputError) as caught:
        parse(text)
    assert message in str(caught.value)
