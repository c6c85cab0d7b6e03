from __future__ import annotations

import json

import jsonschema
import pytest

from kernelarena.metrics import comparison
from kernelarena.report import json as report_json
from kernelarena.report.comparison import (
    FORMATS,
    history,
    json_schema,
    page,
    render,
    render_trend,
    trend_page,
    trend_schema,
)
from kernelarena.spec import Evidence, Gate, Reason
from tests.metrics.comparison.conftest import launch, measured, run, timed
from tests.metrics.conftest import cell
from tests.report import hostile

BASE = run(
    [
        cell("a", "p", gate=Gate.COMPILE),
        cell("b", "p", Reason.MISMATCH, gate=Gate.CORRECTNESS, evidence=Evidence.MEASURED),
        cell("c", "p"),
        cell("d", "p"),
        cell("e", "p", launches=(launch(shared_memory=1000, occupancy=0.25),)),
        measured("f", "p", timed(1, 1.0), timed(2, 1.0), timed(3, 1.0)),
        cell("g", "p"),
    ],
    versions={"triton": "3.6.0"},
    id="before",
    finished="2026-11-30T15:00:00+00:00",
)
NEW = run(
    [
        cell("a", "p", Reason.COMPILE_ERROR, detail="at 3:4: no"),
        measured("b", "p"),
        cell("c", "p", Reason.WORKER_LOST),
        cell("e", "p", launches=(launch(shared_memory=1100, spills=4, occupancy=0.5),)),
        measured("f", "p", timed(1, 0.9), timed(2, 1.2), timed(3, 1.0)),
        measured("g", "p", reason=Reason.MISMATCH, status="fail", gate=Gate.CORRECTNESS),
        cell("h", "p"),
    ],
    id="after",
    finished="2026-11-30T15:00:00+00:00",
)
FOUND = comparison.compare(BASE, NEW)
BREACHES = comparison.breaches(FOUND, comparison.parse("new-failures,spills"))


def document(found=FOUND, breaches=BREACHES):
    return json.loads(render(found, "json", breaches))


def closed(schema):
    """The schema with every object closed, so that a field which nothing describes is found."""
    for part in (schema, *schema["$defs"].values()):
        if "properties" in part:
            part["additionalProperties"] = False
    return schema


def test_the_answer_in_plain_words():
    failures, times, resources = page(FOUND).sentences
    assert failures == (
        "Of 5 cells judged in both runs (3 measured and 2 compiled now), 1 newly fails: compile-error at the compile "
        "gate, compiled (1); 1 is fixed."
    )
    assert times.startswith("Of 3 shapes timed in both runs, 1 is slower (at worst f on p, +11.1%) and 1 is faster")
    assert (
        resources
        == "Resources got worse in 1 cell: spills (1) and shared memory (1); spills appeared in 1 device function."
    )


def test_a_run_against_itself_has_nothing_to_tell():
    told = page(comparison.compare(BASE, BASE))
    assert told.shown == []
    assert told.sentences[0].endswith("none newly fails and 0 are fixed.")
    assert told.sentences[1] == "Of 3 shapes timed in both runs, none differs beyond noise."
    assert told.sentences[2] == "No compiled kernel needs more than before."


def test_runs_without_a_common_cell():
    told = page(comparison.compare(run([cell("a", "p")]), run([cell("b", "p")])))
    assert told.sentences[0] == "The runs have no cell in common: there is nothing to compare."
    assert [section.title for section in told.shown] == ["In one run only"]


def test_regressions_stand_before_improvements_and_the_environment_before_both():
    titles = [section.title for section in page(FOUND, BREACHES).shown]
    assert titles == [
        "Failed conditions",
        "Environment",
        "Newly failing",
        "Slower",
        "Resources worse",
        "Nothing known any more",
        "Fixed",
        "Faster",
        "Resources better or otherwise",
        "Evidence changed",
        "In one run only",
    ]


def test_what_limits_the_answer_is_said():
    other = run([cell("a", "p"), measured("f", "p")], source="other", hidden_seed_sha256="1" * 64)
    warnings = page(comparison.compare(BASE, other)).warnings
    compiled = run([cell("a", "p")], hidden_seed_sha256="1" * 64)  # where nothing ran, no shape was drawn
    assert not any("hidden shapes" in text for text in page(comparison.compare(BASE, compiled)).warnings)
    assert any("different hidden shapes" in text for text in warnings)
    assert any("2 kernels differ between the runs" in text for text in warnings)
    assert "The new run is not finished." in warnings
    again = run([measured("f", "p", timed(1, 1.0))], versions={"torch": "2.14.0"}, finished="2026-12-01")
    assert any("The baseline is not the same" in text for text in page(comparison.compare(BASE, again)).warnings)
    assert page(FOUND).warnings == []


