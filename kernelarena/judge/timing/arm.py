"""One side of a timing: a process, places for its inputs, and what is put into them before each run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, Any

from pydantic import Field, ValidationError

from kernelarena.judge.answer import NO_ANSWER, Finding, Outputs
from kernelarena.judge.arena import POISONS, InputArena, OutputArena
from kernelarena.judge.inspection import Inspector, explain
from kernelarena.judge.memory import Exchange
from kernelarena.judge.problems import Problem
from kernelarena.judge.session import CandidateEnded
from kernelarena.judge.timing.marks import Marks
from kernelarena.judge.timing.supply import Supply
from kernelarena.spec import Reason
from kernelarena.spec.base import Model

MOST_PLACES = 4
"""Sets of inputs at addresses of their own, which calls go round."""
AUDITED = 0.2
"""Share of the requests of which one call is looked at, whose answer is known. No kernel can tell which."""
SHORTEST_PAUSE = 100e-6
LONGEST_PAUSE = 50e-3
"""Seconds; host code that takes longer is timed as it comes."""
_RECORDED = 20
"""Calls that are recorded, to be repeated."""
_MOST_REPEATS = 10_000
_MARGIN = 1.5
_REMEMBERED = 0.8
"""Of what the host took, from run to run."""


class TimingFailed(Exception):
    """A timed call that cannot be one of a kernel's.

    Parameters
    ----------
    finding
        What was wrong with it.
    """

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.detail)
        self.finding = finding


class BaselineFailed(Exception):
    """The baseline did not do what it should, which is not held against the kernel."""


class Timed(Model):
    """One timed run as the candidate tells it."""

    device: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """Seconds from mark to mark."""
    host: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Seconds that the host took to enqueue the calls."""
    bound: bool
    """Whether the host's time is part of the device's."""


@dataclass(frozen=True)
class Run:
    """One timed run. Times are those of one call."""

    device: float
    """Seconds on the device."""
    host: float
    """Seconds that the host took to enqueue it."""
    bound: bool
    """Whether the host's time is part of the device's."""


@dataclass(frozen=True)
class Request:
    """Some runs, one after the other, and what was seen of them."""

    runs: tuple[Run, ...]
    began: int
    """When they were asked for, by the judge's clock, monotonic ns."""
    ended: int
    """When the answer came."""
    observed: dict[str, Any]
    """What one call did, on average."""
    idle: bool
    """Whether fewer launches were seen than calls were made."""


