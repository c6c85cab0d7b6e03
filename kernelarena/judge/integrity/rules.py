"""The acts that no kernel has a reason for, as a table of the interpreter's audit events.

Each rule names what was done, in words that follow "it"; the kernel fails by it only where the kernel's own code asked
for it (:mod:`origin`). Events and their arguments: https://docs.python.org/3/library/audit_events.html.
"""

from __future__ import annotations

import builtins
import os
import signal
from collections.abc import Callable
from typing import NamedTuple

from kernelarena.judge.integrity.files import Files
from kernelarena.judge.integrity.names import Names
from kernelarena.judge.integrity.origin import PLUMBING
from kernelarena.judge.wire import SPOKEN
from kernelarena.spec import Reason

# Functions below look here, and not where a kernel may put others.
__builtins__ = vars(builtins).copy()  # type: ignore[assignment]
See = Callable[..., "str | tuple[str, Reason] | None"]

FORKED = "forks"
"""What is seen of a fork: no act by itself, but its child must have ended when the entry returns."""


class Rule(NamedTuple):
    """What to make of an audit event."""

    see: See
    """Called with the event's arguments; returns what was done, also with a reason of its own, or None."""
    advice: str
    """What to do about it."""
    through: frozenset[str] = PLUMBING
    """Modules that only pass on what the kernel tells them to do."""


_DIRECT: frozenset[str] = frozenset()
_NETWORK = PLUMBING | {"socket", "ssl", "urllib", "http", "ftplib", "smtplib", "requests", "urllib3", "asyncio"}
_SPEECH = PLUMBING | {"kernelarena.judge.wire"}
_FORKS = PLUMBING | {"multiprocessing.process", "multiprocessing.context", "multiprocessing.popen_fork"}
_PROCESSES = PLUMBING | {"subprocess", "multiprocessing.process", "signal"}
_LEAVE_PROCESSES = "a kernel has no business with processes that it did not start; remove the call"
_LEAVE_NETWORK = "kernels run without a network; bring what the kernel needs in its folder"
_LEAVE_FILES = "a kernel may write to its working folder and to temporary ones; keep to those"
_LEAVE_INTERPRETER = "the interpreter's own objects are not a kernel's to look through or to change; remove the call"
_NAMED = "give generated code a name of its own"
_LEAVE_TRACING = "whatever watches the interpreter also watches the harness; remove the call"

_SYMBOLS = frozenset(
    {
        "PyObject_SetAttr", "PyObject_SetAttrString", "PyObject_GenericSetAttr", "_PyObject_GenericSetAttrWithDict",
        "PyObject_SetItem", "PyDict_SetItem", "PyDict_SetItemString", "PyDict_DelItem", "PyDict_DelItemString",
        "PyDict_Clear", "PyDict_Update", "PyDict_Merge", "PyModule_AddObject", "PyModule_AddObjectRef",
        "PyModule_SetDocString", "PyType_Modified", "_PyType_Lookup", "_PyObject_GetDictPtr",
        "PyFunction_SetDefaults", "PyFunction_SetKwDefaults", "PyFunction_SetClosure", "PyCell_Set",
        "PyEval_SetTrace", "PyEval_SetProfile", "PyEval_SetTraceAllThreads", "PyEval_SetProfileAllThreads",
        "_PyEval_SetTrace", "_PyEval_SetProfile", "_PyInterpreterState_SetEvalFrameFunc", "PySys_SetObject",
        "PySys_AddAuditHook", "_PySys_ClearAuditHooks", "PySys_Audit", "PyTuple_SetItem", "PyList_SetSlice",
        "PyInterpreterState_Clear", "Py_AddPendingCall", "PyObject_GC_UnTrack",
    }
)  # fmt: skip
"""Functions of the interpreter that change its objects behind its back."""
_SYSTEM_CALLS = frozenset({"kill", "killpg", "tgkill", "tkill", "ptrace", "process_vm_readv", "process_vm_writev"})
_INTERNET_EVENTS = (
    "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "urllib.Request", "http.client.connect",
    "ftplib.connect", "smtplib.connect", "imaplib.open", "poplib.connect", "telnetlib.Telnet.open", "nntplib.connect",
)  # fmt: skip
_GUTS = frozenset({"__code__", "__defaults__", "__kwdefaults__"})


