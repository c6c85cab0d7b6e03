"""One side of a timing: a process, sets of inputs of its own, and what is put into them before each request."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, Any

import torch
from pydantic import Field, ValidationError

from kernelarena.judge.answer import NO_ANSWER, Answer, Finding
from kernelarena.judge.arena import POISONS, InputArena, OutputArena
from kernelarena.judge.inspection import Inspector, explain
from kernelarena.judge.memory import Exchange
from kernelarena.judge.problems import Problem, mixed
from kernelarena.judge.session import CandidateEnded
from kernelarena.spec import Reason
from kernelarena.spec.base import Model

MOST_PLACES = 3
"""Sets of inputs at addresses of their own, which calls go round."""
AUDITED = 0.1
"""Share of the requests whose last call is one that the judge knows the answer to. No kernel can tell which."""


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


class Time(Model):
    """One timed run as the candidate tells it."""

    device: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """Seconds on the device, a call."""
    host: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Seconds that the host took to enqueue a call."""
    bound: bool
    """Whether the host's time is part of the device's."""


@dataclass(frozen=True)
class Request:
    """What one request came to, by both clocks."""

    times: tuple[Time, ...]
    began: int
    """By the judge's clock, monotonic ns."""
    ended: int
    observed: dict[str, Any]
    """Of one call, on average."""
    idle: bool
    """Whether fewer launches were seen than calls were made."""


class TimedArm:
    """A process that is timed, and the inputs that it is given.

    No two requests have the same inputs, though all are of one distribution: an answer from memory would be wrong
    whenever it is looked at, and nobody can tell when that is.

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
    places
        Sets of inputs.
    trusted
        Whether it is the baseline, whose failures are not a kernel's.
    """

    def __init__(
        self,
        inspector: Inspector,
        problems: Sequence[Problem],
        exchange: Exchange,
        rng: Random,
        places: int = MOST_PLACES,
        *,
        trusted: bool = False,
    ) -> None:
        self._trusted = trusted
        self._inspector = inspector
        self._problems = problems
        self._rng = rng
        self._inputs = [InputArena(problems[0].inputs, exchange) for _ in range(places)]
        self._outputs = OutputArena(problems[0].expected_bytes, POISONS[0], exchange)

    def __enter__(self) -> TimedArm:
        descriptors = [inputs.memory.descriptor for inputs in self._inputs] + [self._outputs.memory.descriptor]
        request = {"do": "rehearse", "places": [arena.fences for arena in self._inputs]}
        self._refuse(self._ask(request, descriptors))
        return self

    def __exit__(self, *_: object) -> None:
        for inputs in self._inputs:
            inputs.close()
        self._outputs.close()

    def runs(
        self, count: int, calls: int = 1, *, flush: bool = True, pause: float | None = None, audit: bool | None = None
    ) -> Request:
        """Have some runs timed.

        Parameters
        ----------
        count
            Runs.
        calls
            Calls in each, whose mean is its time.
        flush
            Whether caches are flushed before each run.
        pause
            Seconds for which the device waits before each run, so that the host can enqueue it; None: as it needs.
        audit
            Whether the last call is one with a known answer; None: sometimes.

        Raises
        ------
        TimingFailed, BaselineFailed
            If a call failed, or an audited one was wrong.
        CandidateEnded
            If the process ended.
        """
        audited = self._rng.random() < AUDITED if audit is None else audit
        order = self._refill(calls, audited)
        request = {
            "do": "time", "runs": count, "calls": order, "flush": flush, "pause": pause,
            "returned": self._outputs.returned,
            "arguments": [argument.model_dump() for argument in self._inputs[0].arguments],
        }  # fmt: skip
        began = time.monotonic_ns()
        message = self._ask(request)
        ended = time.monotonic_ns()
        try:
            self._refuse(message)
            times = tuple(Time(device=device, host=host, bound=bound) for device, host, bound in message.pop("times"))
            if len(times) != count:
                raise ValueError(f"{len(times)} times for {count} runs")
            answer = Answer.model_validate(message)
            observed, idle = _each(answer.observed, count * calls), answer.observed.get("launches", 0) < count * calls
            if audited:
                self._audit(answer, order[-1])
        except (ValidationError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise self._failure(Finding(Reason.JUDGE_TAMPERING, f"{NO_ANSWER} ({type(error).__name__})")) from None
        return Request(times, began, ended, observed, idle)

    def _refill(self, calls: int, audited: bool) -> list[int]:
        """Put fresh values into every place that is going to be used; return the places in the order of use."""
        first = self._rng.randrange(len(self._inputs))
        order = [(first + number) % len(self._inputs) for number in range(calls)]
        for index in set(order):
            one, other = self._rng.sample(list(self._problems), 2)
            self._inputs[index].write(_blended(one, other, self._rng.getrandbits(62)))
        if audited:
            self._asked = self._rng.choice(self._problems)
            self._inputs[order[-1]].write(self._asked.inputs)
            self._outputs.refill()
        return order

    def _audit(self, answer: Answer, place: int) -> None:
        """Hold the last call's outputs against what is known of it."""
        inputs = self._inputs[place]
        inputs.memory.fetch()
        self._outputs.memory.fetch()
        if (finding := self._inspector.misplaced(answer, self._asked, inputs, self._outputs)) is not None:
            raise self._failure(finding)
        returned = [output.read(self._outputs) for output in answer.outputs]
        comparison = self._inspector.compare(self._asked, returned)
        if not comparison.passed:
            raise self._failure(explain(comparison, returned, answer.observed, self._outputs.poison))

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


def _blended(one: Problem, other: Problem, seed: int) -> dict[str, Any]:
    """Return inputs that never were there before: some rows of the one, the rest of the other."""
    return {
        name: mixed(value, other.inputs[name], seed)
        if isinstance(value, torch.Tensor) and value.is_floating_point()
        else value
        for name, value in one.inputs.items()
    }


def _each(observed: dict[str, Any], calls: int) -> dict[str, Any]:
    """Return the share of one call in what was observed of several equal ones."""
    operators = {
        name: {key: value / calls if isinstance(value, float) else -(-value // calls) for key, value in use.items()}
        for name, use in observed.get("operators", {}).items()
    }
    shares = {key: -(-observed.get(key, 0) // calls) for key in ("launches", "launched_elements")}
    return {**observed, **shares, "operators": operators}
