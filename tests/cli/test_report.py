from __future__ import annotations

import csv
import io
import json
import os
import stat
import threading

import pytest
from click.testing import CliRunner

from kernelarena.cli.report import report
from kernelarena.errors import InfraError, InputError
from kernelarena.report import render
from kernelarena.store import Run
from tests.report.conftest import Factory


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    make = Factory()
    verdicts = [make.verdict("rope-half", p) for p in ("cpu", "mi300")]
    data = make.data(verdicts, hidden_seed=None, hidden_seed_sha256=None, finished=None)
    folder = tmp_path_factory.mktemp("reports") / "run"
    with Run.create(folder, data.manifest, data.platforms, data.tasks, data.kernels.values()) as run:
        for verdict in verdicts:
            run.record(verdict)
    return folder


def invoke(*arguments):
    result = CliRunner().invoke(report, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_without_options_the_files_of_the_run_are_written_again(made):
    result = invoke(made)
    assert result.exit_code == 0
    assert result.stdout.split() == [str(made / f"report.{name}") for name in ("json", "md", "html")]
    with Run.open(made) as run:
        assert (made / "report.html").read_text() == render(run.data(), "html")
    assert len(json.loads((made / "report.json").read_text())["cells"]) == 2


def test_one_form_only(made):
    assert invoke(made, "--format", "csv").stdout.split() == [str(made / "report.csv")]
    assert len(list(csv.DictReader((made / "report.csv").open()))) == 2


def test_to_standard_output(made):
    result = invoke(made, "--format", "json", "--output", "-")
    assert json.loads(result.stdout)["schema"] == "kernelarena.report/1"
    assert len(list(csv.DictReader(io.StringIO(invoke(made, "--format", "csv", "--output", "-").stdout)))) == 2


def test_the_form_follows_from_the_suffix(made, tmp_path):
    assert invoke(made, "--output", tmp_path / "x.md").stdout.strip() == str(tmp_path / "x.md")
    assert (tmp_path / "x.md").read_text().startswith("## Kernel portability")
    invoke(made, "--output", tmp_path / "x.txt", "--format", "json")
    assert json.loads((tmp_path / "x.txt").read_text())["cells"]


def test_junit_and_parquet_by_their_suffix(made, tmp_path):
    assert invoke(made, "--format", "junit").stdout.split() == [str(made / "report.xml")]
    invoke(made, "--output", tmp_path / "x.xml")
    assert (tmp_path / "x.xml").read_text() == (made / "report.xml").read_text()
    invoke(made, "--output", tmp_path / "x.parquet")
    assert (tmp_path / "x.parquet").read_bytes()[:4] == b"PAR1"
    assert CliRunner().invoke(report, [str(made), "--format", "parquet", "--output", "-"]).stdout_bytes[:4] == b"PAR1"


def test_in_a_workflow_on_github_the_step_has_a_summary(made, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    invoke(made, "--format", "json", "--output", tmp_path / "x.json")
    assert (tmp_path / "summary.md").read_text().startswith("## Kernel portability")


def test_a_file_for_a_summary_is_enough_to_get_one(made, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    result = invoke(made, "--format", "json", "--output", tmp_path / "x.json")
    assert (tmp_path / "summary.md").read_text().startswith("## Kernel portability")
    assert "::error" not in result.stderr


def test_figures_are_files_of_their_own(made, tmp_path):
    result = invoke(made, "--figures", tmp_path / "new" / "figures")
    names = [f"{figure}.{form}" for figure in ("families", "resources") for form in ("svg", "png")]
    assert result.stdout.split() == [str(tmp_path / "new" / "figures" / name) for name in names]
    assert "left out: How portable is the performance?" in result.stderr
    assert (tmp_path / "new" / "figures" / "resources.png").read_bytes().startswith(b"\x89PNG")


def test_a_device_is_written_to_and_not_replaced(made, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_text()))
    reader.start()
    invoke(made, "--format", "json", "--output", tmp_path / "pipe")
    reader.join()
    assert json.loads(got[0])["cells"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    with pytest.raises(InfraError, match="/dev/full: cannot be written: No space left on device"):
        invoke(made, "--format", "json", "--output", "/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{run}", "--output", "-"], r"--output -: does not say which form; add --format html\|md\|json\|csv"),
        (["{run}", "--output", "x.pdf"], r"--output x\.pdf: does not say which form"),
        (["{run}", "--output", "{run}/none/x.md"], r"none/x\.md: cannot be written: No such file"),
        (["{run}", "--format", "md", "--output", "{run}"], r"--output .*run: is a folder; name a file in it"),
        (["{run}", "--output", "{run}/" + "x" * 300 + ".md"], "File name too long"),
        (["{run}/none"], "no such run folder"),
        (["{run}", "--figures", "{run}/figures", "--format", "md"], "--figures writes the figures alone"),
        (["{run}", "--figures", "{run}/run.yaml"], r"run\.yaml: cannot be made"),
        (["{run}/artifacts"], "is not a run folder"),
    ],
)
def test_wrong_input_is_one_clear_line(made, arguments, message):
    with pytest.raises(InputError, match=message) as caught:
        invoke(*(argument.format(run=made) for argument in arguments))
    assert "\n" not in str(caught.value)


def test_an_unknown_form_is_refused_with_the_known_ones(made):
    result = invoke(made, "--format", "pdf")
    assert result.exit_code == 2
    assert "'html', 'md', 'json', 'csv', 'parquet', 'junit'" in result.stderr


def test_help_has_an_example():
    assert "kab-mc report reports/" in invoke("--help").stdout
