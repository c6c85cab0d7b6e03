from __future__ import annotations

from kernelarena.report import sheet
from kernelarena.report.view import arrange
from kernelarena.spec import Status
from tests.report import runs


def test_columns_that_no_cell_has_anything_for_are_left_out(make):
    found = sheet.make(arrange(make.data([make.verdict("rope-half", p) for p in ("cpu", "mi300")])))
    assert found.columns == ("visible", "hidden", "registers", "shared memory", "spills", "occupancy")
    assert all(len(row.figures) == len(found.columns) for row in found.rows)
    every = sheet.make(arrange(runs.measured()))
    assert {"speedup", "of roofline", "energy"} < set(every.columns)


def test_what_is_unknown_is_missing_and_not_nothing(make):
    found = sheet.make(arrange(make.data([make.verdict("rope-half", p) for p in ("cpu", "mi300")])))
    emulated, compiled = (dict(zip(found.columns, row.figures, strict=True)) for row in found.rows)
    assert emulated["registers"] is None
    assert compiled["hidden"] is None
    assert compiled["spills"] == ("0", 0.0)


def test_figures_are_sorted_by_what_they_mean(make):
    found = sheet.make(arrange(make.data([make.verdict("rope-half", "mi300")])))
    (row,) = found.rows
    assert dict(zip(found.columns, row.figures, strict=True))["shared memory"] == ("16 KiB", 16384.0)


def test_there_is_a_filter_where_there_is_a_choice(view, make):
    found = sheet.make(view).choices
    assert found["platform"] == tuple(column.id for column in view.columns)
    assert "worker-lost" in found["outcome"]
    assert sheet.make(arrange(make.data([make.verdict("rope-half", "mi300")]))).choices == {}


def test_where_not_all_have_room_those_that_fail_come_first(monkeypatch, view):
    verdicts = view.data.verdicts
    failing = sum(verdict.status is not Status.PASS for verdict in verdicts)
    monkeypatch.setattr(sheet, "MOST_ROWS", failing + 2)
    found = sheet.make(view)
    assert found.left_out == len(verdicts) - failing - 2
    assert [row.verdict.status is Status.PASS for row in found.rows] == [False] * failing + [True] * 2
