"""Ray for the time of a run: embedded, or an existing cluster that is joined."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import ray

from kernelarena.cluster import watchdog
from kernelarena.cluster.placement import Announcement
from kernelarena.errors import InfraError, InputError

_OBJECT_STORE_BYTES = 80 << 20
"""Only texts of some kilobytes go through it; Ray takes no less than 75 MiB, and by default a third of the memory."""

_CONNECT_S = 10.0
_BESIDE = 2
"""Processors that a device's judge and the kernel's process keep busy; whoever took them would delay launches."""


@dataclass(frozen=True)
class Session:
    """A Ray that is up.

    Attributes
    ----------
    workers
        How many cells the processors can take at once.
    resources
        What the cluster announces, by Ray's names.
    """

    workers: int
    resources: Mapping[str, float]

    def capacity(self, resource: str | None) -> int:
        """Return how many actors can hold ``resource`` at once; of a processor where it is None."""
        return self.workers if resource is None else int(self.resources.get(resource, 0))


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


@contextlib.contextmanager
def session(
    address: str | None = None,
    *,
    workers: int | None = None,
    devices: Announcement | None = None,
    per_device: int = 1,
) -> Iterator[Session]:
    """Have a Ray for the time of a ``with`` block.

    Parameters
    ----------
    address
        Of a cluster to join; None starts one inside this process's tree, and ends it with the block or with this
        process, even if that is killed.
    workers
        How many cells to judge at once on processors; by default one per processor, but for two beside each device,
        which time kernels there.
    devices
        What an embedded Ray announces of this host's devices; the hosts of a cluster announce their own.
    per_device
        How many actors are going to share each of them.

    Raises
    ------
    InfraError
        If Ray does not start, or nothing answers at ``address``.
    """
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        try:
            if address is None:
                _embedded(stack, workers or processors(), devices or Announcement(0, {}), per_device)
            else:
                _reach(address)
                stack.callback(ray.shutdown)
                with _silence():
                    ray.init(address, log_to_driver=False, configure_logging=False, namespace="kernelarena")
            resources = ray.cluster_resources()
        except SystemExit:  # what Ray's own handler makes of SIGTERM meanwhile
            raise KeyboardInterrupt from None
        except InfraError:
            raise
        except Exception as error:
            reason = (" ".join(str(error).split()) or type(error).__name__)[:300]
            if address is None:
                raise InfraError(f"Ray does not start: {reason}") from error
            hint = "a cluster that asks for a token needs RAY_AUTH_MODE=token and the token here as well"
            raise InfraError(f"no Ray cluster can be joined at {address}: {reason} ({hint})") from error
        yield Session(workers or max(1, int(resources.get("CPU", 1))), resources)


def _reach(address: str) -> None:
    """Raise at once where nothing listens at ``host:port``: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdigit()):
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S).close()
    except OSError as error:
        raise InfraError(f"no Ray cluster can be joined at {address}: {error.strerror or error}") from None


def _embedded(stack: contextlib.ExitStack, workers: int, devices: Announcement, per_device: int) -> None:
    """Start Ray below this process, watched."""
    before = set(_children())
    logs = stack.enter_context(_logs())
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", watchdog.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    stack.callback(_dismiss, guard)
    stack.callback(ray.shutdown)
    with _silence():
        context = ray.init(
            "local",  # whatever RAY_ADDRESS says
            # An actor on a device needs a processor too, which must not wait for those that compile.
            num_cpus=workers + devices.devices * per_device,
            num_gpus=devices.devices,
            resources=devices.resources,
            include_dashboard=False,
            log_to_driver=False,
            configure_logging=False,
            object_store_memory=_OBJECT_STORE_BYTES,
            namespace="kernelarena",
        )
    assert guard.stdin is not None
    for pid in set(_children()) - before - {guard.pid}:
        guard.stdin.write(b"%d\n" % pid)
    guard.stdin.flush()
    logs.append(Path(context.address_info["session_dir"]))


@contextlib.contextmanager
def _logs() -> Iterator[list[Path]]:
    """Take folders that Ray keeps its logs in, and remove them at the end, unless something failed: they tell of it."""
    folders: list[Path] = []
    failed = True
    try:
        yield folders
        failed = False
    except InputError:
        failed = False  # of which Ray knows nothing
        raise
    finally:
        for folder in () if failed else folders:
            shutil.rmtree(folder, ignore_errors=True)


def _children() -> list[int]:
    return [pid for pid, (parent, _) in watchdog.table().items() if parent == os.getpid()]


def _dismiss(guard: subprocess.Popen[bytes]) -> None:
    assert guard.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        guard.stdin.close()
    try:
        guard.wait(watchdog.GRACE_S + 5)
    except subprocess.TimeoutExpired:
        guard.kill()
        guard.wait()


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Send what is written to the standard streams meanwhile to nowhere, also by other languages and children.

    Ray greets on both, and its daemons inherit them for good: without this, `kab-mc … --json | head` would wait for
    a daemon to end.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    kept = [(stream, os.dup(stream)) for stream in (1, 2)]
    try:
        for stream, _ in kept:
            os.dup2(nowhere, stream)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for stream, copy in kept:
            os.dup2(copy, stream)
            os.close(copy)
        os.close(nowhere)
