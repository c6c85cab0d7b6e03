import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from kernelarena.cli import run as kab_mc
from kernelarena.cli.sweep import _command, _configuration, sweep
from kernelarena.report.document import comparable
from kernelarena.spec import Status
from kernelarena.spec.paths import state_dir
from kernelarena.store import Run
from tests.cli.processes import all_gone, family, until
from tests.cluster import fakes

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A place of one's own: working folder, state, and the judge's notes."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv(fakes.LOG, str(tmp_path / "cells"))
    (tmp_path / "cells").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def submit(path, **actions):
    lines = [
        json.dumps(
            {"id": name, "task": "softmax", "language": "triton", "entry": "softmax", "source": fakes.source(do)}
        )
        for name, do in actions.items()
    ]
    Path(path).write_text("\n".join(lines) + "\n")
    return str(path)


class TestBadInput:
    """Each is one clear line and exit code 2, and leaves nothing behind."""

    @pytest.fixture
    def complain(self, capfd, folder):
        def complain(*arguments):
            assert kab_mc(["sweep", *map(str, arguments)]) == 2
            out, err = capfd.readouterr()
            assert out == ""
            assert re.fullmatch(r"kab-mc: .+\n", err), err
            assert not Path("reports").exists()
            assert not list(state_dir().glob("seeds/*"))
            return err

        return complain

    def test_an_unknown_platform(self, complain):
        assert "unknown platform 'mi30': did you mean 'mi300'" in complain("--platforms", "h100,mi30")

    def test_an_unknown_task(self, complain):
        assert "unknown task 'sofmax'; did you mean 'softmax'" in complain("--tasks", "sofmax")
        assert "--task: unknown task 'sofmax'; did you mean 'softmax'" in complain(
            "--task", "sofmax", submit("k.jsonl", a="pass")
        )

    def test_a_kernel_file_that_is_missing(self, complain):
        assert "nowhere.py: no such file or folder" in complain("--kernels", "nowhere.py", "--task", "softmax")

    def test_a_kernel_manifest_with_a_wrong_type_or_an_unknown_key(self, complain):
        Path("k").mkdir()
        Path("k/kernel.yaml").write_text("task: softmax\nlanguage: triton\nentry: [1]\n")
        assert "k/kernel.yaml:3: entry: expected a string, got [1]" in complain("--kernels", "k")
        Path("k/kernel.yaml").write_text("task: softmax\nlanguage: triton\nentry: x.py::f\nentyr: x\n")
        assert "k/kernel.yaml:4: entyr: unknown key; did you mean 'entry'" in complain("--kernels", "k")

    def test_an_entry_that_is_not_in_the_file(self, complain):
        Path("k.py").write_text("def softmax(x): pass\n")
        assert "k.py has no function 'sofmax'; did you mean 'softmax'" in complain("k.py::sofmax", "--task", "softmax")

    def test_an_empty_folder_of_kernels(self, complain):
        Path("empty").mkdir()
        assert "empty: no kernels in this folder" in complain("--kernels", "empty")

    def test_an_output_folder_that_is_not_a_run(self, complain):
        Path("out").mkdir()
        Path("out/notes").touch()
        assert "out: exists and is not a run" in complain("--out", "out", submit("k.jsonl", a="pass"))
        assert os.listdir("out") == ["notes"]

    def test_a_run_of_a_newer_schema(self, complain):
        Path("run").mkdir()
        Path("run/run.yaml").write_text("schema_version: kernelarena.run/7\n")
        assert "run: was written by a newer kab-mc (schema 7; this one reads 1): upgrade" in complain("--resume", "run")

    def test_json_lines_with_a_broken_line(self, complain):
        submit("k.jsonl", a="pass")
        with Path("k.jsonl").open("a") as file:
            file.write("{oops\n")
        assert "k.jsonl:2: not valid JSON" in complain("k.jsonl")

    def test_a_configuration_that_is_wrong(self, complain):
        Path("c.yaml").write_text("platforms: [h100]\nworkers: none\n")
        assert "c.yaml:2: workers: expected an integer" in complain("--config", "c.yaml")

    def test_resuming_what_is_no_run(self, complain):
        assert "nowhere: no such run folder" in complain("--resume", "nowhere")

    @pytest.mark.parametrize("option", [["--platforms", "h100"], ["--no-hidden"], ["--hidden-seed", "0"], ["k.jsonl"]])
    def test_resuming_with_what_was_settled(self, complain, option):
        name = option[0] if option[0].startswith("--") else "PATH"
        assert f"as it was begun, so {name} cannot be given" in complain("--resume", "nowhere", *option)


