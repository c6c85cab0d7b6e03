import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import ray

from kernelarena.cluster.session import Session, processors, session
from kernelarena.errors import InfraError
from tests.cluster import fakes


def test_capacity_is_what_the_cluster_announces():
    found = Session(workers=3, resources={"CPU": 8.0, "platform:mi300": 4.0})
    assert [found.capacity(resource) for resource in (None, "platform:mi300", "platform:h100")] == [3, 4, 0]
    assert processors() >= 1


def test_an_address_where_nothing_listens_is_infrastructure_at_once():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        refused = pytest.raises(InfraError, match=rf"no Ray cluster can be joined at {address}: Connection refused")
        with refused, session(address):
            pass


@pytest.mark.ray
def test_an_embedded_ray_leaves_this_process_as_it_was(ray_session):
    assert ray_session.workers == 2
    assert subprocess.run(["sh", "-c", "exit 3"], check=False).returncode == 3


@pytest.mark.ray
def test_a_cluster_that_is_up_can_be_joined_and_stays_up(ray_session, log, tmp_path):
    address = ray.get_runtime_context().gcs_address
    line = {"id": "k", "task": "softmax", "language": "triton", "entry": "softmax", "source": fakes.source("pass")}
    (tmp_path / "k.jsonl").write_text(json.dumps(line))
    arguments = ["sweep", "k.jsonl", "--platforms", "mi300", "--out", "out", "--json", "--ray-address", address]
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.driver", *arguments],
        cwd=tmp_path,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert f"joining Ray at {address}" in done.stderr
    assert [cell["status"] for cell in json.loads(done.stdout)["cells"]] == ["pass"]
    assert fakes.computed(log) == {("k", "mi300"): 1}
    assert ray.is_initialized()
    assert ray.get(ray.remote(lambda: 7).remote()) == 7


_DRIVER = """
import sys
import ray
from kernelarena import errors
from kernelarena.cluster.session import session
with session(workers=1):
    print(ray.get_runtime_context().get_session_name(), flush=True)
    raise getattr(errors, sys.argv[1])("this is wrong")
"""


@pytest.mark.ray
@pytest.mark.parametrize(("failure", "stay"), [("InputError", False), ("InfraError", True)])
def test_logs_stay_only_where_they_tell_of_something(failure, stay):
    with tempfile.TemporaryDirectory() as folder:  # not pytest's: names of sockets must be short
        done = subprocess.run(
            [sys.executable, "-c", _DRIVER, failure], env={**os.environ, "RAY_TMPDIR": folder},
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert f"{failure}: this is wrong" in done.stderr
        assert [path.name for path in Path(folder, "ray").glob("session_2*")] == [done.stdout.strip()] * stay
