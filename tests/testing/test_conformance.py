"""The suite notices what is wrong with a backend: each fault by the test that is about it, and nothing else."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "tests" / "judge" / "plugin"
FAULTY = "tests/testing/faulty.py"


@pytest.fixture(scope="module")
def failures():
    """The tests that failed, by class; and the classes of which any passed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", FAULTY, "-q", "-rA", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": f"{PLUGIN}:{ROOT}"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert not re.search(r"^ERROR", done.stdout, re.M), done.stdout
    told = re.findall(rf"^(PASSED|FAILED) {FAULTY}::(\w+)::(\w+)", done.stdout, re.M)
    found = {name: set() for _, name, _ in told}
    for outcome, name, test in told:
        if outcome == "FAILED":
            found[name].add(test)
    return found


def test_each_fault_fails_the_test_that_is_about_it(failures, monkeypatch):
    monkeypatch.syspath_prepend(str(PLUGIN))
    from tests.testing import faulty

    suites = {name: suite for name, suite in vars(faulty).items() if name.startswith("Test")}
    assert {name: set(suite.fails.split()) for name, suite in suites.items()} == failures


def test_every_test_of_the_suite_has_a_fault_that_it_notices(failures):
    from kernelarena.testing.backend import BackendConformance

    tests = {name for name in vars(BackendConformance) if name.startswith("test_")}
    noticed = set().union(*failures.values())
    # Nothing about these could be wrong without the declared chips, or torch itself, being so.
    assert tests - noticed == {"test_no_device_is_two_chips", "test_the_framework_computes_on_it"}
