"""The hand-out of cells: each free worker gets the next one, and a worker that dies costs its cell at most a retry."""

from __future__ import annotations

import contextlib
import math
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import ray
from ray.exceptions import RayError

from kernelarena.cluster.cell import Cell, infra
from kernelarena.cluster.placement import Placement, placement
from kernelarena.cluster.pulse import Pulse
from kernelarena.cluster.session import Session
from kernelarena.cluster.worker import JUDGE, Answer, Worker
from kernelarena.errors import InfraError, InputError
from kernelarena.platforms.backend import Availability
from kernelarena.spec import Evidence, Reason, Status, Sweep, Verdict

_POLL_S = 0.5
"""How long to wait for a verdict before looking at ``stopped`` again."""
_CLOSE_S = 5.0
_AHEAD = 6
"""Cells that are compiled before a device has come to them."""
_CALLS = 200
"""More calls than the gates make of any kernel: a judge that takes longer than all of them together hangs."""
_WORTH_RETRYING = frozenset({Reason.WORKER_LOST, Reason.DEVICE_UNHEALTHY, Reason.INTERRUPTED})


@dataclass(frozen=True)
class Use:
    """What the devices of one kind were used for.

    Attributes
    ----------
    resource
        As Ray calls them: ``platform:mi300``.
    cells
        Judged on them.
    seconds
        From the first cell's start to the last one's end.
    idle
        Share of that time in which a place on a device had no cell, 0 to 1.
    """

    resource: str
    cells: int
    seconds: float
    idle: float


@dataclass
class _Waiting:
    """A cell that has yet to be judged."""

    cell: Cell
    then: Placement | None = None
    """Where it is judged once what it needs is built; None: it is judged where it waits."""
    attempts: int = 0
    seconds: float = 0.0
    """Spent on it so far."""


@dataclass(eq=False)
class _Lane:
    """One worker and what it is busy with."""

    placement: Placement
    actor: Any = None
    birth: Any = None
    """Pending until Ray has found a place for the actor, which may take long on a busy cluster."""
    item: _Waiting | None = None
    call: Any = None
    started: float = 0.0


@dataclass
class _Group:
    """Cells that the same workers can take."""

    waiting: deque[_Waiting] = field(default_factory=deque)
    last_tries: deque[_Waiting] = field(default_factory=deque)
    """Cells to be tried once more, each with nothing else beside it."""
    lanes: list[_Lane] = field(default_factory=list)
    cells: int = 0
    """That come here in all."""
    judged: int = 0
    """Of them so far; one that was tried twice counts twice."""
    began: float = math.inf
    ended: float = 0.0
    busy: float = 0.0
    """Seconds of all lanes together."""

    def use(self, resource: str) -> Use:
        """Return what its workers did with their time."""
        seconds = max(0.0, self.ended - self.began)
        whole = seconds * len(self.lanes)
        return Use(resource, self.judged, seconds, max(0.0, 1 - self.busy / whole) if whole else 0.0)


def sweep(
    cells: Iterable[Cell],
    session: Session,
    *,
    config: Sweep,
    hidden_seed: int,
    available: Mapping[str, Availability],
    broken: Mapping[str, str] = MappingProxyType({}),
    stopped: Callable[[], bool] = lambda: False,
    factory: str = JUDGE,
    used: Callable[[Use], None] = lambda _: None,
) -> Iterator[Verdict]:
    """Judge ``cells`` on Ray actors.

    Parameters
    ----------
    cells
        In the order in which they are handed out.
    session
        The Ray to use.
    config
        Passed to the judge; ``retries`` and ``deadlines`` count here as well.
    hidden_seed
        Passed to the judge.
    available
        What evidence can be had of each platform, by id; it decides where a cell is judged.
    broken
        What is wrong with tasks that do not work, by their ids: their cells are not tried.
    stopped
        Asked twice a second and before every hand-out; once it is true, workers are ended and the iteration with
        them. Cells that were being judged then have no verdict.
    factory
        ``module:name`` of what makes a judge, imported by the workers.
    used
        Told, at the end, what each kind of device was used for.

    What runs on a device is compiled before on processors, so that no device waits for a compiler.

    Yields
    ------
    Verdict
        One per cell, as they arrive. What goes wrong around a kernel, here or in the judge, is a verdict too.

    Raises
    ------
    InputError
        If a task's own code does not work, unless ``config.keep_going``.
    InfraError
        If Ray goes away. Cells that were being judged then have no verdict.
    """
    schedule = _Schedule(session, config, hidden_seed, stopped, factory)
    for cell in cells:
        if (why := broken.get(cell.task.task.id)) is not None:
            yield infra(cell, Reason.WORKER_LOST, why)
            continue
        evidence = available[cell.platform.id].evidence
        where = placement(cell.platform, evidence, config.per_device)
        schedule.add(cell, where, ahead=config.cache and _built_ahead(evidence))
    try:
        yield from schedule.run()
    finally:
        schedule.close()
    for use in schedule.uses():
        used(use)


