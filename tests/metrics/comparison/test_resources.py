from __future__ import annotations

import pytest

from kernelarena.metrics.comparison import compare
from kernelarena.spec import Reason
from tests.metrics.comparison.conftest import launch
from tests.metrics.conftest import cell


def changes(run, before, after):
    found = compare(run([cell("a", "p", launches=tuple(before))]), run([cell("a", "p", launches=tuple(after))]))
    return [(c.function, c.resource, c.base, c.new, c.worse) for c in found.resources]


@pytest.mark.parametrize(
    ("resource", "before", "after", "worse"),
    [
        ("spills", 0, 12, True),
        ("spills", 12, 0, False),
        ("scratch", 0, 48, True),
        ("shared_memory", 1024, 2048, True),
        ("occupancy", 0.5, 0.25, True),
        ("occupancy", 0.25, 0.5, False),
        ("registers", 32, 64, False),  # what they cost shows in occupancy
    ],
)
def test_each_figure_has_its_direction(run, resource, before, after, worse):
    found = changes(run, [launch(**{resource: before})], [launch(**{resource: after})])
    assert found == [("f", resource, before, after, worse)]


def test_the_worst_specialisation_speaks_for_its_function(run):
    before = [launch(signature=s) for s in ("fp16", "bf16", "fp32")] + [launch("g")]
    after = [
        launch(signature="fp16", spills=2),
        launch(signature="bf16", spills=9),
        launch(signature="fp32"),
        launch("g"),
    ]
    found = compare(run([cell("a", "p", launches=tuple(before))]), run([cell("a", "p", launches=tuple(after))]))
    (change,) = found.resources
    assert (change.base, change.new, change.signature) == (0, 9, "bf16")


def test_a_change_for_the_worse_is_not_hidden_by_a_greater_one_for_the_better(run):
    before = [launch(signature="a", shared_memory=9000), launch(signature="b", shared_memory=1000)]
    after = [launch(signature="a", shared_memory=1000), launch(signature="b", shared_memory=1100)]
    assert changes(run, before, after) == [("f", "shared_memory", 1000, 1100, True)]


def test_like_is_held_against_like(run):
    # the same function with other warps is another program
    assert changes(run, [launch(warps=4), launch()], [launch(warps=16, spills=50), launch()]) == []
    # without any in common, worst against worst
    assert changes(run, [launch(warps=4)], [launch(warps=16, spills=50)]) == [("f", "spills", 0, 50, True)]
    # functions of one run only are not compared
    assert changes(run, [launch("f")], [launch("g", spills=3)]) == []


def test_what_an_autotuner_only_tried_counts_where_there_is_nothing_else(run):
    tried = [launch(signature="big", tuning=True)], [launch(signature="big", tuning=True, spills=99)]
    assert changes(run, [launch(), *tried[0]], [launch(), *tried[1]]) == []
    assert changes(run, *tried) == [("f", "spills", 0, 99, True)]


def test_what_cannot_run_has_no_resources_to_compare(run):
    unfit = launch(shared_memory=200_000, reason=Reason.RESOURCE_EXCEEDED)
    assert changes(run, [launch()], [unfit]) == []


def test_unknown_is_no_change(run):
    assert changes(run, [launch(registers=None)], [launch(registers=200)]) == []


def test_growth_from_nothing_is_without_bound(run):
    found = compare(
        run([cell("a", "p", launches=(launch(),))]),
        run([cell("a", "p", launches=(launch(spills=1, shared_memory=1280),))]),
    )
    growth = {change.resource: change.growth for change in found.resources}
    assert growth == {"spills": float("inf"), "shared_memory": 0.25}
