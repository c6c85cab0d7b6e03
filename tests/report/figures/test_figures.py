"""What holds for all figures, and that each shows what the metrics say."""

from __future__ import annotations

import json
import re

import pytest
import vl_convert

from kernelarena import metrics
from kernelarena.report.figures import MAKERS, figures
from kernelarena.report.figures.figure import Material
from kernelarena.report.palette import light, painted
from kernelarena.report.view import arrange
from kernelarena.spec import Baseline, Efficiency, Evidence, Speedup, Status, Telemetry
from tests.report import hostile, runs

VIEWS = {"measured": lambda data: arrange(runs.measured()), "mixed": lambda data: arrange(data)}


@pytest.fixture(scope="module")
def measured():
    return arrange(runs.measured())


@pytest.fixture(scope="module")
def made(measured):
    found, missing = figures(measured)
    assert not missing
    return {figure.id: figure for figure in found}


def rows(panel):
    return panel.spec["data"]["values"]


@pytest.mark.parametrize("name", VIEWS)
def test_every_panel_is_a_chart_that_the_library_draws(name, data):
    found, _ = figures(VIEWS[name](data))
    for figure in found:
        assert figure.panels
        assert figure.numbers.rows
        assert all(len(row) == len(figure.numbers.columns) for row in figure.numbers.rows)
        for panel in figure.panels:
            assert rows(panel), "never an empty chart"
            text = vl_convert.vegalite_to_svg({**painted(panel.spec), "width": 300, "autosize": "pad"})
            assert text.count("<path") + text.count("<text") > 5


def test_colours_are_those_of_the_style_sheet(made):
    used = {
        name
        for figure in made.values()
        for name in re.findall(r"var\(--([\w-]+)\)", json.dumps([p.spec for p in figure.panels]))
    }
    assert used <= light().keys()
    literal = re.findall(r'"#[0-9a-f]{3,6}"', json.dumps([p.spec for f in made.values() for p in f.panels]))
    assert not literal, "a colour that would not follow light and dark"


@pytest.mark.parametrize("name", VIEWS)
def test_no_chart_has_two_kinds_of_evidence(name, data):
    """Where a figure shows several, each panel or bar says which one it is."""
    view = VIEWS[name](data)
    of = {(v.kernel, v.platform): str(v.evidence) for v in view.data.verdicts}
    found, _ = figures(view)
    for figure in found:
        assert figure.evidence
        for panel in figure.panels:
            kinds = {of[r["kernel"], r["platform"]] for r in rows(panel) if {"kernel", "platform"} <= r.keys()}
            assert len(kinds) <= 1, (figure.id, panel.title)
            assert kinds <= {str(kind) for kind in figure.evidence}


def test_a_run_that_has_nothing_says_of_each_figure_why_it_is_left_out(make):
    found, missing = figures(arrange(make.run([], ["rope-half"], ("mi300",))))
    assert found == []
    assert [one.id for one in missing] == [module.ID for module in MAKERS]
    assert all(one.why.endswith(".") for one in missing)


@pytest.mark.parametrize("text", hostile.TEXTS)
def test_hostile_text_is_data(make, text):
    found, _ = figures(arrange(hostile.run(make, text)))
    written = json.dumps([panel.spec for figure in found for panel in figure.panels], ensure_ascii=False)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", written)


def test_figures_that_are_no_numbers_are_left_out_and_break_nothing(make):
    odd = [float("nan"), float("inf"), 0.0, 1.2]
    verdicts = [
        make.verdict(
            kernel,
            "h100",
            evidence=Evidence.MEASURED,
            speedup=Speedup(median=value, ci=(value, value), baseline="eager"),
            efficiency=Efficiency(architectural=None),
            telemetry=Telemetry(power=value, energy=value),
        )
        for kernel, value in zip(("add-broadcast", "rope-half", "bmm-batched", "matmul-persistent"), odd, strict=True)
    ]
    found, _ = figures(arrange(make.data(verdicts)))
    (speed,) = [figure for figure in found if figure.id == "speed"]
    assert [row["speedup"] for row in rows(speed.panels[0])] == [1.2]
    json.dumps([panel.spec for figure in found for panel in figure.panels], allow_nan=False)


@pytest.mark.parametrize("baseline", Baseline)
def test_what_kernels_were_timed_beside_is_said(baseline):
    data = runs.measured()
    timing = data.manifest.sweep.timing.model_copy(update={"baseline": baseline})
    sweep = data.manifest.sweep.model_copy(update={"timing": timing})
    view = arrange(data.model_copy(update={"manifest": data.manifest.model_copy(update={"sweep": sweep})}))
    found = {figure.id: figure for figure in figures(view)[0]}
    words = Material(view).baseline
    assert words in found["fast"].note
    assert words in found["speed"].note
    assert f"times as fast as {words}" in json.dumps(found["speed"].panels[0].spec, ensure_ascii=False)