def test_the_json_is_as_its_schema_says_and_has_no_field_beyond():
    jsonschema.Draft202012Validator(closed(report_json.schema("comparison"))).validate(document())
    trend = json.loads(render_trend(history([BASE, NEW, BASE]), "json"))
    jsonschema.Draft202012Validator(closed(report_json.schema("trend"))).validate(trend)
    assert (document()["schema"], trend["schema"]) == ("kernelarena.comparison/1", "kernelarena.trend/1")


@pytest.mark.parametrize(("name", "made"), [("comparison", json_schema), ("trend", trend_schema)])
def test_the_schemas_that_ship_are_those_of_the_models(name, made):
    """Write them anew with: json.dumps(made(), indent=2, ensure_ascii=False)."""

    def undescribed(value):
        if isinstance(value, dict):
            return {key: undescribed(item) for key, item in value.items() if key != "description"}
        return [undescribed(item) for item in value] if isinstance(value, list) else value

    jsonschema.Draft202012Validator.check_schema(report_json.schema(name))
    assert undescribed(report_json.schema(name)) == undescribed(made())


def test_the_json_tells_what_the_page_tells():
    told = document()
    assert told["counts"]["new-failure"] == told["counts"]["fixed"] == told["counts"]["lost"] == 1
    assert sum(told["counts"].values()) == 6
    changes = {each["kernel"]: (each["change"], each["evidence_changed"]) for each in told["cells"]}
    assert changes == {
        "a": ("new-failure", False),
        "b": ("fixed", False),
        "c": ("lost", False),
        "g": ("evidence", True),
    }
    assert {(each["resource"], each["worse"]) for each in told["resources"]} == {
        ("spills", True),
        ("shared_memory", True),
        ("occupancy", False),
    }
    assert [each["pace"] for each in told["times"]] == ["slower", "faster", "none"]
    assert {(each["kernel"], each["run"]) for each in told["unmatched"]} == {("d", "base"), ("h", "new")}
    assert {each["condition"] for each in told["breaches"]} == {"new-failures", "spills"}
    assert told["summary"] == page(FOUND).sentences


@pytest.mark.parametrize("format", FORMATS)
def test_every_form_names_every_regression(format):
    text = render(FOUND, format, BREACHES)
    shape = '"M": 1' if format == "json" else "M=1 float16"
    for word in ("compile-error", "at 3:4: no", "spills", shape, "new-failures", "3.6.0", "3.9.0"):
        assert word in text


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("text", hostile.TEXTS, ids=range(len(hostile.TEXTS)))
def test_hostile_runs_are_compared_and_shown(make, text, format):
    data = hostile.run(make, text)
    other = data.model_copy(
        update={"verdicts": tuple(verdict.model_copy(update={"launches": ()}) for verdict in reversed(data.verdicts))}
    )
    written = render(comparison.compare(data, other), format)
    assert "\x1b" not in written
    assert "<script>alert" not in written or format == "json"
    assert render_trend(history([data, other]), format)


def test_a_history_follows_common_cells():
    steps = history([BASE, NEW, BASE])
    C, M = Evidence.COMPILED, Evidence.MEASURED
    assert {e: str(r) for e, r in steps[0].rates["p"].items()} == {M: "1/2", C: "5/5"}
    assert {e: str(r) for e, r in steps[0].common["p"].items()} == {M: "1/2", C: "4/4"}  # without d
    assert steps[0].since is None
    told = trend_page(steps)
    rates, common, changes = told.sections
    assert rates.columns == ("run", "with", "p (measured)", "p (compiled)")
    assert rates.rows[1] == ("after", "triton 3.9.0, torch 2.13.0", "2/3", "2/3")
    assert common.rows[0][2:] == ("1/2", "4/4")
    assert changes.rows[0] == ("after", "1", "1", "1", "1", "1", "1")
    assert told.sentences[1] == "In 2 steps, 2 cells newly failed and 2 were fixed."


def test_one_run_is_no_history():
    with pytest.raises(ValueError, match="1 run is no history"):
        history([BASE])
