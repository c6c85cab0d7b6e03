"""Notices what a kernel does in the process that it is given, besides computing.

What is noticed is a claim from inside that process. It cannot make a kernel pass: the judge reads the answers itself.
It gives tampering its name, and fails kernels that tamper and compute the right answer all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from kernelarena.judge.integrity.files import Files
from kernelarena.judge.integrity.names import Names
from kernelarena.judge.integrity.origin import KERNEL, Origins, Place
from kernelarena.judge.integrity.rules import FORKED, Rule, rules
from kernelarena.judge.integrity.state import State
from kernelarena.judge.integrity.watched import watch, watch_ours
from kernelarena.spec import Reason

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

    Make it when everything is imported that the harness itself needs, and the platform's face is on: what names mean
    then is what they have to mean for ever.

    Parameters
    ----------
    folder
        The kernel's files.
    scratch
        What the candidate may write to.
    """

    def __init__(self, folder: Path, scratch: Path) -> None:
        self._origins = Origins(folder, scratch)
        self._names = prepare()
        self._names.settle()
        watch_ours(self._names)
        self._files = Files(scratch)
        self._state = State(self._origins)
        self._acts: list[dict[str, Any]] = []
        self._known: set[str] = set()
        self._armed = False

    def arm(self) -> None:
        """Begin to watch; called once, just before the kernel's module is imported."""
        if self._armed:
            return
        self._armed = True
        self._state.begin()
        table = rules(self._files, self._names, lambda name: self._origins.of(name) != KERNEL)
        sys.addaudithook(_hook(table, self._origins, self._note, self._state.forked))

    def acts(self) -> list[dict[str, Any]]:
        """Return what was noticed since `arm`, as plain data of the form of `Act`."""
        if self._armed:
            for label, reason, now in self._names.changed():
                self._note(f"replaces {label}", _ADVICE, reason, self._origins.defined_at(now), key=label)
            for seen, advice, reason, place in self._state.changed():
                self._note(seen, advice, reason, place)
        return [dict(act) for act in self._acts]

    def _note(self, seen: str, advice: str, reason: Reason, place: Place, key: str = "") -> None:
        key = key or seen
        if key in self._known or len(self._acts) >= _LIMIT:
            return
        self._known.add(key)
        file, line = place
        where = f" ({file}:{line})" if file and line else ""
        self._acts.append(
            {"reason": reason.value, "detail": f"it {seen[:300]}{where}; {advice}", "file": file[:300], "line": line}
        )


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
