"""Finds out which layers of isolation a host allows, by trying each of them in a process that ends at once."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import stat
from collections.abc import Callable, Iterable, Sequence

from kernelarena.judge.enclosure import privileges
from kernelarena.judge.enclosure.layers import SWITCH, Isolation, Layer, switched_off
from kernelarena.judge.enclosure.plan import NAMESPACES, Plan
from kernelarena.judge.enclosure.privileges import Quota
from kernelarena.judge.enclosure.visible import essential, view

_SWITCHED_OFF = f"left out by {SWITCH}"
_NEEDS_PRIVILEGE = "needs a user namespace where the judge is not root"


def probe(extra: Iterable[str] = (), private: Sequence[str] = ()) -> Plan:
    """Return how candidates are enclosed on this host, with every layer that it allows.

    Parameters
    ----------
    extra
        Device nodes and other paths that candidates need besides the interpreter's.
    private
        Folders that must not be shown as a whole.

    Raises
    ------
    InputError
        If the switch names something that is no layer.
    """
    extra = list(extra)
    device = any(path.startswith("/dev/") for path in extra)
    plan = Plan(view(extra, private), Isolation(missing=dict.fromkeys(Layer, "")), device, _groups(extra))
    off = switched_off()
    for layer, attempt in _ATTEMPTS.items():
        wished = _with(plan, layer)
        why = _SWITCHED_OFF if layer in off else attempt(wished)
        plan = wished if why is None else _without(plan, layer, why)
    return plan


def _with(plan: Plan, layer: Layer) -> Plan:
    missing = {other: why for other, why in plan.isolation.missing.items() if other is not layer}
    return dataclasses.replace(plan, isolation=Isolation(missing=missing))


def _without(plan: Plan, layer: Layer, why: str) -> Plan:
    return dataclasses.replace(plan, isolation=Isolation(missing={**plan.isolation.missing, layer: why}))


def _groups(extra: Iterable[str]) -> tuple[int, ...]:
    """Return the groups that may open a device which others may not."""
    found = set()
    for path in extra:
        with contextlib.suppress(OSError):
            about = os.stat(path)
            if stat.S_ISCHR(about.st_mode) and about.st_mode & 0o006 != 0o006:
                found.add(about.st_gid)
    return tuple(sorted(found - {0}))


def _attempt(plan: Plan, body: Callable[[], None]) -> str | None:
    """Run ``body`` as a candidate's process; return why that did not work, or None if it did."""
    reading, writing = os.pipe()

    def run() -> None:
        try:
            body()
            os.write(writing, b"+")
        except OSError as error:
            os.write(writing, str(error.strerror or error).encode())
        os._exit(0)

    try:
        pid = plan.spawn(run)
    except OSError as error:
        os.close(reading)
        return error.strerror or str(error)
    finally:
        os.close(writing)
    said = b""
    while part := os.read(reading, 4096):
        said += part
    os.close(reading)
    os.waitpid(pid, 0)
    return None if said == b"+" else said.decode("utf-8", "replace") or "it ended unexpectedly"


def _namespace(plan: Plan) -> str | None:
    if os.geteuid() != 0 and not plan.has(Layer.USER):
        return _NEEDS_PRIVILEGE
    return _attempt(plan, lambda: None)


def _user(plan: Plan) -> str | None:
    return _attempt(plan, lambda: None)


def _unprivileged(plan: Plan) -> str | None:
    """Whoever is not root has this layer; root needs another user, who can read all that matters."""
    if os.geteuid() != 0:
        return None

    def become() -> None:
        if plan.has(Layer.FILES):
            plan.enter(Quota())
        privileges.drop(plan.user, list(plan.groups))
        _read_essential()

    return _attempt(plan, become)


def _files(plan: Plan) -> str | None:
    if (why := _namespace(plan)) is not None:
        return why

    def enter() -> None:
        plan.enter(Quota())
        _read_essential()

    return _attempt(plan, enter)


def _proc(plan: Plan) -> str | None:
    absent = [layer for layer in (Layer.PROCESSES, Layer.FILES) if not plan.has(layer)]
    return f"needs a {absent[0]}" if absent else _files(plan)


def _system_calls(plan: Plan) -> str | None:
    def install() -> None:
        privileges.drop(plan.user, list(plan.groups))
        privileges.filter_system_calls(networked=False, all_processes=False, device=False)

    return _attempt(plan, install)


def _read_essential() -> None:
    for path in essential():
        try:
            with open(path, "rb") as file:
                file.read(1)
        except OSError as error:
            raise OSError(error.errno, f"{path} cannot be read ({error.strerror})") from None


_ATTEMPTS: dict[Layer, Callable[[Plan], str | None]] = {
    Layer.USER: _user,
    **{layer: _namespace for layer in NAMESPACES if layer not in (Layer.USER, Layer.FILES)},
    Layer.FILES: _files,
    Layer.PROC: _proc,
    Layer.UNPRIVILEGED: _unprivileged,
    Layer.SYSTEM_CALLS: _system_calls,
}
"""In this order, as later ones build on earlier ones."""
