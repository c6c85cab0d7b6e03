"""Files and folders that may not be read or written: one line, exit code 2, and nothing left behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store import samples

ROOT = Path(__file__).resolve().parents[2]
OBEDIENT = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
"""What makes a process of the super-user's obey permissions too."""
KERNEL = {"task": "softmax", "language": "triton", "entry": "softmax", "source": "def softmax(x): ..."}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    samples.create(tmp_path / "run").close()
    (tmp_path / "closed" / "inner").mkdir(parents=True)
    (tmp_path / "k.jsonl").write_text(json.dumps(KERNEL))
    (tmp_path / "secret.jsonl").write_text(json.dumps(KERNEL))
    (tmp_path / "secret.yaml").write_text("{}")
    modes = {"closed": 0o000, "secret.jsonl": 0o000, "secret.yaml": 0o000, "run": 0o555}
    for name, mode in modes.items():
        (tmp_path / name).chmod(mode)
    yield tmp_path
    for name in modes:
        (tmp_path / name).chmod(0o755)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("report run", "run/report.json: cannot be written: Permission denied"),
        ("report run --output closed/x.md", "closed/x.md: cannot be read: Permission denied"),
        ("report closed/run", "closed/run: cannot be read: Permission denied"),
        ("sweep --resume run", "run: cannot be written to: it is read-only for this user"),
        ("sweep --out closed/inner/run k.jsonl", "closed/inner/run: cannot be read: Permission denied"),
        ("sweep --out run/more k.jsonl", "run/more: cannot be created: Permission denied"),
        ("sweep --out new k.jsonl", "the hidden seed cannot be kept (XDG_STATE_HOME says where): Permission denied"),
        ("sweep --config secret.yaml k.jsonl", "secret.yaml: cannot be read: Permission denied"),
        ("check closed", "closed/kernel.yaml: cannot be read: Permission denied"),
        ("check secret.jsonl", "secret.jsonl: cannot be read: Permission denied"),
        ("tasks list --tasks-dir closed", "closed: cannot be read: Permission denied"),
        ("platforms list --platforms-dir closed", "closed: cannot be read: Permission denied"),
    ],
)
def test_what_may_not_be_touched(place, arguments, said):
    if arguments.startswith("sweep --out"):
        arguments += " --platforms b580"
    state = place / ("closed" if "XDG" in said else "state")
    before = sorted(os.listdir(place))
    done = subprocess.run(
        [*OBEDIENT, sys.executable, "-m", "kernelarena.cli", *arguments.split()],
        capture_output=True,
        text=True,
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(state)},
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("kab-mc: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(os.listdir(place)) == before