class TimedArm:
    """A process that is timed, and the inputs that it is given.

    No two runs have the same inputs, though all are of one distribution: an answer from memory would be wrong whenever
    it is looked at, and nobody can tell when that is. Runs that are asked for at once have their inputs ready side by
    side, so what counts is the mean of their times: whoever does in the first what belongs to the others gains nothing.

    Parameters
    ----------
    inspector
        Of the process; it has loaded what is to be timed.
    problems
        At least two, of one shape, with their answers.
    exchange
        How tensors get there and back.
    rng
        Decides what is put where, and what is audited.
    marks
        How good the device's marks are.
    places
        Sets of inputs.
    trusted
        Whether it is the baseline, whose failures are not a kernel's, and which is audited only when it is told so.
    """

    def __init__(
        self,
        inspector: Inspector,
        problems: Sequence[Problem],
        exchange: Exchange,
        rng: Random,
        marks: Marks,
        places: int = MOST_PLACES,
        *,
        trusted: bool = False,
    ) -> None:
        self._trusted = trusted
        self._inspector = inspector
        self._problems = problems
        self._rng = rng
        self._marks = marks
        self._inputs = [InputArena(problems[0].inputs, exchange) for _ in range(places)]
        self._supply = Supply(self._inputs, problems, rng)
        self._outputs = OutputArena(problems[0].expected_bytes, POISONS[0], exchange)
        self._host = 1e-3
        """Seconds that the host is expected to take for a call."""

    def __enter__(self) -> TimedArm:
        descriptors = [inputs.memory.descriptor for inputs in self._inputs] + [self._outputs.memory.descriptor]
        request = {
            "do": "rehearse", "places": [arena.fences for arena in self._inputs], "returned": self._outputs.returned,
            "arguments": [argument.model_dump() for argument in self._inputs[0].arguments],
            "outputs": [output.model_dump() for output in self._problems[0].expected],
        }  # fmt: skip
        self._refuse(self._ask(request, descriptors))
        return self

    def __exit__(self, *_: object) -> None:
        for inputs in self._inputs:
            inputs.close()
        self._outputs.close()

    def runs(
        self,
        count: int,
        calls: int = 1,
        *,
        flush: bool = True,
        pause: float | None = None,
        audit: bool | None = None,
    ) -> Iterator[Request]:
        """Have runs timed, as many at once as there are places for their inputs.

        Parameters
        ----------
        count
            Of runs.
        calls
            In each, one after the other; their mean is its time.
        flush
            Whether caches are flushed before each run.
        pause
            Seconds for which the device waits before, so that the host can enqueue the calls; None: as it needs.
        audit
            Whether one of the calls of each request is looked at; None: sometimes.

        Raises
        ------
        TimingFailed, BaselineFailed
            If a call failed, or one that was looked at is wrong.
        CandidateEnded
            If the process ended.
        """
        at_once = max(1, len(self._inputs) // calls)
        while count > 0:
            yield self._request(min(at_once, count), calls, flush, pause, audit)
            count -= at_once

    def run(
        self, calls: int = 1, *, flush: bool = True, pause: float | None = None, audit: bool | None = None
    ) -> Request:
        """Have a single run timed; see `runs`."""
        return self._request(1, calls, flush, pause, audit)

    def repeated(self, seconds: float, each: float) -> tuple[int, int, int] | None:
        """Have recorded calls done for about so long, one after another as fast as the device can.

        Parameters
        ----------
        seconds
            For which the device is kept busy.
        each
            What a call takes, s.

        Returns
        -------
        tuple of int or None
            How many calls there were, and the judge's clock before and after them, monotonic ns; None where the calls
            cannot be recorded.
        """
        for place in range(len(self._inputs)):
            self._supply.fresh(place)
        if self._ask({"do": "record", "calls": _RECORDED}).get("recorded") is not True:
            return None
        times = max(1, min(_MOST_REPEATS, round(seconds / (_RECORDED * each))))
        began = time.monotonic_ns()
        self._refuse(self._ask({"do": "repeat", "times": times}))
        return times * _RECORDED, began, time.monotonic_ns()

    def _request(self, runs: int, calls: int, flush: bool, pause: float | None, audit: bool | None) -> Request:
        if pause is not None:
            return self._ask_for(runs, calls, flush, pause, audit)
        request = self._ask_for(runs, calls, flush, self._pause(calls), audit)
        if any(run.bound for run in request.runs) and self._pause(calls) < LONGEST_PAUSE:
            request = self._ask_for(runs, calls, flush, self._pause(calls), audit)  # by what the host took now
        return request

    def _pause(self, calls: int) -> float:
        return min(max(SHORTEST_PAUSE, _MARGIN * calls * self._host), LONGEST_PAUSE)

    def _ask_for(self, runs: int, calls: int, flush: bool, pause: float, audit: bool | None) -> Request:
        audited = not self._trusted and self._rng.random() < AUDITED if audit is None else audit
        places, every = len(self._inputs), runs * calls
        first = self._rng.randrange(places)
        used = [(first + number) % places for number in range(min(every, places))]
        asked, place = self._rng.randrange(len(self._problems)), self._rng.choice(used)
        for index in used:
            if audited and index == place:
                self._supply.known(index, asked)
            else:
                self._supply.fresh(index)
        request = {"do": "time", "first": first, "runs": runs, "calls": calls, "flush": flush, "pause": pause}
        began = time.monotonic_ns()
        message = self._ask(request)
        ended = time.monotonic_ns()
        try:
            self._refuse(message)
            timed = [Timed(device=device, host=host, bound=bound) for device, host, bound in message["times"]]
            if len(timed) != runs:
                raise ValueError(f"{len(timed)} times of {runs} runs")
            observed = dict(message["observed"])
            idle, each = observed.get("launches", 0) < every, _each(observed, every)
            if audited:
                self._audit(place, asked, (first + every - 1 - place) % places + 1, each)
        except (ValidationError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise self._failure(Finding(Reason.JUDGE_TAMPERING, f"{NO_ANSWER} ({type(error).__name__})")) from None
        for run in timed:
            self._host = max(run.host / calls, _REMEMBERED * self._host + (1 - _REMEMBERED) * run.host / calls)
        return Request(
            tuple(Run(self._marks.between(run.device) / calls, run.host / calls, run.bound) for run in timed),
            began, ended, each, idle,
        )  # fmt: skip

    def _audit(self, place: int, asked: int, back: int, observed: dict[str, Any]) -> None:
        """Hold the outputs of the latest call at a place, so many calls ago, against what is known of it."""
        problem, inputs = self._problems[asked], self._inputs[place]
        self._outputs.refill()
        message = self._ask({"do": "show", "back": back})
        self._refuse(message)
        answer = Outputs.model_validate(message)
        inputs.memory.fetch()
        self._outputs.memory.fetch()
        wrong = self._inspector.disturbed(inputs) or self._inspector.malformed(answer, problem, observed)
        if wrong is not None:
            raise self._failure(wrong)
        returned = [output.read(self._outputs) for output in answer.outputs]
        comparison = self._inspector.compare(problem, returned)
        if not comparison.passed:
            raise self._failure(explain(comparison, returned, observed, self._outputs.poison))

    def _ask(self, request: dict[str, Any], files: Sequence[int] = ()) -> dict[str, Any]:
        try:
            return self._inspector.ask(request, files)
        except CandidateEnded as ended:
            if self._trusted:
                raise BaselineFailed(ended.detail) from None
            raise

    def _failure(self, finding: Finding) -> Exception:
        return BaselineFailed(finding.detail) if self._trusted else TimingFailed(finding)

    def _refuse(self, message: dict[str, Any]) -> None:
        if (finding := self._inspector.refused(message)) is not None:
            raise self._failure(finding)


def _each(observed: dict[str, Any], calls: int) -> dict[str, Any]:
    """Return the share of one call in what was observed of several equal ones."""
    operators = {
        name: {key: value / calls if isinstance(value, float) else -(-value // calls) for key, value in use.items()}
        for name, use in observed.get("operators", {}).items()
    }
    shares = {key: -(-observed.get(key, 0) // calls) for key in ("launches", "launched_elements")}
    return {**observed, **shares, "operators": operators}
