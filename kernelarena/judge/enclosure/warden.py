"""The first process of an enclosure: it starts the candidate, watches what it uses, and tells the judge how it ended.

It is forked from the zygote as the candidate is, runs none of the kernel's code, and cannot be reached by it: in a
process namespace of its own the first process takes no signal from within. When it ends, the operating system ends all
others of the namespace, however they were started.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from kernelarena.judge import stacks
from kernelarena.judge.enclosure import filesystem, population, privileges
from kernelarena.judge.enclosure.layers import Layer
from kernelarena.judge.enclosure.plan import Plan
from kernelarena.judge.enclosure.privileges import Quota
from kernelarena.judge.wire import Wire, WireError

_TICK = 0.1  # seconds between looks at what is in use
_LAST_WORDS = 0.05  # seconds for the candidate to print its stack before it is ended


def run(
    plan: Plan,
    quota: Quota,
    files: Mapping[str, str],
    scratch: str | None,
    control: Wire,
    candidate: Callable[[str], None],
) -> None:
    """Enclose this process, start the candidate in it and watch it until it ends; the process ends after that.

    Parameters
    ----------
    plan
        How the candidate is enclosed.
    quota
        What it may use.
    files
        The kernel's, by their names within its folder.
    scratch
        The folder to work in where there is no file system of its own.
    control
        To the judge. Both sides speak: this one of how the candidate fares, the judge of when to print its stack.
        When the judge closes it, everything ends.
    candidate
        Called with the scratch folder in the process that becomes the candidate; never returns.
    """
    try:
        privileges.die_with_parent()
        privileges.adopt_orphans()
        if plan.has(Layer.FILES):
            plan.enter(quota)
            scratch = filesystem.SCRATCH
        assert scratch is not None
        lay_out(files, Path(scratch, "kernel"), plan.owner)
    except OSError as error:
        with contextlib.suppress(WireError):
            control.send({"broken": f"a candidate could not be enclosed: {error}"})
        return
    child = os.fork()
    if child == 0:
        candidate(scratch)
    _close_all_but(control.fileno())
    privileges.hide_memory()
    watch = _Watch(plan, quota, scratch, control, child)
    with contextlib.suppress(WireError):
        watch.run()
    if not plan.has(Layer.PROCESSES):
        population.end_below(_own_id())


class _Watch:
    """Looks after one candidate."""

    def __init__(self, plan: Plan, quota: Quota, scratch: str, control: Wire, child: int) -> None:
        self._plan = plan
        self._quota = quota
        self._scratch = scratch
        self._control = control
        self._child = child
        self._inherited = population.private_bytes(_own_id())
        self._killed_before = _killed_for_memory()
        self._polling = select.poll()
        self._polling.register(control, select.POLLIN)
        self._tick = _TICK
        try:
            self._polling.register(os.pidfd_open(child), select.POLLIN)
        except OSError:  # Linux before 5.3: its end is noticed by asking often
            self._tick = _TICK / 10

    def run(self) -> None:
        """Watch until the candidate has ended, or must; the judge hanging up raises :class:`WireError`."""
        looked = time.monotonic()
        while True:
            for descriptor, _ in self._polling.poll(self._tick * 1000):
                if descriptor == self._control.fileno():
                    self._obey()
            if self._ended():
                return
            if time.monotonic() - looked >= _TICK:
                looked = time.monotonic()
                if self._exceeded():
                    return

    def _obey(self) -> None:
        while (message := self._control.try_receive()) is not None:
            if "stack" in message:
                stacks.ask(self._child)

    def _ended(self) -> bool:
        """Reap whatever ended, and tell the judge if it was the candidate, or if that has been stopped."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return False
            if pid == 0:
                return False
            if pid == self._child:
                break
        if os.WIFSTOPPED(status):
            self._control.send({"stopped": os.WSTOPSIG(status)})
        else:
            self._control.send({"ended": status, "no-memory": _killed_for_memory() > self._killed_before})
        return True

    def _exceeded(self) -> bool:
        """Look at what is in use; tell the judge, and say that it must end, when it is too much."""
        used = population.usage(self._members(), self._inherited)
        size = used.bytes + self._stored()
        many = used.processes > self._quota.processes or used.tasks > self._quota.tasks
        if not many and size <= self._quota.resident:
            return False
        stacks.ask(self._child)
        time.sleep(_LAST_WORDS)
        self._control.send({"over": {"processes": used.processes, "tasks": used.tasks, "bytes": size}})
        return True

    def _members(self) -> Iterator[int]:
        return population.everyone() if self._plan.has(Layer.PROC) else population.below(_own_id())

    def _stored(self) -> int:
        if not self._plan.has(Layer.FILES):
            return 0
        about = os.statvfs(self._scratch)
        return (about.f_blocks - about.f_bfree) * about.f_frsize


def lay_out(files: Mapping[str, str], folder: Path, owner: int) -> None:
    """Write a kernel's files into a folder, for a user who may then do with them as they like."""
    folder.mkdir()
    made = [folder]
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        made += [path, *(parent for parent in path.parents if folder in parent.parents)]
    if owner != os.geteuid():
        for path in {*made}:
            os.chown(path, owner, owner)


def _own_id() -> int:
    """Return this process's id as ``/proc`` shows it, which need not be its own namespace's."""
    return int(os.readlink("/proc/self"))


def _killed_for_memory() -> int:
    """Return how many processes this host has ended because memory ran out."""
    with contextlib.suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/vmstat").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("oom_kill ")))
    return 0


def _close_all_but(kept: int) -> None:
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) != kept:
            with contextlib.suppress(OSError):
                os.close(int(name))