def _built_ahead(evidence: Collection[Evidence]) -> bool:
    return {Evidence.COMPILED, Evidence.MEASURED} <= set(evidence)


class _Schedule:
    def __init__(
        self, session: Session, config: Sweep, hidden_seed: int, stopped: Callable[[], bool], factory: str
    ) -> None:
        self._session = session
        self._config = config
        self._config_json = config.model_dump_json()
        self._seed = hidden_seed
        self._stopped = stopped
        self._gone = False
        self._factory = factory
        self._groups: dict[Placement, _Group] = {}
        self._texts: dict[int, str] = {}
        self._actor_class = ray.remote(Worker)
        self._deadline = config.deadlines.compile + _CALLS * config.deadlines.call

    def add(self, cell: Cell, where: Placement, *, ahead: bool = False) -> None:
        """Have a cell judged; ``ahead``: once a processor has compiled it."""
        group = self._groups.setdefault(where, _Group())
        group.cells += 1
        if not (ahead and self._session.capacity(where.resource)):
            group.waiting.append(_Waiting(cell))
            return
        builders = self._groups.setdefault(Placement(), _Group())
        builders.cells += 1
        builders.waiting.append(_Waiting(cell, then=where))

    def uses(self) -> Iterator[Use]:
        """Yield what each kind of device was used for."""
        for where, group in self._groups.items():
            if where.resource is not None and group.busy:
                yield group.use(where.resource)

    def run(self) -> Iterator[Verdict]:
        for where, group in self._groups.items():
            capacity = self._session.capacity(where.resource) * where.share
            group.lanes = [_Lane(where) for _ in range(min(capacity, group.cells))]
            if not capacity:
                while group.waiting:
                    detail = f"no host of the cluster announces the resource '{where.resource}'"
                    yield infra(group.waiting.popleft().cell, Reason.DEVICE_UNAVAILABLE, detail)
        pulse = Pulse.of_ray()
        while not self._stopped():
            if (lost := pulse.lost()) is not None:
                self._gone = True
                raise InfraError(f"{lost}, and with it the workers; what has been judged is kept")
            self._hand_out()
            busy = {lane.call: lane for lane in self._lanes() if lane.call is not None}
            if not busy:
                return
            ready, _ = ray.wait(list(busy), num_returns=1, timeout=_POLL_S)
            for call in ready:
                if (verdict := self._collect(busy[call])) is not None:
                    yield verdict
            yield from self._overdue()

    def close(self) -> None:
        """End the workers: those that are idle in good order, so that their judges can tidy up, the others at once."""
        if not self._gone:  # whom could it tell
            self._dismiss()

    def _dismiss(self) -> None:
        idle = [lane.actor for lane in self._lanes() if lane.actor is not None and lane.call is None]
        if idle:
            with contextlib.suppress(RayError):
                ray.wait([actor.close.remote() for actor in idle], num_returns=len(idle), timeout=_CLOSE_S)
        for lane in self._lanes():
            self._end(lane)

    def _lanes(self) -> Iterator[_Lane]:
        for group in self._groups.values():
            yield from group.lanes

    def _hand_out(self) -> None:
        for group in self._groups.values():
            for lane in group.lanes:
                if lane.call is None and (item := self._next(group)) is not None:
                    self._start(lane, item)
        if all(lane.call is None for lane in self._lanes()):
            last = next((group for group in self._groups.values() if group.last_tries), None)
            if last is not None:
                self._start_alone(last.lanes[0], last.last_tries.popleft())

    def _next(self, group: _Group) -> _Waiting | None:
        """Take the next cell off a queue; what is built too early would only disturb what is timed meanwhile."""
        for place, item in enumerate(group.waiting):
            if item.then is None or self._ahead(item.then) < _AHEAD:
                del group.waiting[place]
                return item
        return None

    def _ahead(self, where: Placement) -> int:
        """Count the cells that are built for some devices, or about to be, and not being judged yet."""
        building = sum(lane.item is not None and lane.item.then == where for lane in self._lanes())
        return building + len(self._groups[where].waiting)

    def _start_alone(self, lane: _Lane, item: _Waiting) -> None:
        """Try a cell in a fresh process, with no other worker there: whatever ends it now is its own doing."""
        self._dismiss()
        self._start(lane, item)

    def _start(self, lane: _Lane, item: _Waiting) -> None:
        if lane.actor is None:
            lane.actor = self._actor_class.options(**lane.placement.options()).remote(self._factory)
            lane.birth = lane.actor.pid.remote()
        cell = item.cell
        texts = [self._text(model) for model in (cell.kernel, cell.task, cell.platform)]
        lane.item, lane.started = item, time.monotonic()
        if item.then is not None:
            lane.call = lane.actor.build.remote(*texts, self._config_json)
        else:
            lane.call = lane.actor.judge.remote(*texts, self._config_json, self._seed)

    def _text(self, model: Any) -> str:
        """Serialise a model once, however many cells share it."""
        if id(model) not in self._texts:
            self._texts[id(model)] = model.model_dump_json()
        return self._texts[id(model)]

    def _collect(self, lane: _Lane) -> Verdict | None:
        """Take the answer of a lane whose call has ended; None where its cell is going to be tried (again)."""
        if lane.item is not None and lane.item.then is not None:
            self._built(lane, lane.item)
            return None
        item = self._free(lane)
        try:
            answer = Answer.model_validate_json(ray.get(lane.call))
        except RayError as error:
            self._end(lane)
            return self._again(lane, item, f"the worker process died: {_first_line(error)}")
        finally:
            lane.call = None
        if answer.input and not self._config.keep_going:
            raise InputError(answer.error)
        if answer.input:
            return self._lost(item, answer.error)
        if answer.verdict is None:
            # Whatever state the judge is in after a bug, the next cell must not inherit it.
            self._end(lane)
            return self._lost(item, f"the judge failed, which is a bug of kab-mc: {answer.error}")
        if answer.verdict.reason is Reason.DEVICE_UNHEALTHY:
            self._end(lane)  # what its process lost on the device, another process may still have
        if answer.verdict.status is Status.INFRA and answer.verdict.reason in _WORTH_RETRYING:
            return self._again(lane, item, answer.verdict.detail, answer.verdict)
        return answer.verdict.model_copy(update={"attempts": item.attempts})

    def _built(self, lane: _Lane, item: _Waiting) -> None:
        """Pass a cell on to where it is judged. What went wrong with building it will go wrong there, and be named."""
        try:
            ray.get(lane.call)
        except RayError:
            self._end(lane)
        lane.item = lane.call = None
        self._pass_on(item)

    def _pass_on(self, item: _Waiting) -> None:
        assert item.then is not None
        self._groups[item.then].waiting.append(_Waiting(item.cell))

    def _free(self, lane: _Lane) -> _Waiting:
        item = lane.item
        assert item is not None
        lane.item = None
        item.attempts += 1
        now = time.monotonic()
        item.seconds += now - lane.started
        group = self._groups[lane.placement]
        group.began, group.ended = min(group.began, lane.started), max(group.ended, now)
        group.busy += now - lane.started
        group.judged += 1
        return item

    def _again(self, lane: _Lane, item: _Waiting, detail: str, verdict: Verdict | None = None) -> Verdict | None:
        """Put a cell back at the end, where what disturbed it may have passed; give up after the retries."""
        left = self._config.retries + 1 - item.attempts
        if left > 0:
            group = self._groups[lane.placement]
            (group.waiting if left > 1 else group.last_tries).append(item)
            return None
        if verdict is not None:
            return verdict.model_copy(update={"attempts": item.attempts, "duration_s": item.seconds})
        attempts = f"{item.attempts} attempts, the last alone" if item.attempts > 1 else "1 attempt"
        return self._lost(item, f"{detail} ({attempts}); --resume tries again{_suspect(item.cell)}")

    def _lost(self, item: _Waiting, detail: str) -> Verdict:
        return infra(item.cell, Reason.WORKER_LOST, detail, attempts=item.attempts, duration=item.seconds)

    def _overdue(self) -> Iterator[Verdict]:
        """End workers that are long past every deadline that their judge should have enforced itself."""
        for lane in self._lanes():
            if lane.birth is not None:
                if ray.wait([lane.birth], timeout=0)[0]:
                    lane.birth = None
                lane.started = time.monotonic()
            elif lane.call is not None and time.monotonic() - lane.started > self._deadline:
                if lane.item is not None and lane.item.then is not None:
                    self._pass_on(lane.item)
                    self._end(lane)
                    continue
                item = self._free(lane)
                self._end(lane)
                detail = f"the judge did not answer within {self._deadline:.0f} s"
                yield self._lost(item, f"{detail}{_suspect(item.cell)}")

    def _end(self, lane: _Lane) -> None:
        if lane.actor is not None:
            with contextlib.suppress(RayError):
                ray.kill(lane.actor)
        lane.actor = lane.birth = lane.call = None


def _suspect(cell: Cell) -> str:
    """Say who may have ended a worker or kept it: kernels have processes of their own, a task's code has not."""
    task = cell.task.task.id
    return f"; where other kernels of {task} fare the same it is the task's own code: see kab-mc tasks verify {task}"


def _first_line(error: Exception) -> str:
    return next((line.strip().rstrip(".") for line in str(error).splitlines() if line.strip()), type(error).__name__)