def test_the_baseline_of_the_command_line_goes_before_that_of_the_file(folder):
    Path("lab.yaml").write_text("timing: {baseline: shipped, seconds: 2}\n")
    timings = [
        _configuration(sweep.make_context("sweep", [*typed]).params).timing
        for typed in ([], ["--config", "lab.yaml"], ["--config", "lab.yaml", "--baseline", "original"])
    ]
    assert [str(timing.baseline) for timing in timings] == ["eager", "shipped", "original"]
    assert timings[2].seconds == 2, "the rest of the file counts"


def test_the_command_is_kept_without_the_seed():
    typed = ["/x/bin/kab-mc", "sweep", "--hidden-seed", "123", "--hidden-seed=123", "--jobs", "2"]
    assert _command(typed) == ("kab-mc", "sweep", "--hidden-seed", "…", "--hidden-seed=…", "--jobs", "2")


def test_cells_that_nobody_can_judge_need_no_ray(capfd):
    kernels = submit("k.jsonl", a="pass", b="pass")
    assert kab_mc(["sweep", "--platforms", "b580", "--out", "out", kernels]) == 3
    _, err = capfd.readouterr()
    assert "b580 cannot be judged here: no Intel GPU in this host" in err
    assert "no cell could be judged" in err
    assert "Ray" not in err
    report = json.loads(Path("out/report.json").read_text())
    assert {cell["status"] for cell in report["cells"]} == {"skipped"}
    assert {cell["reason"] for cell in report["cells"]} == {"device-unavailable"}


def test_required_evidence_that_is_lacking_is_exit_code_3(capfd):
    kernels = submit("k.jsonl", a="pass")
    arguments = ["sweep", "--platforms", "mi300", "--require", "measured", "--out", "out", "--json", kernels]
    assert kab_mc(arguments) == 3
    out, err = capfd.readouterr()
    (cell,) = json.loads(out)["cells"]
    assert (cell["status"], cell["reason"]) == ("infra", "device-unavailable")
    assert "1 of 1 cells could not be judged; to try them again: kab-mc sweep --resume out" in err


def test_the_exit_code_does_not_depend_on_who_reads():
    kernels = submit("k.jsonl", a="pass")
    arguments = [sys.executable, "-m", "tests.cli.driver", "sweep", "--platforms", "mi300", "--require", "measured"]
    script = 'set -o pipefail; "$@" 2>/dev/null | true'
    assert subprocess.run(["bash", "-c", script, "bash", *arguments, kernels], check=False).returncode == 3


