import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelarena.errors import InfraError, InputError
from kernelarena.spec import Status
from kernelarena.spec.paths import state_dir
from kernelarena.store import Run, new_id, seeds
from tests.store import samples

ROOT = Path(__file__).resolve().parents[2]


def test_ids_sort_by_time_and_differ():
    early, late = new_id(datetime(2026, 11, 30, 14, 25, 30)), new_id(datetime(2026, 12, 1))
    assert re.fullmatch(r"20261130-142530-[0-9a-f]{4}", early)
    assert early < late
    assert len({new_id(datetime(2026, 1, 1)) for _ in range(20)}) > 1


def test_a_new_run_holds_all_that_it_judges(tmp_path):
    with samples.create(tmp_path / "run") as run:
        data = run.data()
    assert list(data.kernels) == list(samples.KERNELS)
    assert list(data.platforms) == list(samples.PLATFORMS)
    assert data.tasks["softmax"].reference.strip()
    assert data.verdicts == ()
    assert (tmp_path / "run" / "artifacts").is_dir()
    assert sorted(os.listdir(tmp_path)) == ["run"], "no draft is left beside it"


def test_manifest_survives_the_round_trip(tmp_path):
    odd = samples.manifest(kernels=("1e5", "0x10", "null", "2026-01-01", "12", "on"), command=("a: b", "# no", "é\t"))
    run = Run.create(tmp_path / "run", odd, {}, {}, [samples.kernel(name) for name in odd.kernels], hidden_seed=3)
    run.close()
    with Run.open(tmp_path / "run") as again:
        assert again.manifest == run.manifest
        assert again.manifest.kernels == odd.kernels
        assert again.manifest.command == odd.command


def test_the_latest_verdict_of_a_cell_counts_and_the_order_is_the_manifests(tmp_path):
    with samples.create(tmp_path / "run") as run:
        run.record(samples.verdict("two", "h100"))
        run.record(samples.verdict("one", "h100", Status.INFRA))
        run.record(samples.verdict("one", "mi300", Status.FAIL, "first"))
        run.record(samples.verdict("one", "h100", Status.PASS, "second"))
        found = [(v.kernel, v.platform, v.detail) for v in run.data().verdicts]
    assert found == [("one", "mi300", "first"), ("one", "h100", "second"), ("two", "h100", "")]


