from __future__ import annotations

import pytest

from kernelarena.report import detail
from kernelarena.report.detail import details, gates
from kernelarena.report.html import render
from kernelarena.report.view import arrange
from kernelarena.spec import Evidence, Gate, Reason, Speedup, Status, Tally
from tests.report import runs


def told(verdict):
    return {str(step.gate): (step.state, step.text) for step in gates(verdict)}


def test_a_compiled_cell_passed_one_gate_and_was_asked_no_more(make):
    assert told(make.verdict("rope-half", "mi300")) == {
        "compile": ("pass", "6/6 shapes, 1 specialisation"),
        "correctness": ("", ""),
        "timing": ("", ""),
        "hidden": ("", ""),
    }


def test_an_emulated_cell_is_neither_compiled_nor_timed(make):
    found = told(make.verdict("rope-half", "cpu"))
    assert found["compile"] == found["timing"] == ("", "")
    assert found["correctness"] == ("pass", "6/6")
    assert found["hidden"] == ("pass", "8/8")


def test_the_gate_that_failed_is_marked_and_what_follows_is_empty(make, data):
    (verdict,) = [v for v in data.verdicts if (v.kernel, v.platform) == ("softmax-1024", "cpu")]
    found = told(verdict)
    assert found["correctness"] == ("pass", "6/6, error up to 0.21 of the allowed")
    assert found["hidden"] == ("fail", "5/8, error up to 4.1e+02 of the allowed")
    crashed = make.failed("rope-half", "cpu", Reason.CRASH, "x", visible=Tally())
    assert told(crashed)["correctness"] == ("fail", "")
    assert told(crashed)["hidden"] == ("", "")


def test_a_measured_cell_says_how_fast_it_is(make):
    speedup = Speedup(median=1.5, ci=(1.4, 1.6), baseline="eager")
    verdict = make.verdict("rope-half", "h100", evidence=Evidence.MEASURED, gate=Gate.HIDDEN, speedup=speedup)
    assert told(verdict)["timing"] == ("pass", "1.50 × (1.40 to 1.60) eager")


def test_what_nothing_is_known_about_was_asked_nothing(make):
    verdict = make.unknown("rope-half", "mi300", Status.INFRA, Reason.WORKER_LOST, "x")
    assert {state for state, _ in told(verdict).values()} == {""}


def test_every_kernel_with_a_verdict_is_told_of_with_its_source(view, data):
    found, left = details(view)
    assert [one.row.id for one in found] == list(data.manifest.kernels)
    assert left == 0
    assert all(one.source and not one.untold for one in found)
    assert [len(one.failures) for one in found] == [len(dict(view.failed_rows).get(one.row.id, ())) for one in found]
    assert all(one.reproduce.startswith("kab-mc check ") for one in found)


def test_the_times_of_shapes_are_told_as_far_as_there_is_room(monkeypatch):
    view = arrange(runs.measured())
    timed = [v for v in view.data.verdicts if v.timings]
    assert [v for one in details(view)[0] for v in one.timed] == timed
    monkeypatch.setattr(detail, "_ROOM_FOR_SHAPES", 3 * len(timed) // 2)
    kept = [v for one in details(view)[0] for v in one.timed]
    assert 0 < len(kept) <= len(timed) / 2
    text = render(view)
    assert text.count('<table class="plain timed">') == len({v.kernel for v in kept})
    assert "The times of its shapes are in report.json" in text


@pytest.mark.parametrize("room", [0, 40_000])
def test_what_there_is_no_room_for_is_counted(monkeypatch, room):
    view = arrange(runs.measured())
    monkeypatch.setattr(detail, "_ROOM_FOR_FAILURES", room)
    monkeypatch.setattr(detail, "_ROOM_FOR_SOURCES", 0)
    monkeypatch.setattr(detail, "MOST_KERNELS", 20)
    found, left = details(view)
    assert (len(found), left) == (20, 4)
    kept = {one.row.id for one in found}
    assert sum(len(one.failures) + one.untold for one in found) == sum(f.first.kernel in kept for f in view.failures)
    assert any(one.failures for one in found) == bool(room)
    assert not any(one.source for one in found)
    passing = [row.id for row in view.rows if row.passes_everywhere]
    assert len(kept & set(passing)) < len(passing), "those that pass make room first"
