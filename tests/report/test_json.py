from __future__ import annotations

import json

import jsonschema
import pytest

from kernelarena.report.document import comparable, json_schema
from kernelarena.report.json import as_dict, render, schema
from kernelarena.report.text import clean
from kernelarena.report.view import arrange
from kernelarena.spec import Evidence, Reason, Shape, Speedup, Status, TimedShape, Trial
from kernelarena.spec.condensed import condensed
from tests.report import hostile


@pytest.fixture(scope="module")
def report(view):
    return json.loads(render(view))


def _closed(node):
    """The schema with every object closed, so that a field which nothing describes is found."""
    if isinstance(node, dict):
        closed = {key: _closed(value) for key, value in node.items()}
        return {**closed, "additionalProperties": False} if "properties" in node else closed
    return [_closed(item) for item in node] if isinstance(node, list) else node


def test_the_report_is_as_its_schema_says_and_has_no_field_beyond(report):
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.Draft202012Validator(_closed(schema())).validate(report)


def test_a_program_that_checks_by_the_schema_survives_a_field_added_later(report):
    later = {**report, "trend": [], "cells": [{**cell, "roofline": None} for cell in report["cells"]]}
    jsonschema.Draft202012Validator(schema()).validate(later)


@pytest.mark.parametrize(
    "damage",
    [
        lambda r: r.pop("cells"),
        lambda r: r.update(schema="kernelarena.report/2"),
        lambda r: r["cells"][0].update(status="passed"),
        lambda r: r["cells"][0].update(reason="bad-luck"),
        lambda r: r["cells"][0].pop("evidence"),
        lambda r: r["platforms"]["h100"].update(skipped="none"),
    ],
)
def test_the_schema_refuses_what_is_no_report(view, damage):
    report = json.loads(render(view))
    damage(report)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate(report)


def test_the_schema_that_ships_is_the_one_of_the_models():
    """Write it anew with: json.dumps(kernelarena.report.document.json_schema(), indent=2, ensure_ascii=False)."""

    def shape(node):  # names, types and enumerations; titles and wording may differ between versions of pydantic
        if isinstance(node, dict):
            return {key: shape(value) for key, value in node.items() if key not in ("title", "description")}
        return [shape(item) for item in node] if isinstance(node, list) else node

    assert shape(schema()) == shape(json_schema())


def test_the_fields_of_a_cell_that_others_rely_on(report):
    assert report["schema"] == "kernelarena.report/1"
    cell = next(c for c in report["cells"] if (c["kernel"], c["platform"]) == ("softmax-1024", "cpu"))
    assert {
        "task": "softmax",
        "kernel": "softmax-1024",
        "language": "triton",
        "home": "h100",
        "platform": "cpu",
        "evidence": "emulated",
        "status": "fail",
        "gate": "hidden",
        "reason": "mismatch",
        "visible": {"passed": 6, "total": 6},
        "speedup": None,
        "efficiency": None,
        "telemetry": None,
    }.items() <= cell.items()
    assert cell["hidden"]["passed"] == 5
    assert list(cell["hidden"]["by_family"]) == [
        "edge",
        "scale-up",
        "scale-down",
        "alignment",
        "asymmetric",
        "production",
    ]
    assert cell["trials"]["failed"] == 2
    assert cell["trials"]["worst_error"] == 412.5, "an infinite error is not a number"
    assert cell["trials"]["failures"][1]["error"] is None


def test_columns_and_rows_of_the_matrix(report):
    mi300 = report["platforms"]["mi300"]
    assert mi300["evidence"]["compiled"]["passed"] == 8
    assert mi300["evidence"]["compiled"]["reasons"] == {
        "resource-exceeded": 2, "syntax-error": 1, "unsupported-feature": 1,
    }  # fmt: skip
    assert (mi300["evidence"]["compiled"]["generalisation"], mi300["arch"]) == (None, "gfx942")
    assert report["platforms"]["cpu"]["evidence"]["emulated"]["generalisation"]["hidden"] == {
        "passed": 7, "total": 12, "share": pytest.approx(7 / 12),
    }  # fmt: skip
    assert [report["platforms"][p][k] for p, k in (("a100", "infra"), ("mi250", "skipped"), ("h100", "pending"))] == [
        1,
        1,
        1,
    ]
    softmax = report["portability"]["kernels"]["softmax-1024"]["evidence"]
    assert softmax["compiled"] == {
        "passed": ["rx7900", "a100", "h100"], "failed": ["mi250", "mi300"], "share": 0.6,
    }  # fmt: skip
    assert softmax["emulated"]["passed"] == []
    kept = next(pair for pair in report["portability"]["retention"] if pair["platform"] == "mi250")
    assert (kept["home"], kept["passed"], kept["total"]) == ("h100", 4, 7)


