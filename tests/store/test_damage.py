"""Whatever became of a run folder, of its place or of the host: one clear line, and nothing lost."""

import errno
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from kernelarena.errors import InfraError, InputError
from kernelarena.spec import RunData, Status
from kernelarena.spec.paths import state_dir
from kernelarena.store import Run, seeds
from tests.store import samples

ROOT = Path(__file__).resolve().parents[2]


def alter(folder, *statements):
    """Do to the results what their triggers forbid."""
    raw = sqlite3.connect(folder / "results.sqlite", isolation_level=None)
    for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        raw.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        raw.execute(statement)
    raw.close()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM tasks", r"lacks the task 'softmax' of kernel 'one', so it is damaged"),
        ("DELETE FROM kernels WHERE id = 'two'", r"the table kernels lacks 'two', so the file is damaged"),
        ("DELETE FROM platforms", r"the table platforms lacks 'mi300', so the file is damaged"),
        ("DROP TABLE tasks", r"cannot be read: no such table: tasks"),
        ("UPDATE tasks SET body = '{'", r"the row 'softmax' of the table tasks cannot be read: Invalid JSON"),
        ("UPDATE kernels SET body = '{}'", r"the row 'one' of the table kernels cannot be read: id: Field required"),
        (
            "UPDATE verdicts SET platform = 'h100'",
            r"the row 'one on h100' of .* verdicts cannot be read: it contradicts",
        ),
        ("UPDATE verdicts SET body = CAST(x'ff' AS TEXT)", r"results\.sqlite: cannot be read: Could not decode"),
    ],
)
def test_rows_that_are_gone_or_damaged(tmp_path, statement, said):
    with samples.create(tmp_path / "run") as run:
        run.record(samples.verdict())
    alter(tmp_path / "run", statement)
    with Run.open(tmp_path / "run") as run, pytest.raises(InputError, match=said) as caught:
        run.data()
    assert "\n" not in str(caught.value)


def test_a_status_that_is_none(tmp_path):
    with samples.create(tmp_path / "run") as run:
        run.record(samples.verdict())
    alter(tmp_path / "run", "UPDATE verdicts SET status = 'fine'")
    with Run.open(tmp_path / "run") as run, pytest.raises(InputError, match="'fine' is not a valid Status"):
        run.done()


def test_rows_of_cells_that_the_run_does_not_have_do_not_count(tmp_path):
    with samples.create(tmp_path / "run") as run:
        run.record(samples.verdict("stranger"))
        assert run.statuses() == {}
        assert run.data().verdicts == ()