def rules(files: Files, names: Names, is_library: Callable[[str], bool]) -> dict[str, Rule]:
    """Return the table, by event.

    Parameters
    ----------
    files
        Which files are whose.
    names
        Functions that must stay as they are.
    is_library
        Whether a file name is that of code which is not the kernel's.
    """
    table = {
        "os.kill": Rule(_kills, _LEAVE_PROCESSES, _PROCESSES),
        "os.killpg": Rule(lambda group, number: _kills(-group, number), _LEAVE_PROCESSES, _PROCESSES),
        "os.fork": Rule(lambda: FORKED, "", _FORKS),
        "resource.prlimit": Rule(_limits, _LEAVE_PROCESSES),
        "socket.connect": Rule(lambda _, address: f"connects to {_shown(address)}", _LEAVE_NETWORK, _NETWORK),
        "socket.bind": Rule(_binds, _LEAVE_NETWORK, _NETWORK),
        "socket.sendto": Rule(lambda _, address: f"sends to {_shown(address)}", _LEAVE_NETWORK, _NETWORK),
        "socket.sendmsg": Rule(_sends, _LEAVE_NETWORK, _NETWORK),
        "socket.__new__": Rule(_adopts, "the harness's connections are not a kernel's", PLUMBING | {"socket"}),
        "open": Rule(lambda path, _, flags: files.opened(path, flags), _LEAVE_FILES),
        "os.listdir": Rule(files.listed, _LEAVE_FILES),
        "os.scandir": Rule(files.listed, _LEAVE_FILES),
        "os.remove": Rule(files.changed, _LEAVE_FILES),
        "os.mkdir": Rule(lambda path, _, here: files.changed(path, here), _LEAVE_FILES),
        "os.rmdir": Rule(files.changed, _LEAVE_FILES),
        "os.rename": Rule(
            lambda old, new, there, here: files.changed(old, there) or files.changed(new, here), _LEAVE_FILES
        ),
        "os.link": Rule(lambda _, new, __, here: files.changed(new, here), _LEAVE_FILES),
        "os.symlink": Rule(lambda _, new, here: files.changed(new, here), _LEAVE_FILES),
        "os.truncate": Rule(lambda path, _: files.opened(path, os.O_WRONLY), _LEAVE_FILES),
        "os.chmod": Rule(lambda path, _, here: files.changed(path, here), _LEAVE_FILES),
        "shutil.rmtree": Rule(lambda path, here=-1: files.changed(path, here), _LEAVE_FILES),
        SPOKEN: Rule(lambda: "speaks to the judge in the harness's name", _LEAVE_INTERPRETER, _SPEECH),
        "gc.get_objects": Rule(lambda *_: "asks the garbage collector for all objects", _LEAVE_INTERPRETER, _DIRECT),
        "gc.get_referrers": Rule(lambda *_: "asks who refers to an object", _LEAVE_INTERPRETER, _DIRECT),
        "gc.get_referents": Rule(lambda *_: "asks what an object refers to", _LEAVE_INTERPRETER, _DIRECT),
        "sys.settrace": Rule(lambda *_: "sets a trace function", _LEAVE_TRACING),
        "sys.setprofile": Rule(lambda *_: "sets a profile function", _LEAVE_TRACING),
        "sys.addaudithook": Rule(lambda *_: "adds an audit hook", _LEAVE_TRACING),
        "sys.monitoring.register_callback": Rule(lambda *_: "registers a monitoring callback", _LEAVE_TRACING),
        "ctypes.dlsym": Rule(_looks_up, _LEAVE_INTERPRETER),
        "ctypes.dlsym/handle": Rule(_looks_up, _LEAVE_INTERPRETER),
        "ctypes.cdata": Rule(lambda address: _lays_over(names, address), _LEAVE_INTERPRETER),
        "object.__setattr__": Rule(
            lambda owner, name, *_: _replaces(names, owner, name), "leave functions that are not the kernel's alone"
        ),
        "compile": Rule(lambda _, name: _dresses(is_library, name), _NAMED, _DIRECT),
        "code.__new__": Rule(lambda _, name, *__: _dresses(is_library, name), _NAMED, _DIRECT),
    }
    table.update(
        {
            event: Rule(lambda *about: f"reaches for the network ({_shown(about)})", _LEAVE_NETWORK, _NETWORK)
            for event in _INTERNET_EVENTS
        }
    )
    return table


def _kills(pid: int, number: int) -> str | None:
    if number == 0 or pid in (0, os.getpid(), -os.getpgrp()):  # a question whether it exists; the kernel's own process
        return None
    kind, target = (os.P_PID, pid) if pid > 0 else (os.P_PGID, -pid)
    if pid != -1 and _is_child(kind, target):
        return None
    whom = "every process" if pid == -1 else f"process {pid}" if pid > 0 else f"process group {-pid}"
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return f"sends {name} to {whom}"


def _is_child(kind: int, target: int) -> bool:
    """Return whether a process, or one of a group, was started by this one and has not been waited for."""
    try:
        os.waitid(kind, target, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except OSError:
        return False
    return True


def _limits(pid: int, *_: object) -> str | None:
    return None if pid in (0, os.getpid()) or _is_child(os.P_PID, pid) else f"changes the limits of process {pid}"


def _binds(_: object, address: object) -> str | None:
    """Return what is wrong with an address to listen on: a tuple is one of a network, a local socket has a path."""
    return f"listens on {_shown(address)}" if isinstance(address, tuple) else None


def _sends(_: object, address: object) -> str | None:
    return None if address is None else f"sends to {_shown(address)}"


def _adopts(_: object, family: int, *__: object) -> str | None:
    """Return what is wrong with making a socket: one whose family nobody names is made of an open descriptor."""
    return "makes a socket of a descriptor that it did not open" if family == -1 else None


def _looks_up(library: object, name: object) -> str | None:
    if name in _SYMBOLS:
        return f"takes '{name}' from the interpreter's library"
    return f"takes '{name}' from the system's library" if name in _SYSTEM_CALLS else None


def _lays_over(names: Names, address: int) -> tuple[str, Reason] | None:
    found = names.at(address)
    return found and (f"reaches into the memory of {found[0]}", found[1])


def _replaces(names: Names, owner: object, name: object) -> tuple[str, Reason] | None:
    found = names.function(owner) if name in _GUTS else None
    return found and (f"replaces {name} of {found[0]}", found[1])


def _dresses(is_library: Callable[[str], bool], name: object) -> str | None:
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    return f"compiles code under the name of {name}" if isinstance(name, str) and is_library(name) else None


def _shown(value: object) -> str:
    """Return plain data on one line; no object of the kernel's gets to say how it is shown."""
    if isinstance(value, tuple):
        return ", ".join(_shown(item) for item in value[:3] if type(item) in (str, bytes, int))
    return str(value)[:80] if type(value) in (str, bytes, int) else type(value).__name__
