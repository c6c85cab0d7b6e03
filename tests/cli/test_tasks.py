"""``kab-mc tasks`` as a user sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kernelarena.cli import run
from kernelarena.cli.page import duration
from kernelarena.cli.tasks import SUITES, tasks
from kernelarena.platforms import catalogue
from kernelarena.spec.catalogue import load_tasks
from tests.shard import shard
from tests.spec.test_catalogue import write

TASKS = load_tasks()


def invoke(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "80"}).invoke(tasks, arguments, catch_exceptions=False)


def test_the_list_has_one_line_a_task_and_fits_eighty_columns() -> None:
    result = invoke("list")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert max(map(len, lines)) <= 80
    rows = {line.split()[0]: line for line in lines[1 : len(TASKS) + 1]}
    assert list(rows) == sorted(TASKS)
    for name, row in rows.items():
        task = TASKS[name].task
        assert f"{len(task.visible)} + {len(task.production)}" in row
        assert str(task.kind) in row


def test_suites_are_explained_where_they_occur() -> None:
    everything, llm = invoke("list").output, invoke("list", "--suite", "llm").output
    used = {name for source in TASKS.values() for name in source.task.suites}
    assert set(SUITES) == used, "every suite of a shipped task is explained, and no other"
    for name, text in SUITES.items():
        assert f"\nsuite {name}: {text}\n" in everything
    assert "ms: ATen operators" in llm, "it is in the table"
    assert "mc (the multi-chip view" in invoke("show", "softmax").output


def test_a_suite_of_ones_own_needs_no_explanation(tmp_path: Path) -> None:
    write(tmp_path, "twice")
    arguments = ("--tasks-dir", str(tmp_path))
    assert "ATen" not in invoke("list", "--suite", "lab", *arguments).output
    assert "lab" in invoke("show", "twice", *arguments).output


def test_the_list_as_json_and_by_suite() -> None:
    listed = json.loads(invoke("list", "--suite", "llm", "--json").output)
    wanted = sorted(name for name, source in TASKS.items() if "llm" in source.task.suites)
    assert [entry["id"] for entry in listed] == wanted
    for entry in listed:
        assert entry["kernels"] >= 1
        assert entry["dtypes"] == list(TASKS[entry["id"]].task.dtypes)


def test_a_folder_of_ones_own_is_listed(tmp_path: Path) -> None:
    write(tmp_path, "twice")
    listed = {entry["id"]: entry for entry in json.loads(invoke("list", "--tasks-dir", str(tmp_path), "--json").output)}
    assert listed["twice"]["kernels"] == 0
    assert listed["twice"]["production"] == 0
    assert "twice" in invoke("show", "twice", "--tasks-dir", str(tmp_path)).output


@pytest.mark.parametrize("name", shard(TASKS))
def test_a_task_is_shown_within_eighty_columns(name: str) -> None:
    result = invoke("show", name)
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80
    task = TASKS[name].task
    text = " ".join(result.output.split())
    for said in (task.title, task.work.flops, *task.dims, *task.constraints, TASKS[name].origin.split("/")[-1]):
        assert " ".join(said.split()) in text
    for chip in ("mi300", "h100"):
        tables = sum(line.split()[:1] == [chip] for line in result.output.splitlines())
        assert tables == 1 + bool(task.production)
    assert "not a measurement" in text


def test_the_least_times_are_those_of_the_figures() -> None:
    shown = json.loads(invoke("show", "matmul", "--json").output)
    chips = catalogue.load()
    task = TASKS["matmul"].task
    assert len(shown["shapes"]) == len(task.dtypes) * (len(task.visible) + len(task.production))
    for entry in shown["shapes"]:
        size = {"float32": 4, "float16": 2, "bfloat16": 2}[entry["dtype"]]
        m, n, k = (entry["dims"][name] for name in "MNK")
        for name, bound in entry["roofline"].items():
            chip = chips[name]
            assert chip.memory is not None
            by_memory = (m * k + k * n + m * n) * size / chip.memory.bandwidth
            by_compute = 2 * m * n * k / chip.peak_flops.get(entry["dtype"], float("inf"))
            assert bound["seconds"] == pytest.approx(max(by_memory, by_compute))
            assert bound["roof"] == ("compute" if by_compute > by_memory else "memory")
    assert "cpu" not in shown["shapes"][0]["roofline"], "an interpreter has no roofline"


def test_every_platform_has_a_least_time_or_a_reason_why_not() -> None:
    text = invoke("show", "softmax").output
    shown = {line.split()[0] for line in text.splitlines() if line[:2] == "  " and line.split()}
    lines = " ".join(text.split()).split("not shown, ")[1:]
    missing = {why: names.strip().split(", ") for why, names in (line.split(" known: ") for line in lines)}
    for name, chip in catalogue.load().items():
        if chip.memory is not None and chip.peak_flops:
            assert name in shown
        else:
            assert name in missing["no rates" if chip.memory is not None else "no bandwidth and no rates"]


def test_one_dtype() -> None:
    shown = json.loads(invoke("show", "softmax", "--dtype", "bfloat16", "--json").output)
    assert {entry["dtype"] for entry in shown["shapes"]} == {"bfloat16"}
    assert "visible shapes, bfloat16" in invoke("show", "softmax", "--dtype", "bfloat16").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "softmx"], "unknown task 'softmx'; did you mean 'softmax'"),
        (["show", "softmax", "--dtype", "float8"], "softmax has no dtype 'float8'; did you mean 'float"),
        (["list", "--suite", "nn"], "no task belongs to the suite 'nn'; known: llm, mc, ms"),
        (["list", "--tasks-dir", "/nowhere"], "/nowhere: no such folder of tasks"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tasks", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"kab-mc: {said}")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--help"], ["list", "--help"], ["show", "--help"]])
def test_every_help_has_an_example(arguments: list[str]) -> None:
    assert "kab-mc tasks" in invoke(*arguments).output


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0 ns"), (3.21e-7, "321 ns"), (1e-6, "1 µs"), (0.0123456, "12.3 ms"), (2.5, "2.5 s")]
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said