@pytest.mark.parametrize("name", ["results.sqlite", "run.yaml"])
def test_any_damage_is_an_input_error_or_none(tmp_path, name):
    with samples.create(tmp_path / "run") as run:
        for cell in samples.CELLS:
            run.record(samples.verdict(*cell))
    whole = (tmp_path / "run" / name).read_bytes()
    refused = []
    for number in range(60):
        folder = tmp_path / f"copy{number}"
        shutil.copytree(tmp_path / "run", folder)
        chance = random.Random(number)
        data = bytearray(whole[: chance.randrange(len(whole))] if number % 4 == 0 else whole)
        for _ in range(chance.choice((1, 8, 200))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        (folder / name).write_bytes(data)
        try:
            with Run.open(folder, writable=True) as run:
                assert isinstance(run.data(), RunData)
                run.hidden_seed()
        except InputError as error:
            refused.append(str(error))
        shutil.rmtree(folder)
    assert len(refused) > 20, "the damage is of a size that matters"
    assert not any("\n" in line for line in refused)


def test_a_published_seed_that_was_not_announced(tmp_path):
    with samples.create(tmp_path / "run") as run:
        run.finish()
    manifest = tmp_path / "run/run.yaml"
    manifest.write_text(manifest.read_text().replace(f"hidden_seed: {samples.SEED}", "hidden_seed: 7"))
    with (
        Run.open(tmp_path / "run") as run,
        pytest.raises(InputError, match="hidden_seed: not the one that the run ann"),
    ):
        run.hidden_seed()


class TestPlaces:
    @pytest.mark.parametrize("name", ["x" * 255, "é" * 127])
    def test_the_longest_name_that_there_can_be(self, tmp_path, name):
        with samples.create(tmp_path / name) as run:
            run.record(samples.verdict())
            run.finish()
        assert os.listdir(tmp_path) == [name]

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("x" * 256, "File name too long"),
            ("file/run", "cannot be created: Not a directory"),
            ("loop/run", "Too many levels of symbolic links"),
            ("dangling", "exists and is not a run"),
            ("pipe", "exists and is not a run"),
        ],
    )
    def test_where_no_run_can_be(self, tmp_path, name, said):
        (tmp_path / "file").touch()
        (tmp_path / "loop").symlink_to("loop")
        (tmp_path / "dangling").symlink_to("nowhere")
        os.mkfifo(tmp_path / "pipe")
        before = sorted(os.listdir(tmp_path))
        with pytest.raises(InputError, match=said):
            samples.create(tmp_path / name)
        assert sorted(os.listdir(tmp_path)) == before
        assert not list(state_dir().glob("seeds/*"))

    def test_folders_on_the_way_go_again_when_it_fails(self, tmp_path, monkeypatch):
        monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
        with pytest.raises(InputError, match=r"/proc/nowhere/.*: the hidden seed cannot be kept \(XDG_STATE_HOME says"):
            samples.create(tmp_path / "a" / "b" / "run")
        assert os.listdir(tmp_path) == []

    def test_a_file_where_the_folder_is_meant(self, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(InputError, match="file: is a file, no run folder"):
            Run.open(tmp_path / "file")
        with pytest.raises(InputError, match="File name too long"):
            Run.open(tmp_path / ("x" * 300))

    def test_a_second_run_of_an_id_does_not_cost_the_first_its_seed(self, tmp_path):
        with samples.create(tmp_path / "one") as run:
            with pytest.raises(InputError, match="holds the hidden seed of another run of that id; start again"):
                samples.create(tmp_path / "two")
            assert run.hidden_seed() == samples.SEED
        assert os.listdir(tmp_path) == ["one"]


def test_of_many_that_want_the_same_place_one_gets_it(tmp_path):
    program = (
        "import sys; from pathlib import Path; from kernelarena.errors import InputError\n"
        "from tests.store import samples\n"
        "samples.surroundings(); print('ready', flush=True); sys.stdin.readline()\n"
        "try:\n    samples.create(Path(sys.argv[1]), run_id=sys.argv[2]).close(); print('created')\n"
        "except InputError as error:\n    print(error)\n"
    )
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "run"), f"id-{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for number in range(4)
    ]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("\n")
        racer.stdin.flush()
    said = [racer.communicate()[0].strip() for racer in racers]
    assert said.count("created") == 1, said
    assert all(line == "created" or "is a run already; continue it with --resume" in line for line in said), said
    assert os.listdir(tmp_path) == ["run"]
    with Run.open(tmp_path / "run", writable=True) as run:
        assert run.hidden_seed() == samples.SEED
        assert [path.name for path in state_dir().glob("seeds/*")] == [run.manifest.id]


_FULL = """
import os, sys
from pathlib import Path
from kernelarena.errors import InfraError
from tests.store import samples
place = Path(sys.argv[1])
ballast = place / "ballast"
with samples.create(place / "run") as run:
    run.record(samples.verdict("one", "mi300"))
    try:
        with ballast.open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
    except OSError:
        pass
    for act in (lambda: run.record(samples.verdict("two", "h100", log="x" * 50_000)), run.finish,
                lambda: samples.create(place / "other", run_id="other")):
        try:
            act()
            print("done")
        except InfraError as error:
            print(error)
    assert not (place / "other").exists()
    ballast.unlink()
    assert run.done() == {("one", "mi300")}, "what was stored stays"
    run.record(samples.verdict("two", "h100", log="x" * 50_000))
    run.finish()
    print(len(run.data().verdicts), run.manifest.finished is not None, run.hidden_seed() == samples.SEED)
"""


def test_a_disk_that_is_full(tmp_path):
    mount = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*mount, f"mount -t tmpfs none {tmp_path}"], capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be made here: user namespaces are not to be had")
    script = f'mount -t tmpfs -o size=1m none {tmp_path} && exec "$0" -c "$1" {tmp_path}'
    done = subprocess.run(
        [*mount, script, sys.executable, _FULL], capture_output=True, text=True, cwd=ROOT, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    log, manifest, other, end = done.stdout.splitlines()
    assert log.endswith("two/h100.log: cannot be written: No space left on device")
    assert manifest.endswith("run.yaml: cannot be written: No space left on device")
    assert "other: cannot be created: " in other
    assert end == "2 True True"


def test_what_is_not_written_is_not_believed(tmp_path, monkeypatch):
    with samples.create(tmp_path / "run") as run:
        run.record(samples.verdict(status=Status.FAIL))

        def refuse(path, text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("kernelarena.spec.textfile.replace", refuse)
        with pytest.raises(InfraError, match=r"run\.yaml: cannot be written: No space left"):
            run.finish()
        assert run.manifest.finished is None
        assert seeds.recall(run.manifest.id, run.manifest.hidden_seed_sha256) == samples.SEED
