"""The processes that kernels are timed beside, kept for the next kernels of their tasks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import replace

from kernelarena.judge.case import Case
from kernelarena.judge.gates import GateFailed, Venue, VenueUnready, load, pass_gates, prepare
from kernelarena.judge.inspection import Inspector
from kernelarena.judge.sandbox import Quota
from kernelarena.judge.session import Session
from kernelarena.judge.timing.arm import BaselineFailed
from kernelarena.judge.timing.baseline import NoBaseline, Opponent, opponents
from kernelarena.judge.timing.gate import Side
from kernelarena.judge.zygote import Zygote
from kernelarena.spec import Status, Sweep, TaskSource

_KEPT = 2
"""Processes, each of which holds memory of the device."""
_Key = tuple[str, str, str]


class Beside:
    """Starts baselines on one device, and keeps those that were used last.

    Parameters
    ----------
    venue
        The device.
    quota
        Of their processes.
    """

    def __init__(self, venue: Venue, quota: Quota) -> None:
        self._venue = venue
        self._quota = quota
        self._kept: OrderedDict[_Key, tuple[Session, Side]] = OrderedDict()
        self._coming: dict[_Key, tuple[Session, Callable[[], None]]] = {}
        """Processes that are opening the device, with what waits for each."""
        self._refused: dict[_Key, str] = {}
        """Why programs that had to pass did not."""

    def close(self) -> None:
        """End all of them."""
        self.dismiss()
        while self._kept:
            self._kept.popitem()[1][0].close()

    def expect(self, zygote: Zygote, case: Case) -> None:
        """Start what a kernel will be timed beside, as far as it needs no questions, while others are busy.

        Parameters
        ----------
        zygote, case
            As of `side`, which waits for it.

        Raises
        ------
        VenueUnready
            If its process cannot open the device.
        """
        try:
            opponent = next(iter(self._opponents(case)), None)
        except NoBaseline:
            return
        if opponent is None or not opponent.given or (key := _key(case.task, opponent)) in self._kept:
            return
        session = Session(zygote, opponent.kernel, self._quota)
        try:
            self._coming[key] = session, prepare(session, _venue(self._venue, opponent), case.sweep)
        except BaseException:
            session.close()
            raise

    def dismiss(self) -> None:
        """End what was started for a kernel that was not timed after all."""
        while self._coming:
            self._coming.popitem()[1][0].close()

    def _opponents(self, case: Case) -> Iterable[Opponent]:
        names = self._venue.problems.names(case.task)
        return opponents(case.sweep.timing.baseline, case.kernel, case.task, names)

    def side(self, zygote: Zygote, case: Case) -> Side:
        """Return what a kernel is timed beside, started and right as far as is known.

        Parameters
        ----------
        zygote
            The process to fork it from.
        case
            What is timed, and beside what; a program that is not the reference has to pass first.

        Raises
        ------
        NoBaseline
            If there is nothing of the kind that the run asks for.
        BaselineFailed
            If nothing of it works on this device.
        """
        reasons = []
        for opponent in self._opponents(case):
            key = _key(case.task, opponent)
            if key not in self._kept:
                try:
                    self._keep(key, *self._start(zygote, opponent, case))
                except BaselineFailed as failure:
                    reasons.append(f"{opponent.name} {failure}")
                    continue
            self._kept.move_to_end(key)
            return self._kept[key][1]
        raise BaselineFailed("; ".join(reasons))

    def forget(self, side: Side) -> None:
        """End the process of a baseline that did not do what it should."""
        for key, (session, kept) in list(self._kept.items()):
            if kept is side:
                session.close()
                del self._kept[key]

    def _keep(self, key: _Key, session: Session, side: Side) -> None:
        self._kept[key] = session, side
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)[1][0].close()

    def _start(self, zygote: Zygote, opponent: Opponent, case: Case) -> tuple[Session, Side]:
        task, sweep = case.task, case.sweep
        key = _key(task, opponent)
        if opponent.given:
            session, prepared = self._coming.pop(key, (None, None))
            return start(zygote, opponent, task, sweep, self._venue, self._quota, session, prepared)
        if key in self._refused:
            raise BaselineFailed(self._refused[key])
        published = sweep.model_copy(update={"hidden": sweep.hidden.model_copy(update={"enabled": False})})
        session = Session(zygote, opponent.kernel, self._quota)
        try:
            found = pass_gates(session, self._venue, replace(case, kernel=opponent.kernel, sweep=published))
        except BaseException:
            session.close()
            raise
        if found["status"] is not Status.PASS:
            session.close()
            self._refused[key] = f"does not pass here ({found['reason']}: {found['detail']})"
            raise BaselineFailed(self._refused[key])
        return session, _side(session, opponent, task, sweep)


def start(
    zygote: Zygote,
    opponent: Opponent,
    task: TaskSource,
    sweep: Sweep,
    venue: Venue,
    quota: Quota,
    session: Session | None = None,
    prepared: Callable[[], None] | None = None,
) -> tuple[Session, Side]:
    """Start a program that is right by definition.

    Parameters
    ----------
    zygote, opponent, task, sweep, venue, quota
        What, and where.
    session, prepared
        Its process and what waits for it, where it was called before.

    Returns
    -------
    session : Session
        To be closed.
    side : Side
        It, ready to be timed.

    Raises
    ------
    BaselineFailed
        If it does not load.
    """
    session = session or Session(zygote, opponent.kernel, quota)
    try:
        load(session, opponent.kernel, task, _venue(venue, opponent), sweep, prepared)
    except BaseException as error:
        session.close()
        if isinstance(error, GateFailed | VenueUnready):
            raise BaselineFailed(f"does not load: {error}") from None
        raise
    return session, _side(session, opponent, task, sweep)


def _key(task: TaskSource, opponent: Opponent) -> _Key:
    return task.digest, opponent.name, opponent.kernel.digest


def _venue(venue: Venue, opponent: Opponent) -> Venue:
    """Return where an opponent runs: what torch has to compile cannot be observed."""
    if not opponent.compiled:
        return venue
    return replace(venue, prepare={"device": {**venue.prepare["device"], "trusted": True}})


def _side(session: Session, opponent: Opponent, task: TaskSource, sweep: Sweep) -> Side:
    seconds = sweep.deadlines.compile if opponent.compiled else sweep.deadlines.call
    inspector = Inspector(session, opponent.kernel, task, seconds)
    return Side(opponent.name, inspector, doubted=opponent.doubted)
