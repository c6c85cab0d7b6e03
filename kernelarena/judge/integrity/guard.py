"""Notices what a kernel does in the process that it is given, besides computing.

What is noticed is a claim from inside that process. It cannot make a kernel pass: the judge reads the answers itself.
It gives tampering its name, and fails kernels that tamper and compute the right answer all the same.
"""

from __future__ import annotations

import builtins
import contextlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any

from kernelarena.judge.integrity.doors import close_doors
from kernelarena.judge.integrity.files import Files
from kernelarena.judge.integrity.names import Names
from kernelarena.judge.integrity.origin import KERNEL, Origins, Place
from kernelarena.judge.integrity.rules import FORKED, Rule, rules
from kernelarena.judge.integrity.state import State
from kernelarena.judge.integrity.watched import unwatched, watch, watch_ours
from kernelarena.spec import Reason

# Functions below look here, and not where a kernel may put others.
__builtins__ = vars(builtins).copy()  # type: ignore[assignment]
_PACKAGE = f"{__name__.partition('.')[0]}."
_LIMIT = 20  # acts; one fails the kernel
_ADVICE = "clocks, checks and the harness's own functions are not a kernel's to replace; leave them alone"


@cache
def prepare() -> Names:
    """Take the snapshot of names that guards start from; for the process that candidates are forked from.

    It takes some fifty milliseconds, and what a candidate's face replaces afterwards is taken anew in two.
    """
    return watch()


class Guard:
    """Watches the process from `arm` on.

    Objects of the harness that the frames above `arm` hold, which a kernel can reach from its own, are watched too.

    Make it when everything is imported that the harness itself needs, and the platform's face is on: what names mean
    then is what they have to mean for ever.

    Parameters
    ----------
    folder
        The kernel's files.
    scratch
        What the candidate may write to.
    tell
        Called with each act at once: a kernel that never returns cannot keep it to itself.
    """

    acts: Callable[[], list[dict[str, Any]]]
    """Returns what was noticed since `arm`, as plain data of the form of `Act`; never forgets anything.

    A function of the object's own, so that a kernel that replaces methods of this class changes nothing.
    """

    def __init__(self, folder: Path, scratch: Path, tell: Callable[[dict[str, Any]], None] = lambda _: None) -> None:
        origins, notes, names = Origins(folder, scratch), Notes(tell), prepare()
        names.settle()
        watch_ours(names)
        self._state = state = State(origins, names)
        armed: list[bool] = []
        table = rules(Files(scratch), names, lambda name: origins.of(name) != KERNEL)
        note, changed, late, noted = notes.note, names.changed, _late, notes.all
        hook = _hook(table, origins, note, state.forked)

        def arm(frame: FrameType) -> None:
            if armed:
                return
            armed.append(True)
            state.hold(*_above(frame))
            state.begin()
            close_doors(origins, note)
            sys.addaudithook(hook)

        def acts() -> list[dict[str, Any]]:
            if armed:
                found = [*changed()]
                with contextlib.suppress(Exception):  # of a process that is no longer whole
                    found += late(names, origins)
                for label, reason, now in found:
                    note(f"replaces {label}", _ADVICE, reason, origins.defined_at(now), label)
                for seen in state.changed():
                    note(*seen)
            return noted()

        self._arm, self.acts = arm, acts

    def hold(self, *objects: object) -> None:
        """Watch that objects of the harness keep their class, and that none of their methods is replaced."""
        self._state.hold(*objects)

    def arm(self) -> None:
        """Begin to watch; called just before the kernel's module is imported."""
        self._arm(sys._getframe(1))


class Notes:
    """Acts, each once.

    Parameters
    ----------
    tell
        Called with each.
    """

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        self._tell = tell
        self._acts: list[dict[str, Any]] = []
        self._known: set[str] = set()

    def note(self, seen: str, advice: str, reason: Reason, place: Place, key: str = "") -> None:
        """Take note of what was seen, unless it is known already, by ``key`` or by its words."""
        key = key or seen
        if key in self._known or len(self._acts) >= _LIMIT:
            return
        self._known.add(key)
        file, line = place
        where = f" ({file}:{line})" if file and line else ""
        act = {"reason": reason.value, "detail": f"it {seen[:300]}{where}; {advice}", "file": file[:300], "line": line}
        self._acts.append(act)
        self._tell(dict(act))

    def all(self) -> list[dict[str, Any]]:
        """Return what was noted, in order."""
        return [dict(act) for act in self._acts]


def _above(frame: FrameType | None) -> Iterator[object]:
    """Yield the harness's objects that frames hold from this one outwards, and what of the harness's those hold."""
    while frame is not None:
        for value in [*frame.f_locals.values()]:
            if _is_ours(value):
                yield value
                yield from filter(_is_ours, [*vars(value).values()])
        frame = frame.f_back


def _is_ours(value: object) -> bool:
    return type(value).__module__.startswith(_PACKAGE) and hasattr(value, "__dict__") and not isinstance(value, type)


def _late(names: Names, origins: Origins) -> Iterator[tuple[str, Reason, object]]:
    """Yield what the kernel put into modules of ours that it was the first to import; then watch those too."""
    for _, module in [*unwatched(names)]:
        owners: list[ModuleType | type] = [module]
        owners += [value for value in [*vars(module).values()] if isinstance(value, type)]
        for label, held in ((owner.__name__, vars(owner)) for owner in owners):
            for name, value in [*held.items()]:
                if type(value) is FunctionType and origins.within(value.__code__.co_filename) is not None:
                    yield f"{label}.{name}", Reason.JUDGE_TAMPERING, value
    watch_ours(names)


def _hook(
    table: dict[str, Rule],
    origins: Origins,
    note: Callable[[str, str, Reason, Place], None],
    forked: Callable[[Place], None],
) -> Callable[[str, tuple[Any, ...]], None]:
    """Return the audit hook. It never raises: that would turn what it looks at into an error."""
    find, blame = table.get, origins.blame

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        rule = find(event)
        if rule is None:
            return
        try:
            place = blame(rule.through, 1)
            if place is None:
                return
            seen = rule.see(*arguments)
            if seen is FORKED:
                forked(place)
            elif seen is not None:
                what, reason = (seen, Reason.JUDGE_TAMPERING) if isinstance(seen, str) else seen
                note(what, rule.advice, reason, place)
        except Exception:
            return

    return hook
