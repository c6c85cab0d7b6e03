"""What is judged, and what is not: a task whose own code does harm ends the run before it does any."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_verify import INPUTS, OP
from tests.cluster import fakes

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def sweep(tmp_path):
    """Sweeps one kernel for a task with its own code as given, and one for a shipped task."""

    def sweep(reference, *options):
        folder = tmp_path / "lab" / "op"
        folder.mkdir(parents=True)
        (folder / "task.yaml").write_text(OP.format(id="op"))
        (folder / "reference.py").write_text(INPUTS + reference)
        about = {"language": "triton", "entry": "softmax", "source": fakes.source("pass")}
        lines = [json.dumps({"id": f"for-{task}", "task": task, **about}) for task in ("op", "softmax")]
        (tmp_path / "k.jsonl").write_text("\n".join(lines) + "\n")
        (tmp_path / "cells").mkdir()
        environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "PYTHONPATH": str(ROOT)}
        environment[fakes.LOG] = str(tmp_path / "cells")
        arguments = ["sweep", "k.jsonl", "--tasks-dir", ".", "--platforms", "h100", "--jobs", "1", "--json", *options]
        return subprocess.run(
            [sys.executable, "-m", "tests.cli.driver", *arguments],
            cwd=tmp_path, env={**os.environ, **environment}, capture_output=True, text=True, timeout=180,
        )  # fmt: skip

    return sweep


LEAVES = "def reference(x):\n    import os\n    os._exit(0)\n"


@pytest.mark.ray
def test_a_task_that_would_end_its_judge_is_the_users_mistake(sweep, tmp_path):
    done = sweep(LEAVES)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == (
        "kab-mc: lab/op/reference.py: reference() for M=16 N=64 float32: the task's own code ended the process "
        "with exit code 0"
    )
    assert fakes.computed(tmp_path / "cells") == {}


@pytest.mark.ray
def test_it_costs_only_its_own_cells_where_the_run_is_to_keep_going(sweep, tmp_path):
    done = sweep(LEAVES, "--keep-going")
    assert done.returncode == 3, done.stderr
    cells = {cell["kernel"]: cell for cell in json.loads(done.stdout)["cells"]}
    assert {name: cell["status"] for name, cell in cells.items()} == {"for-op": "infra", "for-softmax": "pass"}
    assert "the task's own code ended the process" in cells["for-op"]["detail"]
    assert fakes.computed(tmp_path / "cells") == {("for-softmax", "h100"): 1}
