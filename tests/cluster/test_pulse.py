import os
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

from kernelarena.cluster import pulse as module
from kernelarena.cluster.pulse import Pulse


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server, f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(module, "_EVERY_S", 0.0)
    monkeypatch.setattr(module, "_CONNECT_S", 0.05)


def test_what_listens_is_there_and_what_does_not_is_gone_at_once(listening):
    server, address = listening
    pulse = Pulse({"control store": address})
    assert [pulse.lost() for _ in range(5)] == [None] * 5
    server.close()
    assert pulse.lost() == f"Ray's control store at {address} is gone"


def test_one_that_is_merely_slow_is_given_time(listening):
    server, address = listening
    server.listen(0)
    crowd = [socket.socket() for _ in range(16)]
    for one in crowd:  # fill the queue, so that nobody else gets through
        one.setblocking(False)
        one.connect_ex(server.getsockname())
    pulse = Pulse({"control store": address})
    assert [pulse.lost() for _ in range(2)] == [None, None]
    assert pulse.lost() is not None
    for one in crowd:
        one.close()


def test_it_asks_rarely(listening, monkeypatch):
    monkeypatch.setattr(module, "_EVERY_S", 3600.0)
    server, address = listening
    pulse = Pulse({"control store": address})
    server.close()
    assert pulse.lost() is None


DRIVER = """
import sys
from kernelarena.cluster.schedule import sweep
from kernelarena.cluster.session import session
from kernelarena.errors import InfraError
from kernelarena.spec import Sweep
from tests.cluster import fakes, samples

cells = samples.cells({"a": "pass", "b": "hang", "c": "pass", "d": "hang"}, ("mi300",))
with session(workers=2) as ray:
    try:
        for verdict in sweep(cells, ray, config=Sweep(), hidden_seed=1, available=samples.AVAILABLE,
                             factory=fakes.FACTORY):
            print("verdict", verdict.kernel, flush=True)
    except InfraError as error:
        print("infra", error, flush=True)
"""


@pytest.mark.ray
@pytest.mark.parametrize("daemon", ["raylet", "gcs_server"])
def test_a_driver_whose_ray_is_killed_ends_and_keeps_what_it_has(daemon, tmp_path):
    from tests.cluster import fakes
    from tests.cluster.conftest import ROOT

    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    driver = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(DRIVER)], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": path, fakes.LOG: str(tmp_path)},
    )  # fmt: skip
    try:
        said = [driver.stdout.readline(), driver.stdout.readline()]
        killed = _kill(driver.pid, daemon)
        started = time.monotonic()
        rest, _ = driver.communicate(timeout=120)
    finally:
        driver.kill()
        driver.wait()
    assert killed
    assert {line.split()[1] for line in said} == {"a", "c"}
    assert rest.startswith("infra Ray's")
    assert "is gone" in rest
    assert time.monotonic() - started < 60


def _kill(parent, name):
    from kernelarena.cluster.watchdog import table

    for pid, (above, _) in table().items():
        with open(f"/proc/{pid}/comm") as file:
            if above == parent and file.read().strip() == name:
                os.kill(pid, signal.SIGKILL)
                return True
    return False