def test_order_does_not_depend_on_when_cells_ended(make, view, data):
    """The store gives cells in the order of the matrix; within one, nothing follows the order of a dict."""
    assert render(arrange(data)) == render(view)
    pairs = [(cell["kernel"], cell["platform"]) for cell in as_dict(view)["cells"]]
    order = [(k, p) for k in data.manifest.kernels for p in data.manifest.platforms]
    assert pairs == [pair for pair in order if pair in set(pairs)]


def test_a_resumed_run_and_an_undisturbed_one_compare_equal(make):
    once = make.data([make.verdict("rope-half", p) for p in ("cpu", "mi300")])
    again = make.data(
        [make.verdict("rope-half", p, duration_s=99.0, attempts=3, cached=True) for p in ("cpu", "mi300")],
        id="20270101-000000-ffff",
        created="2027-01-01T00:00:00+00:00",
        command=("kab-mc", "sweep", "--resume", "x"),
    )
    one, two = as_dict(arrange(once)), as_dict(arrange(again))
    assert one != two
    assert comparable(one) == comparable(two)
    lost = make.data([make.verdict("rope-half", "cpu"), make.failed("rope-half", "mi300", Reason.CRASH, "")])
    assert comparable(one) != comparable(as_dict(arrange(lost)))


def test_no_number_is_anything_that_json_does_not_have(make):
    nan, infinite = float("nan"), float("inf")
    verdict = make.verdict(
        "rope-half",
        "mi300",
        evidence=Evidence.MEASURED,
        speedup=Speedup(median=nan, ci=(0.0, infinite), baseline="eager"),
        efficiency={"architectural": nan, "application": 0.5},
        trials=(Trial(shape={"dims": {"M": 1}, "dtype": "float32"}, passed=False, error=nan),),
    )
    text = render(arrange(make.data([verdict])))
    (cell,) = json.loads(text, parse_constant=pytest.fail)["cells"]
    assert cell["speedup"] is None, "an interval without a number is no interval"
    assert cell["efficiency"] == {"architectural": None, "application": 0.5}
    jsonschema.Draft202012Validator(schema()).validate(json.loads(text))


def test_text_that_looks_like_a_number_stays_text(make):
    (cell,) = as_dict(arrange(make.data([make.failed("rope-half", "mi300", Reason.CRASH, "NaN")])))["cells"]
    assert cell["detail"] == "NaN"


def test_hostile_text_is_only_text(make):
    verdict = make.failed("rope-half", "mi300", Reason.CRASH, "\x1b[2J\x00\ud800 end", log="A" * 10_000_000)
    text = render(arrange(make.data([verdict])))
    assert len(text) < 50_000
    text.encode("utf-8")
    assert json.loads(text)["cells"][0]["detail"] == "␀\ufffd end"


def test_an_empty_run_has_a_report(make):
    report = json.loads(render(arrange(make.run([], [], ()))))
    jsonschema.Draft202012Validator(_closed(schema())).validate(report)
    assert report["cells"] == []


def test_every_status_is_reported(report):
    assert {cell["status"] for cell in report["cells"]} == {str(status) for status in Status}


def test_timed_shapes_are_told_and_fit_the_schema(make):
    shape = Shape(dims={"M": 2}, dtype="float16")
    known = TimedShape(
        shape=shape, kernel=2e-5, baseline=3e-5, speedup=Speedup(median=1.5, ci=(1.4, 1.6), baseline="eager")
    )
    odd = known.model_copy(update={"speedup": Speedup(median=1.5, ci=(0.0, float("inf")), baseline="eager")})
    verdict = make.verdict("rope-half", "mi300", evidence=Evidence.MEASURED, timings=(known, odd))
    document = as_dict(arrange(make.data([verdict])))
    jsonschema.Draft202012Validator(_closed(schema())).validate(document)
    told = document["cells"][0]["timings"]
    assert (told[0]["kernel"], told[0]["speedup"]["ci"], told[1]["speedup"]) == (2e-5, [1.4, 1.6], None)
    assert "timings" not in comparable(document)["cells"][0]


def test_a_report_of_condensed_verdicts_says_the_same(data):
    shapes = {}
    short = data.model_copy(update={"verdicts": tuple(condensed(verdict, shapes) for verdict in data.verdicts)})
    assert as_dict(arrange(short)) == as_dict(arrange(data))


@pytest.mark.parametrize("text", [*hostile.TEXTS, "a\n" * 40_000, "NaN", 'quoted "cells": [] here', "back\\slash"])
def test_a_cell_is_as_clean_on_the_fast_way_as_on_the_slow_one(make, text):
    verdict = make.failed("rope-half", "mi300", Reason.CRASH, text, notes=(text,), toolchain=text)
    (cell,) = as_dict(arrange(make.data([verdict])))["cells"]
    assert (cell["detail"], cell["notes"], cell["toolchain"]) == (clean(text), [clean(text)], clean(text))
