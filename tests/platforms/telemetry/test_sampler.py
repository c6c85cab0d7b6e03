import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernelarena.platforms.telemetry import Sampler, TelemetryUnavailable
from tests.processes import gone, lives

HERE = "tests.platforms.telemetry.slow"
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def test_samples_come_from_another_process_on_the_same_clock():
    before = time.monotonic_ns()
    with Sampler.start(f"{HERE}:Steady", hertz=200) as sampler:
        greeted = time.monotonic_ns()
        time.sleep(0.1)
        asked = time.monotonic_ns()
        samples = sampler.take()
        assert before < samples[0].at_ns < greeted  # the interval that starts now has a sample before it
        assert samples[-1].at_ns > asked  # and one that has ended has one after it
        assert {sample.reading.power_w for sample in samples} == {float(sampler._process.pid)}
        assert sampler._process.pid != os.getpid()
        more = sampler.take()
        assert more[0].reading.energy_j == samples[-1].reading.energy_j + 1  # each is handed out once, none is lost
    assert sampler._process.returncode == 0


def test_the_oldest_samples_go_first_and_are_counted():
    with Sampler.start(f"{HERE}:Steady", hertz=500, keep=5) as sampler:
        time.sleep(0.3)
        samples = sampler.take()
        assert len(samples) == 5
        assert samples[-1].reading.energy_j == 5 + sampler.overflow
        assert sampler.overflow > 0


def test_a_slow_device_is_sampled_less_often_and_never_in_bursts():
    with Sampler.start(f"{HERE}:Slow", hertz=100) as sampler:
        time.sleep(0.4)
        samples = sampler.take()
        assert sampler.missed > 0
        assert min(sample.took_ns for sample in samples) >= 50_000_000


def test_a_dying_probe_is_noticed():
    with Sampler.start(f"{HERE}:Dying", hertz=10) as sampler:
        assert sampler.take() == []
        assert sampler.lost == "the process that samples ended with exit status 7"
        assert sampler.take() == []


def test_a_process_that_somebody_killed_is_noticed():
    with Sampler.start(f"{HERE}:Steady") as sampler:
        os.kill(sampler._process.pid, signal.SIGKILL)
        sampler._process.wait()
        assert sampler.take() == []
        assert sampler.lost == "the process that samples is gone"


def test_it_ends_with_the_process_that_wanted_it():
    script = (
        "import os, time\nfrom kernelarena.platforms.telemetry import Sampler\n"
        f"sampler = Sampler.start('{HERE}:Steady')\nprint(sampler._process.pid, flush=True)\nos._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert gone(int(done.stdout))


def test_it_ends_even_if_a_fork_keeps_its_pipe_open():
    """A forkserver that was started later holds the write end, so that no end of file tells."""
    script = (
        "import os, time\nfrom kernelarena.platforms.telemetry import Sampler\n"
        f"sampler = Sampler.start('{HERE}:Steady')\n"
        "child = os.fork()\n"
        "if child == 0:\n    os.close(1); os.close(2); time.sleep(30); os._exit(0)\n"
        "print(sampler._process.pid, child, flush=True)\nos._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    worker, child = map(int, done.stdout.split())
    try:
        assert gone(worker)
        assert lives(child)
    finally:
        os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "the backend names no probe"),
        ("no.such.module:Probe", "does not load"),
        (f"{HERE}:os", "is not a"),
        (f"{HERE}:Nothing", "does not load"),
    ],
)
def test_a_source_that_is_none_is_named(source, words):
    with pytest.raises(TelemetryUnavailable, match=words):
        Sampler.start(source)


@pytest.mark.parametrize(("hertz", "keep"), [(0, 1), (-1, 1), (float("nan"), 1), (10, 0)])
def test_a_rate_that_is_none_is_refused(hertz, keep):
    with pytest.raises(ValueError, match="cannot sample"):
        Sampler.start(f"{HERE}:Steady", hertz=hertz, keep=keep)


def test_nothing_in_the_working_directory_is_taken_for_a_library(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit('hijacked')")
    monkeypatch.chdir(tmp_path)
    with Sampler.start(f"{HERE}:Steady") as sampler:
        assert sampler.take()