def test_infrastructure_failures_are_not_done(tmp_path):
    with samples.create(tmp_path / "run") as run:
        run.record(samples.verdict("one", "mi300", Status.FAIL))
        run.record(samples.verdict("one", "h100", Status.SKIPPED))
        run.record(samples.verdict("two", "mi300", Status.INFRA))
        assert run.done() == {("one", "mi300"), ("one", "h100")}
        assert run.statuses()["two", "mi300"] is Status.INFRA
        run.record(samples.verdict("two", "mi300"))
        assert ("two", "mi300") in run.done()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(samples.CELLS), st.sampled_from(list(Status)), st.text(max_size=20)), max_size=12
    )
)
def test_a_run_is_what_was_recorded(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("runs") / "run"
    run = samples.create(path, run_id=new_id())
    expected = {}
    for (name, platform), status, detail in steps:
        verdict = samples.verdict(name, platform, status, detail, log=detail)
        run.record(verdict)
        expected[name, platform] = verdict
    run.close()
    with Run.open(path) as again:
        assert {(v.kernel, v.platform): v for v in again.data().verdicts} == expected
        assert again.done() == {cell for cell, v in expected.items() if v.status is not Status.INFRA}


def test_verdicts_and_snapshots_can_only_be_added_to(tmp_path):
    with samples.create(tmp_path / "run") as run:
        run.record(samples.verdict())
    raw = sqlite3.connect(tmp_path / "run" / "results.sqlite")
    for table, column in (("verdicts", "status"), ("kernels", "body"), ("tasks", "body"), ("platforms", "body")):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            raw.execute(f"UPDATE {table} SET {column} = 'pass'")
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            raw.execute(f"DELETE FROM {table}")
    raw.close()


def test_logs_are_kept_as_artifacts(tmp_path):
    with samples.create(tmp_path / "run") as run:
        run.record(samples.verdict(status=Status.FAIL, log="ptxas: no\n"))
        run.record(samples.verdict("two"))
    found = sorted((tmp_path / "run" / "artifacts").rglob("*.log"))
    assert [path.relative_to(tmp_path / "run" / "artifacts").as_posix() for path in found] == ["one/mi300.log"]
    assert found[0].read_text() == "ptxas: no\n"


class TestHiddenSeed:
    def test_is_nowhere_in_the_folder_until_the_run_ends(self, tmp_path):
        with samples.create(tmp_path / "run") as run:
            run.record(samples.verdict())
            text = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
            assert str(samples.SEED).encode() not in text
            assert seeds.sha256(samples.SEED).encode() in text
            assert run.hidden_seed() == samples.SEED
            run.finish()
            assert run.manifest.hidden_seed == samples.SEED
        manifest = yaml.safe_load((tmp_path / "run" / "run.yaml").read_text())
        assert manifest["hidden_seed"] == samples.SEED
        assert manifest["hidden_seed_sha256"] == seeds.sha256(samples.SEED)
        assert manifest["finished"]

    def test_is_readable_by_its_owner_alone_and_goes_when_published(self, tmp_path):
        with samples.create(tmp_path / "run") as run:
            kept = state_dir() / "seeds" / run.manifest.id
            assert stat.S_IMODE(kept.stat().st_mode) == 0o600
            assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
            run.finish()
            assert not kept.exists()

    def test_survives_reopening_before_and_after_the_end(self, tmp_path):
        samples.create(tmp_path / "run").close()
        with Run.open(tmp_path / "run", writable=True) as run:
            assert run.hidden_seed() == samples.SEED
            run.finish()
        with Run.open(tmp_path / "run", writable=True) as run:
            assert run.hidden_seed() == samples.SEED
            run.finish()
            assert run.manifest.hidden_seed == samples.SEED

    def test_that_is_missing_is_explained(self, tmp_path):
        with samples.create(tmp_path / "run") as run:
            seeds.forget(run.manifest.id)
            with pytest.raises(InputError, match=r"hidden seed of run .* is not here; a run can be resumed only"):
                run.hidden_seed()

    def test_that_was_swapped_is_refused(self, tmp_path):
        with samples.create(tmp_path / "run") as run:
            (state_dir() / "seeds" / run.manifest.id).write_text("7\n")
            with pytest.raises(InputError, match=r"not the hidden seed that run .* announced"):
                run.hidden_seed()

    def test_is_not_left_behind_by_a_run_that_cannot_be_created(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(InputError, match="cannot be created"):
            samples.create(tmp_path / "file" / "run")
        assert not list(state_dir().glob("seeds/*"))


class TestRefusals:
    @pytest.mark.parametrize("content", ["nothing", "a file"])
    def test_a_folder_that_exists_and_is_not_a_run(self, tmp_path, content):
        (tmp_path / "out").mkdir()
        if content == "a file":
            (tmp_path / "out" / "thesis.tex").write_text("precious")
        with pytest.raises(InputError, match="out: exists and is not a run; choose another --out"):
            samples.create(tmp_path / "out")
        assert [path.read_text() for path in (tmp_path / "out").iterdir()] == ["precious"] * (content == "a file")

    def test_a_run_that_exists(self, tmp_path):
        samples.create(tmp_path / "run").close()
        with pytest.raises(InputError, match="is a run already; continue it with --resume"):
            samples.create(tmp_path / "run", run_id="another")

    def test_opening_what_is_no_run(self, tmp_path):
        with pytest.raises(InputError, match="no such run folder"):
            Run.open(tmp_path / "nowhere")
        with pytest.raises(InputError, match=r"is not a run folder \(it has no run.yaml\)"):
            Run.open(tmp_path)

    def test_a_manifest_of_a_newer_schema(self, tmp_path):
        samples.create(tmp_path / "run").close()
        path = tmp_path / "run" / "run.yaml"
        path.write_text(path.read_text().replace("kernelarena.run/1", "kernelarena.run/2") + "novelty: 1\n")
        with pytest.raises(InputError, match=r"written by a newer kab-mc \(schema 2; this one reads 1\): upgrade"):
            Run.open(tmp_path / "run")

    def test_results_of_a_newer_schema(self, tmp_path):
        samples.create(tmp_path / "run").close()
        raw = sqlite3.connect(tmp_path / "run" / "results.sqlite")
        raw.execute("PRAGMA user_version = 2")
        raw.close()
        with pytest.raises(InputError, match=r"written by a newer kab-mc \(schema 2; this one reads 1\): upgrade"):
            Run.open(tmp_path / "run")

    def test_a_manifest_with_an_unknown_key(self, tmp_path):
        samples.create(tmp_path / "run").close()
        path = tmp_path / "run" / "run.yaml"
        lines = path.read_text().count("\n")
        path.write_text(path.read_text() + "kernel: [x]\n")
        with pytest.raises(InputError, match=rf"run.yaml:{lines + 1}: kernel: unknown key; did you mean 'kernels'"):
            Run.open(tmp_path / "run")

    def test_damaged_results(self, tmp_path):
        samples.create(tmp_path / "run").close()
        (tmp_path / "run" / "results.sqlite").write_bytes(b"not a database, but long enough to look at" * 100)
        with pytest.raises(InputError, match=r"results.sqlite: cannot be read"):
            Run.open(tmp_path / "run")

    def test_missing_results(self, tmp_path):
        samples.create(tmp_path / "run").close()
        (tmp_path / "run" / "results.sqlite").unlink()
        with pytest.raises(InputError, match="the run folder is incomplete"):
            Run.open(tmp_path / "run")

    def test_a_row_that_no_model_accepts(self, tmp_path):
        samples.create(tmp_path / "run").close()
        raw = sqlite3.connect(tmp_path / "run" / "results.sqlite")
        raw.execute(
            "INSERT INTO verdicts (kernel, platform, status, created, body) VALUES ('one','h100','pass','','{}')"
        )
        raw.commit()
        raw.close()
        with (
            Run.open(tmp_path / "run") as run,
            pytest.raises(InputError, match="the row 'one on h100' of the table verd"),
        ):
            run.data()

    def test_a_second_writer(self, tmp_path):
        with samples.create(tmp_path / "run"):
            with pytest.raises(InputError, match="another kab-mc is writing to this run"):
                Run.open(tmp_path / "run", writable=True)
            Run.open(tmp_path / "run").close()
        Run.open(tmp_path / "run", writable=True).close()

    def test_a_full_disk_is_infrastructure(self, tmp_path):
        with samples.create(tmp_path / "run") as run:
            run._database._connection.execute("PRAGMA max_page_count = 1")
            with pytest.raises(InfraError, match="a verdict cannot be stored"):
                run.record(samples.verdict(detail="x" * 1_000_000))


def test_reading_leaves_no_trace(tmp_path):
    with samples.create(tmp_path / "run") as run:
        run.record(samples.verdict())
    before = sorted(os.listdir(tmp_path / "run"))
    with Run.open(tmp_path / "run") as run:
        assert len(run.data().verdicts) == 1
        with pytest.raises(InfraError, match="readonly"):
            run.record(samples.verdict())
    assert sorted(os.listdir(tmp_path / "run")) == before


def test_an_archived_run_is_read_without_writing(tmp_path, monkeypatch):
    with samples.create(tmp_path / "run") as run:
        run.record(samples.verdict())
    before = sorted(os.listdir(tmp_path / "run"))
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # also for root, who may write anywhere
    with Run.open(tmp_path / "run") as run:
        assert len(run.data().verdicts) == 1
        assert sorted(os.listdir(tmp_path / "run")) == before


_WRITER = """
import sys
from pathlib import Path
from tests.store import samples
run = samples.create(Path(sys.argv[1]), kernels=[f"k{n}" for n in range(10_000)])
for number in range(10_000):
    verdict = samples.verdict(f"k{number}", detail="x" * 5_000, log="log")
    run.record(verdict)
    print(number, flush=True)  # promised to be on disk
"""


@pytest.mark.parametrize("after", [1, 60])
def test_a_killed_writer_loses_nothing_that_it_had_recorded(tmp_path, after):
    path = tmp_path / "run"
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    for line in writer.stdout:
        if int(line) >= after:
            break
    time.sleep(0.003 * after)  # let it get into the middle of something
    writer.send_signal(signal.SIGKILL)
    promised = [int(line), *map(int, writer.stdout.read().split())][-1]
    writer.wait()
    with Run.open(path, writable=True) as run:
        verdicts = run.data().verdicts
        assert promised + 1 <= len(verdicts) <= promised + 2, "at most the one that was being promised is extra"
        assert all(verdict.detail == "x" * 5_000 for verdict in verdicts)
        assert run.hidden_seed() == samples.SEED
        run.record(samples.verdict("k9999"))
        assert ("k9999", "mi300") in run.done()


def test_killed_while_it_is_created_a_run_is_there_or_not(tmp_path):
    """Whatever the moment, the folder is a whole run, or it does not exist."""
    program = "import sys; from pathlib import Path; from tests.store import samples; samples.create(Path(sys.argv[1]))"
    whole = 0
    for attempt, delay in enumerate((0.0, 0.002, 0.004, 0.008, 0.02, 0.1)):
        path = tmp_path / f"run{attempt}"
        creator = subprocess.Popen([sys.executable, "-c", program, str(path)], cwd=ROOT)
        while creator.poll() is None and not list(tmp_path.glob(f"*run{attempt}*")):
            time.sleep(0.0005)
        time.sleep(delay)
        creator.kill()
        creator.wait()
        if path.exists():
            whole += 1
            with Run.open(path, writable=True) as run:
                assert run.data().manifest.id
                assert run.hidden_seed() == samples.SEED
        seeds.forget("20261130-142530-ab12")
    assert whole, "the longest delay is long enough"
