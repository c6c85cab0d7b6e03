from __future__ import annotations

import csv
import io

import pytest

from kernelarena.report.csv import guarded, render
from kernelarena.report.table import COLUMNS
from kernelarena.report.view import arrange
from tests.report import hostile


def rows(text):
    return list(csv.DictReader(io.StringIO(text), strict=True))


def test_one_line_a_cell(view, data):
    found = rows(render(view))
    assert [(row["kernel"], row["platform"]) for row in found] == [(v.kernel, v.platform) for v in data.verdicts]
    assert list(found[0]) == list(COLUMNS)
    softmax = next(row for row in found if (row["kernel"], row["platform"]) == ("softmax-1024", "cpu"))
    assert (softmax["reason"], softmax["line"], softmax["hidden_alignment_passed"]) == ("mismatch", "12", "0")
    built = next(row for row in found if (row["kernel"], row["platform"]) == ("rope-half", "mi300"))
    assert (built["shared_memory"], built["occupancy"], built["reason"], built["line"]) == ("16384", "0.5", "", "")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\n=1", "\x1b[0m=1"])
def test_nothing_is_a_formula(text):
    assert guarded(text).startswith("'")
    assert not guarded("\r=1").startswith(("=", "\r"))


def test_other_text_is_left_alone():
    assert guarded('a = b, "c"') == 'a = b, "c"'
    assert guarded(None) == ""


@pytest.mark.parametrize("text", [*hostile.TEXTS, hostile.LONG])
def test_hostile_text_breaks_no_line(make, text):
    written = render(arrange(hostile.run(make, text)))
    assert written.count("\n") == 4
    found = rows(written)
    assert [row["platform"] for row in found] == ["cpu", "mi300", "h100"]
    assert not [v for row in found for v in row.values() if v.startswith(("=", "+", "-", "@", "\t", "\r"))]
