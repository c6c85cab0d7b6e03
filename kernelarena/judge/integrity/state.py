"""State of the process that a kernel has no reason to leave behind, looked at after each call.

Only what the kernel's own code put there counts: torch and Python change some of it themselves.
"""

from __future__ import annotations

import builtins
import contextlib
import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FunctionType, MethodType, ModuleType

import torch
import torch.library

from kernelarena.judge.enclosure.privileges import adopt_orphans
from kernelarena.judge.integrity.names import Names
from kernelarena.judge.integrity.origin import Origins, Place
from kernelarena.judge.integrity.watched import OVERRIDDEN, latest
from kernelarena.judge.stacks import ASKED
from kernelarena.spec import Reason

# Functions below look here, and not where a kernel may put others.
__builtins__ = vars(builtins).copy()  # type: ignore[assignment]
# Taken here, since kernels that take them are noticed (doors).
_dispatch_length: Callable[[], int] = torch._C._len_torch_dispatch_stack
_dispatch_at: Callable[[int], object] = torch._C._get_dispatch_stack_at
_function_length: Callable[[], int] = torch._C._len_torch_function_stack
_function_at: Callable[[int], object] = torch._C._get_function_stack_at

Found = tuple[str, str, Reason, Place]
"""What was seen in words that follow "it", what to do about it, the reason, and where."""

_NOWHERE: Place = ("", None)
_ALONE = "the harness's own objects are not a kernel's to change; leave them alone"
_LEAVE = "whatever watches the interpreter also watches the harness; remove it before the entry returns"
_REGISTERED = re.compile(r"registered at (.+):(\d+) ::")
_OPERATORS = frozenset(torch.library._impls)
"""That libraries gave implementations to, torch's own most of all; taken once, as there are thousands."""
_namespace = type.__dict__["__dict__"].__get__
_PACKAGE = __name__.partition(".")[0]
_FACE = f"{_PACKAGE}.platforms."
_FINISH = "all work of a call must be done, or enqueued, when the entry returns"
_TIMERS = ((signal.ITIMER_REAL, signal.SIGALRM), (signal.ITIMER_VIRTUAL, signal.SIGVTALRM),
           (signal.ITIMER_PROF, signal.SIGPROF))  # fmt: skip


