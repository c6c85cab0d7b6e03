"""The backend of the contributor's guide, as it stands there: the suite passes on it, and it judges kernels.

Its chip is stood in for; only the device node is another one.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_contributing import BLOCKS
from tests.testing.fakes import FOLDER, GIB

ROOT = Path(__file__).resolve().parents[2]
DEVICE = {"name": "Acme One", "memory": 8 * GIB, "identifier": "", "major": 1, "minor": 0}
FACTS = {
    "kind": "acme", "built_for": "", "layers": [["ACME_VISIBLE_DEVICES"]], "lacks": ["ExternalStream"],
    "devices": [DEVICE, DEVICE],
}  # fmt: skip
JUDGE = """
import sys
from kernelarena.judge import Judge
from kernelarena.platforms.catalogue import load
from kernelarena.spec import Kernel, Sweep
from tests.judge.test_judge import ADD_ONE

sweep = Sweep.model_validate(
    {"hidden": {"count": 2}, "timing": {"enabled": False}, "deadlines": {"call": 60}, "cache": False}
)
kernel = Kernel(
    id="k", task="add_one", language="torch", file="kernel.py", function="entry",
    files={"kernel.py": f"def entry(x):\\n    return {sys.argv[1]}\\n"}, origin="a test",
)
with Judge() as judge:
    print(judge.judge(kernel, ADD_ONE, load()["acme1"], sweep, 3).model_dump_json())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the guide has a contributor write, and a runtime that is not there."""
    root = tmp_path_factory.mktemp("acme")
    (root / "acme0").touch()
    for _, name, text in BLOCKS:
        if name.startswith("backend/") or name == "platforms/acme1.yaml":
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("/dev/acme[0-9]*", f"{root}/acme[0-9]*"))
    installed = root / "backend" / "kernelarena_acme-0.1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: kernelarena-acme\nVersion: 0.1\n")
    (installed / "entry_points.txt").write_text("[kernelarena.backends]\nacme = kernelarena_acme:AcmeBackend\n")
    shutil.copytree(FOLDER, root / "torch", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "torch" / "torch_acme.py").write_text("import fake_torch\n\nfake_torch.plug_in('acme')\n")
    say(root, FACTS)
    return root


def say(root, facts):
    """Tell processes, which inherit no variables, what runtime there is."""
    (root / "torch" / "fake_torch_facts.py").write_text(f"FACTS = {json.dumps(facts)!r}\n")


@pytest.fixture(scope="module")
def run(folder):
    def run(*command):
        path = os.pathsep.join(map(str, [folder / "backend", folder / "torch", ROOT]))
        return subprocess.run(
            [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": path, "KERNELARENA_PATH": str(folder)},
        )  # fmt: skip

    return run


def test_the_suite_passes_on_it(run):
    done = run("-m", "pytest", "backend", "-q", "-rs", "-p", "no:cacheprovider", "-p", "no:xdist")
    assert done.returncode == 0, done.stdout
    skipped = [line for line in done.stdout.splitlines() if line.startswith("SKIPPED")]
    assert all("memory is not shared" in line or "cannot be kept busy" in line for line in skipped), done.stdout


@pytest.mark.parametrize(("expression", "status", "reason"), [("x + 1", "pass", None), ("x + 2", "fail", "mismatch")])
def test_a_kernel_is_measured_on_it(run, expression, status, reason):
    done = run("-c", JUDGE, expression)
    assert done.returncode == 0, done.stderr
    verdict = json.loads(done.stdout.strip().splitlines()[-1])
    assert (verdict["status"], verdict["reason"], verdict["evidence"]) == (status, reason, "measured"), verdict
    if status == "pass":
        assert verdict["hidden"]["passed"] == 2


@pytest.mark.parametrize(("expression", "reason"), [("x + 1", None), ("x + 2", "mismatch")])
def test_where_the_chip_has_no_float64_the_host_computes_the_truth(folder, run, expression, reason):
    say(folder, {**FACTS, "lacks": [*FACTS["lacks"], "float64"]})
    try:
        done = run("-c", JUDGE, expression)
    finally:
        say(folder, FACTS)
    assert done.returncode == 0, done.stderr
    verdict = json.loads(done.stdout.strip().splitlines()[-1])
    assert (verdict["reason"], verdict["evidence"]) == (reason, "measured"), verdict