def drive(*arguments, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen([sys.executable, "-m", "tests.cli.driver", *arguments], **options)


def finish(process, within=120):
    out, err = process.communicate(timeout=within)
    return process.returncode, out, err


def plain(path):
    """Return the report without what differs from one run to the next."""
    report = comparable(json.loads((path / "report.json").read_text()))
    for cell in report["cells"]:
        cell.pop("attempts", None)
    return report


MANY = {f"k{number:02}": "fail" if number % 5 == 0 else "slow" for number in range(14)}
ARGUMENTS = ["--platforms", "mi300,h100", "--hidden-seed", "11", "--jobs", "2"]


@pytest.mark.ray
def test_killed_in_the_middle_a_run_is_resumed_and_ends_as_if_undisturbed(folder):
    kernels = submit("k.jsonl", **MANY)
    cells = folder / "cells"
    code, out, err = finish(drive("sweep", kernels, *ARGUMENTS, "--out", "whole"))
    assert code == 0, err
    assert "k01" in out
    assert "report: whole/report.html" in err
    assert fakes.computed(cells) == {(name, p): 1 for name in MANY for p in ("mi300", "h100")}
    for path in cells.iterdir():
        path.unlink()

    stored = 0

    def some_are_stored():
        nonlocal stored
        if Path("broken/results.sqlite").exists():
            connection = sqlite3.connect("file:broken/results.sqlite?mode=ro", uri=True)
            stored = connection.execute("SELECT COUNT(*) FROM verdicts").fetchone()[0]
            connection.close()
        return stored >= 6

    driver = drive(
        "sweep", kernels, *ARGUMENTS, "--out", "broken", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until(some_are_stored, driver)
    everyone = family(driver)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert len(everyone) > 5
    assert all_gone(everyone), "Ray, its agents and the workers go with their driver"
    with Run.open(Path("broken")) as run:
        done = run.done()
    assert stored <= len(done) < len(run.cells())
    assert run.manifest.finished is None
    assert run.manifest.hidden_seed is None

    before = fakes.computed(cells)
    code, _, err = finish(drive("sweep", "--resume", "broken"))
    assert code == 0, err
    assert f"{len(done)} cells done already" in err
    after = fakes.computed(cells)
    assert {cell for cell in done if after[cell] > before[cell]} == set(), "no stored cell is computed again"
    assert plain(Path("broken")) == plain(Path("whole"))
    assert json.loads(Path("broken/report.json").read_text())["run"]["hidden_seed"] == 11

    code, out, err = finish(drive("sweep", "--resume", "broken"))
    assert code == 0
    assert "every cell is done already; only the report is written again" in err
    assert "Ray" not in err
    assert fakes.computed(cells) == after


@pytest.mark.ray
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_results_and_leaves_nothing_running(folder, number):
    kernels = submit("k.jsonl", a="pass", b="hang", c="pass")
    driver = drive("sweep", kernels, "--platforms", "mi300", "--jobs", "1", "--out", "out", start_new_session=True)
    until(lambda: ("b", "mi300") in fakes.computed(folder / "cells"), driver)
    everyone = family(driver)
    os.killpg(driver.pid, number)  # as a terminal does it
    code, _, err = finish(driver, within=60)
    assert code == 3
    assert "interrupted with 2 of 3 cells left; to continue: kab-mc sweep --resume out" in err
    assert "to see what there is: kab-mc report out\n" in err
    assert "Traceback" not in err
    assert all_gone(everyone)
    with Run.open(Path("out")) as run:
        assert run.statuses() == {("a", "mi300"): Status.PASS}
        assert run.manifest.finished is None


@pytest.mark.ray
def test_json_is_alone_on_standard_output_and_lost_cells_are_exit_code_3(folder):
    kernels = submit("k.jsonl", good="pass", wild="die", buggy="raise")
    code, out, err = finish(drive("sweep", kernels, "--platforms", "mi300", "--out", "out", "--json"))
    assert code == 3, err
    cells = {cell["kernel"]: cell for cell in json.loads(out)["cells"]}
    assert cells["good"]["status"] == "pass"
    assert (cells["wild"]["status"], cells["wild"]["reason"]) == ("infra", "worker-lost")
    assert cells["buggy"]["detail"].endswith("RuntimeError: a bug with two lines")
    assert "2 of 3 cells could not be judged" in err
    assert "raylet" not in out + err
    with Run.open(Path("out")) as run:
        assert run.done() == {("good", "mi300")}
        assert run.manifest.finished, "it has ended, and can be continued all the same"


@pytest.mark.ray
def test_a_run_goes_on_when_nobody_listens(folder):
    kernels = submit("k.jsonl", a="pass", b="pass")
    arguments = [sys.executable, "-m", "tests.cli.driver", "sweep", kernels, "--platforms", "mi300", "--out", "out"]
    script = 'set -o pipefail; "$@" 2>&1 | true'
    assert subprocess.run(["bash", "-c", script, "bash", *arguments], timeout=120, check=False).returncode == 0
    with Run.open(Path("out")) as run:
        assert len(run.done()) == 2
        assert run.manifest.finished
    assert Path("out/report.html").exists()


def test_a_ray_that_cannot_be_imported_is_infrastructure(folder):
    (folder / "stub" / "ray").mkdir(parents=True)
    (folder / "stub" / "ray" / "__init__.py").write_text("print('noise')\nraise KeyError('libvendor.so')\n")
    kernels = submit("k.jsonl", a="pass")
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'stub'}{os.pathsep}{ROOT}"}
    code, out, err = finish(drive("sweep", kernels, "--platforms", "mi300", "--out", "out", env=environment))
    assert (code, out) == (3, "")
    assert err.splitlines()[-1].startswith("kab-mc: Ray cannot be imported: KeyError: 'libvendor.so' (")
    assert err.endswith("; to continue: kab-mc sweep --resume out\n")