class State:
    """What the process looked like when the kernel's turn began.

    Parameters
    ----------
    origins
        Tells the kernel's code from others'.
    names
        Those that are watched.
    """

    def __init__(self, origins: Origins, names: Names) -> None:
        self._origins = origins
        self._names = names
        self._held: list[tuple[object, type, dict[str, object]]] = []
        self._forked: list[Place] = []
        self._dispatch = _dispatch_modes
        self._function = _function_modes
        self._overrides: set[str] = torch.library._impls
        self._dump: Callable[[str], str] = torch._C._dispatch_dump
        self._look: tuple[Callable[[], Iterator[Found]], ...] = (
            self._imports, self._callbacks, self._alarms, self._tracing, self._handler, self._modes, self._objects,
            self._operators, self._processes,
        )  # fmt: skip

    def begin(self) -> None:
        """Take the state as it is now for the one that must remain.

        From here on, processes whose parent ends become children of this one, where they are seen.
        """
        adopt_orphans()
        self._catching = _is_caught(ASKED)
        self._handled = signal.getsignal(ASKED)
        self._dispatch_before = self._dispatch()
        self._function_before = self._function()
        self.hold(*self._dispatch_before, *self._function_before)
        self._modules_before = len(sys.modules)
        self._command = _command(os.getpid())

    def hold(self, *objects: object) -> None:
        """Watch that objects of ours keep their class, their methods, and what their class says is sealed."""
        for one in objects:
            sealed = getattr(type(one), "SEALED", ())
            self._held.append((one, type(one), {name: vars(one).get(name) for name in sealed}))

    def forked(self, place: Place) -> None:
        """Note that the kernel itself forked this process."""
        self._forked.append(place)

    def changed(self) -> Iterator[Found]:
        """Yield what the kernel has changed."""
        for look in self._look:
            with contextlib.suppress(Exception):  # of a process that is no longer whole
                yield from [*look()]

    def _imports(self) -> Iterator[Found]:
        """Yield what the kernel's modules hold of the harness; what a platform's face puts into torch is not meant."""
        for module in latest(self._modules_before):
            file = vars(module).get("__file__")
            if type(file) is not str or self._origins.within(file) is None:
                continue
            for value in [*vars(module).values()]:
                name = _module_of(value)
                if name.partition(".")[0] == _PACKAGE and not name.startswith(_FACE):
                    yield (
                        f"imports the harness ({name})",
                        "kernels run without it; remove the import",
                        Reason.JUDGE_TAMPERING,
                        (self._origins.within(file) or "", None),
                    )

    def _callbacks(self) -> Iterator[Found]:
        """Yield work at garbage collection, which is done whenever it comes, in the harness's time or a clock's."""
        for callback in [*gc.callbacks]:
            if (place := self._kernels(callback)) is not None:
                yield (
                    "left a function behind that runs at every garbage collection",
                    _FINISH,
                    Reason.DEFERRED_WORK,
                    place,
                )

    def _alarms(self) -> Iterator[Found]:
        """Yield timers of the system that will run the kernel's code later."""
        for timer, number in _TIMERS:
            place = self._kernels(signal.getsignal(number)) if signal.getitimer(timer)[0] else None
            if place is not None:
                yield f"left a timer behind that runs its code ({number.name})", _FINISH, Reason.DEFERRED_WORK, place

    def _tracing(self) -> Iterator[Found]:
        for name, function in (("trace", sys.gettrace()), ("profile", sys.getprofile())):
            if (place := self._kernels(function)) is not None:
                yield f"left a {name} function behind", _LEAVE, Reason.JUDGE_TAMPERING, place

    def _handler(self) -> Iterator[Found]:
        handler = signal.getsignal(ASKED)
        if self._catching and (handler is not self._handled or not _is_caught(ASKED)):
            yield (
                f"changed how the process answers {ASKED.name}, by which the harness asks where a kernel hangs",
                "use another signal",
                Reason.JUDGE_TAMPERING,
                self._kernels(handler) or _NOWHERE,
            )

    def _modes(self) -> Iterator[Found]:
        for kind, before, now in (
            ("dispatch", self._dispatch_before, self._dispatch()),
            ("function", self._function_before, self._function()),
        ):
            stack = iter(now)
            gone = not all(any(mode is other for other in stack) for mode in before)
            if gone and not self._names.faceless:
                yield (
                    f"took the harness's own mode off torch's stack of {kind} modes",
                    "leave modes that the kernel did not enter alone",
                    Reason.JUDGE_TAMPERING,
                    _NOWHERE,
                )
            for mode in now:
                if (place := self._kernels(_method(type(mode), f"__torch_{kind}__"))) is not None:
                    yield (
                        f"left a {kind} mode of its own on torch's stack, where it sees what the harness does",
                        "leave every mode before the entry returns",
                        Reason.JUDGE_TAMPERING,
                        place,
                    )

    def _objects(self) -> Iterator[Found]:
        """Yield objects of ours that were given another class, a method of their own, or other parts."""
        for one, cls, sealed in self._held:
            if type(one) is not cls:
                yield f"changed the class of the harness's {cls.__name__}", _ALONE, Reason.JUDGE_TAMPERING, _NOWHERE
                continue
            own = vars(one)
            replaced = [name for name in own if type(_method(cls, name)) is FunctionType]
            for name in replaced + [name for name, value in sealed.items() if own.get(name) is not value]:
                yield (
                    f"replaces '{name}' of the harness's {cls.__name__}",
                    _ALONE,
                    Reason.JUDGE_TAMPERING,
                    self._kernels(own[name]) or _NOWHERE,
                )

    def _operators(self) -> Iterator[Found]:
        if len(self._overrides) == len(_OPERATORS):
            return
        for key in self._overrides - _OPERATORS:
            namespace, _, rest = key.partition("/")
            operator = rest.partition("/")[0]
            if namespace != "aten" or operator.partition(".")[0] not in OVERRIDDEN:
                continue
            for file, line in _REGISTERED.findall(self._dump(f"aten::{operator}")):
                within = self._origins.within(file)
                if within is not None or file.startswith("<"):
                    yield (
                        f"replaces torch's own operator aten::{operator}",
                        "register operators under a namespace of the kernel's own",
                        Reason.JUDGE_TAMPERING,
                        (within, int(line)) if within else _NOWHERE,
                    )

    def _processes(self) -> Iterator[Found]:
        """Yield forks that are still there: they run as what this process does, unlike programs that it started."""
        if not self._forked:
            return
        for pid in _running_children():
            if _command(pid) != self._command:
                continue
            if _session(pid) != _session(0):
                yield (
                    "forked a process that left the session which is ended with the kernel",
                    "wait for processes that the kernel starts",
                    Reason.JUDGE_TAMPERING,
                    self._forked[-1],
                )
            else:
                yield (
                    "forked a process that still runs after the entry returned",
                    f"{_FINISH}; wait for the process",
                    Reason.DEFERRED_WORK,
                    self._forked[-1],
                )

    def _kernels(self, function: object) -> Place | None:
        """Return where the kernel defines a function, or None if it is not the kernel's.

        Torch wraps what modes define in functions of its own, which name what they wrap.
        """
        for _ in range(5):
            if type(function) is MethodType:
                function = function.__func__
            if type(function) is not FunctionType:
                return None
            if self._origins.owns(function.__code__):
                return self._origins.defined_at(function)
            function = function.__dict__.get("__wrapped__")
        return None


def _module_of(value: object) -> str:
    """Return the name of a module, or of that which a function or class can be imported from.

    No metaclass is asked. Functions that are made within others cannot be imported: where the kernel has one of ours,
    it got it from torch, which a platform's face or a device's watch had put it into.
    """
    if type(value) is ModuleType:
        name = vars(value).get("__name__")
    elif type(value) is FunctionType:
        name = value.__module__ if "<locals>" not in value.__qualname__ else ""
    else:
        name = _namespace(value).get("__module__") if isinstance(value, type) else ""
    return name if type(name) is str else ""


def _method(cls: type, name: str) -> object:
    """Return a method as it lies in the class or a base of it, without asking the class."""
    found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found


def _dispatch_modes() -> list[object]:
    return [_dispatch_at(index) for index in range(_dispatch_length())]


def _function_modes() -> list[object]:
    return [_function_at(index) for index in range(_function_length())]


def _is_caught(number: int) -> bool:
    """Return whether the process has a handler for a signal, also one that Python does not know of."""
    found = re.search(r"^SigCgt:\s*([0-9a-f]+)", Path("/proc/self/status").read_text(), re.MULTILINE)
    return found is not None and bool(int(found[1], 16) >> (number - 1) & 1)


def _running_children() -> Iterable[int]:
    """Return the processes that this one started and that have not ended."""
    try:
        words = [word for task in os.listdir("/proc/self/task")
                 for word in Path(f"/proc/self/task/{task}/children").read_text().split()]  # fmt: skip
    except OSError:
        return []
    return [pid for pid in map(int, words) if _runs(pid)]


def _runs(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except OSError:
        return False


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
