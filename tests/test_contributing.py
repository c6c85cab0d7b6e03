"""Follows CONTRIBUTING.md: writes its files, runs its commands."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from kernelarena.spec import Task

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

GUIDE = (Path(__file__).resolve().parent.parent / "CONTRIBUTING.md").read_text()
BLOCKS = re.findall(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", GUIDE, re.M | re.S)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("contributor")
    for _, name, text in BLOCKS:
        if name:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    # What `pip install --editable backend` leaves behind, without a network.
    project = tomllib.loads((root / "backend/pyproject.toml").read_text())["project"]
    metadata = root / "backend" / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    points = project["entry-points"]["kernelarena.backends"].items()
    (metadata / "entry_points.txt").write_text(
        "[kernelarena.backends]\n" + "".join(f"{name} = {target}\n" for name, target in points)
    )
    return root


COMMANDS = [
    line.removeprefix("$ ").split("  #")[0].strip()
    for language, _, text in BLOCKS
    if language == "console"
    for line in text.splitlines()
    if line.startswith("$ kab-mc")
]


def test_the_guide_has_a_recipe_for_each_kind():
    assert [command.split()[1] for command in COMMANDS] == ["platforms", "tasks", "tasks", "check", "platforms"]


def test_the_guide_shows_every_required_key_of_a_task_and_says_which_they_are(folder):
    text = (folder / "tasks/activation/squared_relu/task.yaml").read_text()
    required, line, _ = text.partition("# --- optional from here on\n")
    assert line
    assert set(yaml.safe_load(required)) == {name for name, key in Task.model_fields.items() if key.is_required()}
    Task.model_validate(yaml.safe_load(required))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_guide_work(folder, command):
    environment = {
        **os.environ,
        "KERNELARENA_PATH": str(folder),
        "PYTHONPATH": str(folder / "backend"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "kernelarena.cli", *shlex.split(command)[1:]],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    if "check" in command:
        assert done.stdout.count("✓") == 3
    if command.endswith("acme1"):
        assert "/dev/acme" in " ".join(done.stdout.split())