def test_a_kernel_that_beats_the_roofline_from_a_cache_reaches_all_of_it(make):
    verdicts = [
        make.verdict("rope-half", chip, evidence=Evidence.MEASURED, efficiency=Efficiency(architectural=share))
        for chip, share in (("mi300", 1.4), ("h100", 0.5))
    ]
    found, _ = figures(arrange(make.data(verdicts)))
    (cascade,) = [figure for figure in found if figure.id == "cascade"]
    assert [row["efficiency"] for row in rows(cascade.panels[0])] == [1.0, 0.5]


def test_reach_counts_kernels_by_the_platforms_they_pass_on(made, measured):
    (panel,) = made["reach"].panels
    spreads = [row.spread[Evidence.MEASURED] for row in measured.rows]
    assert [row["kernels"] for row in rows(panel)] == [sum(len(s.passed) >= n for s in spreads) for n in (1, 2, 3)]


def test_flows_are_the_retention_of_the_run(made, measured):
    shown = [(row["kept"], row["total"]) for panel in made["flows"].panels for row in rows(panel)]
    assert sorted(shown) == sorted((pair.rate.passed, pair.rate.total) for pair in measured.retention)


def test_families_show_the_gap_as_the_metrics_have_it(made, measured):
    told = {(r[0], r[2]): r[3] for r in made["families"].numbers.rows}
    for column in measured.columns:
        for found in column.generalisation.values():
            assert told[column.id, "right on visible shapes"] == f"{found.visible.passed}/{found.visible.total}"
            assert told[column.id, "also right on hidden ones"] == f"{found.hidden.passed}/{found.hidden.total}"


def test_the_cascade_ends_in_the_performance_portability(made, measured):
    cells = Material(measured).cells
    pp = metrics.performance_portability(cells, platforms=["mi300", "h100", "h200"]).set_index("kernel")["pp"]
    last = {row["kernel"]: row["pp"] for row in rows(made["cascade"].panels[1]) if row["n"] == 3}
    assert last
    assert all(pp[kernel] == pytest.approx(value, rel=1e-3) for kernel, value in last.items())
    assert f"{int((pp > 0).sum())} of 24 kernels are above 0 over all 3 platforms" in made["cascade"].note


def test_fast_p_has_failures_in_the_denominator(made, measured):
    at_one = {row["platform"]: row for row in rows(made["fast"].panels[0]) if row["p"] == 1}
    for platform, row in at_one.items():
        cells = [v for v in measured.data.verdicts if v.platform == platform]
        fast = [v for v in cells if v.status is Status.PASS and v.speedup is not None and v.speedup.median > 1]
        assert (row["fast"], row["total"]) == (len(fast), len(cells))


@pytest.mark.parametrize(("figure", "field"), [("speed", "speedup"), ("roofline", "architectural")])
def test_strips_show_passing_cells_and_their_median(made, measured, figure, field):
    cells = Material(measured).cells
    passing = cells[(cells["status"] == "pass") & cells[field].notna()]
    (panel,) = made[figure].panels
    assert len(rows(panel)) == len(passing)
    medians = {row["platform"]: row[field] for row in panel.spec["layer"][1]["data"]["values"]}
    expected = passing.groupby("platform")[field].median()
    assert medians == {platform: pytest.approx(value, rel=1e-3) for platform, value in expected.items()}


def test_of_many_cells_some_are_drawn_and_the_median_is_of_all(monkeypatch, measured):
    from kernelarena.report.figures import roofline, strip

    material = Material(measured)
    every = roofline.make(material)
    monkeypatch.setattr(strip, "MOST_DOTS", 10)
    few = roofline.make(material)
    assert len(rows(few.panels[0])) <= 10 < len(rows(every.panels[0]))
    assert few.panels[0].spec["layer"][1]["data"] == every.panels[0].spec["layer"][1]["data"]


def test_authors_are_compared_only_on_platforms_that_have_both_kinds(made, make):
    for panel in made["authors"].panels:
        assert {row["platform"] for row in rows(panel)} <= set(runs.HOMES)
        origins = {(row["platform"], row["origin"]) for row in rows(panel)}
        assert len(origins) == 2 * len({platform for platform, _ in origins})
    one_sided = [make.verdict("rope-half", "h100"), make.verdict("rope-half", "mi300")]
    _, missing = figures(arrange(make.data(one_sided)))
    assert "authors" in {one.id for one in missing}


def test_telemetry_says_what_no_device_told(measured):
    from kernelarena.report.figures import telemetry

    quiet = tuple(
        v.model_copy(update={"telemetry": v.telemetry.model_copy(update={"clock": None})}) if v.telemetry else v
        for v in measured.data.verdicts
    )
    figure = telemetry.make(Material(arrange(measured.data.model_copy(update={"verdicts": quiet}))))
    assert [panel.title for panel in figure.panels] == ["power", "energy a call", "temperature"]
    assert "No device told of its clock." in figure.note
