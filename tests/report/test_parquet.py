from __future__ import annotations

import csv
import io

import pyarrow.parquet as pq
import pytest

from kernelarena.report import csv as as_csv
from kernelarena.report import table
from kernelarena.report.parquet import render
from kernelarena.report.view import arrange
from kernelarena.spec import Efficiency, Evidence, Speedup, Telemetry
from tests.report import hostile


def read(view):
    return pq.read_table(io.BytesIO(render(view)))


def test_it_is_the_csv_with_types(view):
    found = read(view)
    assert found.column_names == list(table.COLUMNS)
    assert found.schema.metadata[b"kernelarena.run"] == view.data.manifest.id.encode()
    lines = list(csv.DictReader(io.StringIO(as_csv.render(view))))
    rows = found.to_pylist()
    assert len(rows) == len(lines) == len(view.data.verdicts)
    for row, line in zip(rows, lines, strict=True):
        for name, kind in table.COLUMNS.items():
            assert (row[name] is None) == (line[name] == "") or (kind is str and row[name] == "")
            if row[name] is not None and kind is not str:
                assert row[name] == kind(line[name])


def test_what_was_measured_is_in_both(make):
    verdict = make.verdict(
        "rope-half",
        "mi300",
        evidence=Evidence.MEASURED,
        speedup=Speedup(median=1.5, ci=(1.4, 1.6), baseline="=eager"),
        efficiency=Efficiency(architectural=0.7),
        telemetry=Telemetry(power=600.0),
    )
    view = arrange(make.data([verdict]))
    (row,) = read(view).to_pylist()
    told = [row[name] for name in ("speedup", "speedup_low", "speedup_high", "baseline", "power", "energy")]
    assert told == [1.5, 1.4, 1.6, "=eager", 600.0, None]
    assert (row["efficiency_architectural"], row["efficiency_application"]) == (0.7, None)
    (line,) = csv.DictReader(io.StringIO(as_csv.render(view)))
    assert (line["speedup_low"], line["baseline"], line["energy"]) == ("1.4", "'=eager", "")


def test_an_empty_run_has_its_columns(make):
    found = read(arrange(make.data([])))
    assert (found.num_rows, found.column_names) == (0, list(table.COLUMNS))


@pytest.mark.parametrize("text", hostile.TEXTS, ids=range(len(hostile.TEXTS)))
def test_hostile_text_is_text(make, text):
    view = arrange(hostile.run(make, text))
    assert [row["platform"] for row in read(view).to_pylist()] == ["cpu", "mi300", "h100"]
