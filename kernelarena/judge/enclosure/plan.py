"""How a candidate is enclosed on this host, and the first step of it: a process in namespaces of its own."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kernelarena.judge.enclosure import filesystem, privileges, system
from kernelarena.judge.enclosure.forking import FAILED, leave_after
from kernelarena.judge.enclosure.layers import Isolation, Layer
from kernelarena.judge.enclosure.privileges import INSIDE, NOBODY, Quota
from kernelarena.judge.enclosure.visible import View

NAMESPACES = {
    Layer.USER: system.CLONE_NEWUSER,
    Layer.PROCESSES: system.CLONE_NEWPID,
    Layer.FILES: system.CLONE_NEWNS,
    Layer.NETWORK: system.CLONE_NEWNET,
    Layer.MEMORY: system.CLONE_NEWIPC,
    Layer.HOST: system.CLONE_NEWUTS,
}


@dataclass(frozen=True)
class Plan:
    """What is done to every candidate of a zygote."""

    view: View
    isolation: Isolation = field(default_factory=Isolation)
    device: bool = False
    """Whether a device's runtime works in candidates."""
    groups: tuple[int, ...] = ()
    """Groups of the host that the kernel's user stays in where the judge is root, as a device may be theirs."""

    def has(self, layer: Layer) -> bool:
        """Whether candidates have a layer."""
        return self.isolation.has(layer)

    @property
    def flags(self) -> int:
        """The namespaces that are made, as ``clone`` takes them."""
        return sum(flag for layer, flag in NAMESPACES.items() if self.has(layer))

    @property
    def user(self) -> int | None:
        """The id that the kernel's process changes to, as it sees it; None where it stays who it is."""
        if os.geteuid() != 0 or not self.has(Layer.UNPRIVILEGED):
            return None
        return INSIDE if self.has(Layer.USER) else NOBODY

    @property
    def owner(self) -> int:
        """The id that owns the kernel's files, as the first process of the enclosure sees it."""
        if self.user is not None:
            return self.user
        return INSIDE if self.has(Layer.USER) else os.geteuid()

    @property
    def owner_outside(self) -> int:
        """The same, as the host sees it."""
        return os.geteuid() if self.user is None else NOBODY

    @property
    def counted_alone(self) -> bool:
        """Whether the operating system counts the kernel's processes apart from everyone else's."""
        release = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2])
        return self.user is not None or (self.has(Layer.USER) and release >= (5, 14) and os.geteuid() != 0)

    def spawn(self, body: Callable[[], None]) -> int:
        """Run ``body`` in a new process in the plan's namespaces; return its process id.

        Raises
        ------
        OSError
            If the host refuses.
        """
        waiting, go = os.pipe()
        try:
            pid = self._fork()
        except OSError:
            os.close(waiting)
            os.close(go)
            raise
        if pid == 0:
            os.close(go)
            leave_after(lambda: self._begin(waiting, body))
        os.close(waiting)
        try:
            if self.has(Layer.USER):
                self._map(pid)
            with contextlib.suppress(BrokenPipeError):
                os.write(go, b"1")
        except OSError:
            os.close(go)
            os.waitpid(pid, 0)
            raise
        os.close(go)
        return pid

    def _begin(self, waiting: int, body: Callable[[], None]) -> int:
        """Do what the new process is for, as soon as its users are known outside."""
        if os.read(waiting, 1):
            os.close(waiting)
            body()
        return FAILED  # a body that has anything to say ends the process itself

    def _fork(self) -> int:
        if not self.flags:
            return os.fork()
        if len(os.listdir("/proc/self/task")) == 1:
            return system.clone(self.flags)
        # Other threads must be put to rest before their memory is copied, which an ordinary fork sees to.
        reading, writing = os.pipe()
        go_between = os.fork()
        if go_between == 0:
            pid = _cloned_or_error(self.flags)
            if pid == 0:
                return 0
            os.write(writing, b"%d" % pid)
            os._exit(0)
        os.close(writing)
        said = int(os.read(reading, 32) or b"0")
        os.close(reading)
        os.waitpid(go_between, 0)
        if said <= 0:
            raise OSError(-said, os.strerror(-said))
        return said

    def _map(self, pid: int) -> None:
        """Say who the users of a new user namespace are outside."""
        user, group = os.geteuid(), os.getegid()
        if self.user is None:
            maps = {"setgroups": "deny", "uid_map": f"{INSIDE} {user} 1", "gid_map": f"{INSIDE} {group} 1"}
        else:
            kept = "".join(f"\n{number} {number} 1" for number in self.groups)
            maps = {
                "uid_map": f"0 {user} 1\n{INSIDE} {NOBODY} 1",
                "gid_map": f"0 {group} 1\n{INSIDE} {NOBODY} 1{kept}",
            }
        for name, text in maps.items():
            Path(f"/proc/{pid}/{name}").write_text(text)

    def enter(self, quota: Quota) -> None:
        """Enter the file system of one's own; called in a new process that has all privileges within its namespaces."""
        filesystem.enter(
            self.view, user=self.owner, storage=quota.storage, own_processes=self.has(Layer.PROC)
        )  # fmt: skip

    def confine(self, quota: Quota) -> None:
        """Give up what a kernel does not need; called in the process that will run it.

        Raises
        ------
        OSError
            If the host refuses something that it allowed when it was asked.
        """
        privileges.limit(quota, counted_alone=self.counted_alone)
        privileges.drop(self.user, list(self.groups))
        if self.has(Layer.SYSTEM_CALLS):
            privileges.filter_system_calls(
                networked=not self.has(Layer.NETWORK),
                all_processes=not self.has(Layer.PROCESSES),
                device=self.device,
            )


def _cloned_or_error(flags: int) -> int:
    """Return the id of a sibling in new namespaces, 0 within it, or a negative error number."""
    try:
        return system.clone(flags | system.CLONE_PARENT)
    except OSError as error:
        return -(error.errno or errno.EINVAL)
