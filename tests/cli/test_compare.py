from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from kernelarena.cli import run as kab_mc
from kernelarena.cli.compare import compare
from kernelarena.cli.trend import trend
from kernelarena.errors import InputError, KernelArenaError
from kernelarena.metrics.comparison import CONDITIONS
from kernelarena.spec import Reason
from kernelarena.store import Run
from tests.report.conftest import Factory


def stored(folder, make, verdicts, **fields):
    data = make.data(verdicts, hidden_seed=None, hidden_seed_sha256=None, **fields)
    with Run.create(folder, data.manifest, data.platforms, data.tasks, data.kernels.values()) as opened:
        for verdict in verdicts:
            opened.record(verdict)
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    make, folder = Factory(), tmp_path_factory.mktemp("runs")
    before = [make.verdict("rope-half", p) for p in ("mi300", "h100")]
    failing = make.failed("rope-half", "mi300", Reason.COMPILE_ERROR, "refused")
    return (
        stored(folder / "before", make, before, id="before"),
        stored(folder / "after", make, [failing, before[1]], id="after"),
    )


def invoke(command, *arguments):
    result = CliRunner().invoke(command, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_without_options_it_is_printed(runs):
    result = invoke(compare, *runs)
    assert result.exit_code == 0
    assert "1 newly fails: compile-error" in " ".join(result.stdout.split())
    assert "Newly failing" in result.stdout


def test_conditions_decide_the_exit_code_and_are_named(runs, capsys):
    before, after = map(str, runs)
    assert kab_mc(["compare", before, after, "--fail-on", "new-failures,spills"]) == 1
    told = capsys.readouterr()
    assert told.err.splitlines() == ["kab-mc: --fail-on new-failures: rope-half on mi300 (compile-error)"]
    assert "Failed conditions" in told.out
    assert kab_mc(["compare", before, after, "--fail-on", "spills", "--fail-on", "slower:5%"]) == 0
    assert kab_mc(["compare", after, before, "--fail-on", ",".join(CONDITIONS)]) == 0


def test_the_document_is_written_before_the_pipeline_fails(runs, tmp_path):
    with pytest.raises(KernelArenaError) as caught:
        invoke(compare, *runs, "--fail-on", "new-failures", "--output", tmp_path / "x.json")
    assert caught.value.exit_code == 1
    assert json.loads((tmp_path / "x.json").read_text())["breaches"][0]["condition"] == "new-failures"


@pytest.mark.parametrize(("format", "start"), [("md", "## Portability"), ("html", "<!doctype html>"), ("json", "{")])
def test_each_form_goes_where_it_is_wanted(runs, tmp_path, format, start):
    assert invoke(compare, *runs, "--format", format).stdout.startswith(start)
    assert invoke(trend, *runs, "--format", format).stdout.startswith(start)
    for command in (compare, trend):
        place = tmp_path / f"{command.name}.{format}"
        assert invoke(command, *runs, "--output", place).stdout.strip() == str(place)
        assert place.read_text().startswith(start)


def test_a_history_is_printed(runs):
    text = " ".join(invoke(trend, *runs, runs[0]).stdout.split())
    assert "In 2 steps, 1 cell newly failed and 1 was fixed." in text
    assert "Since the run before" in text


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        (compare, ["{before}", "{before}/none"], "no such run folder"),
        (compare, ["{before}", "{after}", "--fail-on", "slowr"], "--fail-on slowr: no such condition; did you mean"),
        (compare, ["{before}", "{after}", "--output", "x.pdf"], r"--output x\.pdf: does not say which form"),
        (compare, ["{before}", "{after}", "--format", "md", "--output", "{after}"], "is a folder; name a file in it"),
        (trend, ["{before}"], "one run is no history; name at least two"),
        (trend, ["{before}", "{before}/artifacts"], "is not a run folder"),
    ],
)
def test_wrong_input_is_one_clear_line(runs, command, arguments, message):
    places = dict(zip(("before", "after"), runs, strict=True))
    with pytest.raises(InputError, match=message) as caught:
        invoke(command, *(argument.format(**places) for argument in arguments))
    assert "\n" not in str(caught.value)


def test_help_has_an_example_and_every_condition():
    text = invoke(compare, "--help").stdout
    assert "kab-mc compare reports/" in text
    assert all(name in text for name in CONDITIONS)
    assert "kab-mc trend reports/" in invoke(trend, "--help").stdout
