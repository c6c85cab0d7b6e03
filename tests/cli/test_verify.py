"""``kab-mc tasks verify`` as a user sees it; the shipped tasks and kernels are verified here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kernelarena.cli import run
from kernelarena.cli.verify import verify
from kernelarena.errors import InfraError, InputError
from kernelarena.judge.task_checker import checker_of
from kernelarena.spec.task import Kind
from tests.shard import shard
from tests.tasks.conftest import TASKS

OP = """
id: {id}
title: A task
kind: elementwise
source: {{suite: lab, name: {id}}}
signature: "{id}(x: [M, N]) -> y: [M, N]"
dtypes: [float32]
dims: {{M: {{min: 1, max: 64}}, N: {{min: 1, max: 256}}}}
visible: [{{M: 16, N: 64}}, {{M: 5, N: 33}}]
work: {{flops: "M*N", bytes: "2*M*N*itemsize"}}
distributions: [normal, uniform]
"""
INPUTS = "import torch\n\n\ndef inputs(shape, rng):\n    return {'x': rng.tensor(shape['M'], shape['N'])}\n\n\n"
REFERENCES = {
    "sound": "def reference(x):\n    return x * 2 + 1\n",
    "infinite": "def reference(x):\n    return 1 / (x - x)\n",
    "loop": "def reference(x):\n    while True: pass\n",
    "leave": "def reference(x):\n    import os\n    os._exit(0)\n",
    "crash": "def reference(x):\n    import ctypes\n    ctypes.string_at(0)\n",
    "absent": "import absent_module\n\n\ndef reference(x):\n    return x\n",
}


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    for name, reference in REFERENCES.items():
        folder = tmp_path / "lab" / name
        folder.mkdir(parents=True)
        (folder / "task.yaml").write_text(OP.format(id=name))
        (folder / "reference.py").write_text(INPUTS + reference)
    return tmp_path


def invoke(*arguments: object, columns: int = 80) -> Result:
    """Return what the command printed, raised, and returned, which is what ``kab-mc`` ends with."""
    runner = CliRunner(env={"COLUMNS": str(columns)})
    return runner.invoke(verify, [str(one) for one in arguments], standalone_mode=False)


def test_shipped_tasks_are_sound() -> None:
    chosen = shard(TASKS)
    result = invoke("--elements", 2048, "--json", *chosen)
    reports = json.loads(result.stdout)
    assert sorted(report["task"] for report in reports) == chosen
    assert [problem for report in reports for problem in report["problems"]] == []
    assert result.return_value == 0
    for report in reports:
        task = TASKS[report["task"]].task
        assert report["verified"]
        assert [found["dtype"] for found in report["dtypes"]] == list(task.dtypes)
        for found in report["dtypes"]:
            assert found["trials"] >= 8
            assert [tally["name"] for tally in found["controls"]] == [one.name for one in checker_of(task).controls]
            for tally in found["controls"]:
                where = f"{report['task']} {found['dtype']} {tally['name']}"
                assert tally["passed"] == 0, where
                if tally["tried"]:
                    assert tally["rejected"] > 0 or task.kind is Kind.CREATION, where
                    assert tally["rejected"] + tally["vacuous"] == tally["tried"], where
                else:
                    assert tally["needs"], where


def test_a_table_for_people(lab: Path) -> None:
    result = invoke("sound", "infinite", "--tasks-dir", lab)
    assert result.return_value == 1
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["task", "dtype", "trials", "wrong", "rejected", "vacuous", "verdict"]
    rows = {line.split()[0]: line for line in lines[1:3]}
    assert rows["sound"].rstrip().endswith(" sound")
    assert rows["infinite"].rstrip().endswith("not sound")
    text = " ".join(result.stdout.split())
    assert "infinite float32: on M=" in text
    assert "is not finite on its own inputs" in text
    assert "1 of 2 tasks sound" in text


def test_code_that_cannot_be_run_is_one_line_and_the_other_tasks_are_verified(lab: Path) -> None:
    broken = {
        "leave": r"reference\.py: the task's own code ended the process with exit code 0",
        "crash": r"reference\.py:10: the task's own code crashed \(SIGSEGV\)",
        "absent": r"reference\.py:8: cannot be loaded: ModuleNotFoundError: No module named 'absent_module'",
    }
    result = invoke(*broken, "sound", "--tasks-dir", lab, "--json")
    assert isinstance(result.exception, InputError)
    found = {entry["task"]: entry for entry in json.loads(result.stdout)}
    assert found["sound"]["verified"]
    assert set(found) == {*broken, "sound"}
    for name, words in broken.items():
        assert not found[name]["verified"]
        assert re.fullmatch(rf"{re.escape(str(lab))}/lab/{name}/{words}", found[name]["error"])
        assert found[name]["error"] in result.exception.problems


def test_a_deadline_ends_with_code_two_and_one_line(lab: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kernelarena.cli", "tasks", "verify", "loop", "--tasks-dir", lab, "--deadline", "2"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    words = f"kab-mc: {lab}/lab/loop/reference.py:9: the task's own code did not finish within 2 s"
    assert done.stderr.splitlines()[-1] == words
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sofmax"], "unknown task 'sofmax'; did you mean 'softmax'"),
        (["softmax", "--platform", "h10"], "h100"),
        (["softmax", "--platform", "h100", "--elements", "100"], "--elements: h100 is not emulated"),
    ],
)
def test_mistakes_are_one_line(arguments, words):
    result = invoke(*arguments)
    assert isinstance(result.exception, InputError)
    assert words in str(result.exception)


def test_a_chip_that_is_not_here_is_nobodys_mistake() -> None:
    result = invoke("softmax", "--platform", "s4000")
    assert isinstance(result.exception, InfraError)
    assert "is not here" in str(result.exception)


def test_the_kernels_beside_the_tasks_are_accepted_every_time() -> None:
    result = invoke("softmax", "add", "--kernels", "--seeds", 2, "--elements", 512, "--json")
    assert result.return_value == 0, result.stdout
    records = json.loads(result.stdout)
    assert [record["task"] for record in records] == ["add", "softmax"]
    for record in records:
        assert record["seeds"] == record["accepted"] == 2
        assert record["trials"] > 40
        assert record["failures"] == []


def test_a_kernel_that_fails_now_and_then_is_found(lab: Path) -> None:
    folder = lab / "lab" / "sound" / "kernels" / "flaky"
    folder.mkdir(parents=True)
    (folder / "kernel.yaml").write_text("task: sound\nlanguage: torch\nentry: kernel.py::entry\nhome: cpu\n")
    (folder / "kernel.py").write_text("def entry(x):\n    return x * 2 + (1 if x.shape[0] > 3 else 1.5)\n")
    result = invoke("sound", "--kernels", "--seeds", 3, "--tasks-dir", lab)
    assert result.return_value == 1
    text = " ".join(result.stdout.split())
    assert re.search(r"flaky\S* 3 \d ", text)
    assert ", seed " in text
    assert "mismatch" in text
    assert "accepted every time" in text


def test_a_task_without_kernels_says_where_to_put_one(lab: Path) -> None:
    result = invoke("sound", "--kernels", "--tasks-dir", lab)
    assert isinstance(result.exception, InputError)
    assert "no kernel lies beside sound" in str(result.exception)


def test_it_is_a_command_of_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tasks", "verify", "--help"]) == 0
    assert "kab-mc tasks verify --kernels" in capsys.readouterr().out
