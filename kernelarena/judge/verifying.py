"""Verifying a task: that it is a function of its inputs, and that its checker lets honest answers pass and no others.

The checks of :mod:`kernelarena.judge.task_checks` come first, since a checker of a broken task means nothing. Then, for
each dtype, the trials of the two gates are drawn as they are for kernels; on each, honest answers must be accepted, and
wrong ones rejected (:mod:`kernelarena.judge.task_checker` says which there are). A control that is vacuous wherever it
is tried proves nothing: each must have been rejected at least once for every output that it applies to (more trials are
drawn until it has, up to a bound), and those that are not faint in a good part of the trials with ordinary inputs.
"""

from __future__ import annotations

import importlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from kernelarena.errors import InputError
from kernelarena.judge.problems import Problem, Problems, another_seed, trial_seed
from kernelarena.judge.reference import Reference
from kernelarena.judge.task_checker import checker_of
from kernelarena.judge.task_checks import (
    check_agreement,
    check_dependence,
    check_drawing,
    check_finite,
    check_form,
    check_purity,
    check_work,
)
from kernelarena.judge.task_report import ControlTally, DtypeReport, TaskProblem, TaskReport
from kernelarena.judge.tryout import SMALL
from kernelarena.platforms.backend import backend_for
from kernelarena.protocol.controls import Control, Material, Outcome
from kernelarena.protocol.draw import draw, fit, visible_trials
from kernelarena.protocol.truth import evaluate
from kernelarena.spec import Distribution, Platform, Shape, TaskSource
from kernelarena.spec.base import Model
from kernelarena.spec.task import Kind

HIDDEN = 6
"""Hidden shapes for each dtype: as many as there are families."""
MORE = 8
"""Times that further trials are drawn for controls that have only been vacuous."""
ORDINARY = (Distribution.NORMAL, Distribution.UNIFORM)
"""Inputs on which wrong answers show, if they show at all."""
SHARE = 0.25
"""Of the trials with ordinary inputs, in which a control that is not faint must be rejected."""
ENOUGH = 4
"""Such trials, below which the share says nothing."""
MAX_BYTES = 2**29
"""Bytes of a hidden shape's tensors on a device: the truth and the controls take several times as much."""


class Job(Model):
    """What a process is asked to verify."""

    task: TaskSource
    platform: Platform
    seeds: int = 1
    """How many times everything is drawn."""
    seed: int = 0
    """The first one."""
    on_device: bool = False
    """Whether to compute on the platform's device, at full size, rather than on the host."""


def preload() -> None:
    """Import what the first operator on the meta device and the first decomposition import, which takes seconds."""
    torch.empty(1, device="meta").sin_()
    importlib.import_module("torch._decomp.decompositions")


def run(argument: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Verify a task in a process made for that.

    Parameters
    ----------
    argument
        A :class:`Job`, as JSON.

    Yields
    ------
    dict
        ``{"done": …, "total": …}`` in trials, then ``{"report": …}``, or ``{"unusable": …}`` where the task's code
        cannot even be loaded.
    """
    job = Job.model_validate(argument)
    torch.set_num_threads(1)  # tensors on the host are small
    device = "cpu"
    if job.on_device:
        backend = backend_for(job.platform)
        assert backend is not None
        device = str(backend.open(0).device)
    verification = Verification(job, device)
    try:
        for done, total in verification.steps():
            yield {"done": done, "total": total}
    except Unusable as error:
        yield {"unusable": str(error)}
        return
    yield {"report": verification.report().model_dump(mode="json")}


class Unusable(Exception):
    """The task's code cannot be loaded."""


_FIXED = "it must follow from the shape alone, so that a kernel can allocate it"
_NONE: Counter[Outcome] = Counter()


@dataclass
class _Found:
    """What the trials of one dtype have shown so far."""

    trials: int = 0
    outcomes: dict[tuple[str, int], Counter[Outcome]] = field(default_factory=dict)
    """By control and output."""
    ordinary: dict[tuple[str, int], Counter[Outcome]] = field(default_factory=dict)
    """The same, of trials with ordinary inputs only."""

    agreements: list[str] = field(default_factory=list)
    """For each such trial, how float32 differs from float64 by more than rounding, or nothing."""

    def silent(self, controls: Sequence[Control]) -> set[str]:
        """Return those of the controls that apply and have never been rejected, for some output."""
        never = {name for (name, _), counts in self.outcomes.items() if not counts[Outcome.REJECTED]}
        return {control.name for control in controls if control.name in never and not control.indifferent}


class Verification:
    """Verifies one task on one platform.

    Parameters
    ----------
    job
        The task, and how thoroughly.
    device
        Where references are evaluated.
    """

    def __init__(self, job: Job, device: str = "cpu") -> None:
        self._job = job
        self._task = job.task.task
        self._platform = job.platform
        self._device = device
        self._drawn = Problems(job.platform, device)
        self._reduced = self._task.allow_reduced_precision
        # What is created depends on no values: answers to other inputs are the same, and zeros or ones may be right.
        self._tells_answers_apart = self._task.kind is not Kind.CREATION
        self._budget = job.platform.budget
        self._checker = checker_of(self._task)
        self._controls = [one for one in self._checker.controls if not (one.precision and self._reduced)]
        self._found = {dtype: _Found() for dtype in self._task.dtypes}
        self._problems: dict[tuple[str | None, str], TaskProblem] = {}
        self._started = time.monotonic()

    def steps(self) -> Iterator[tuple[int, int]]:
        """Verify; yield how many trials are done, and of how many, after each.

        Raises
        ------
        Unusable
            If the task's code cannot be loaded.
        """
        try:
            reference = Reference(self._job.task)
        except InputError as error:
            raise Unusable(str(error)) from None
        self._check_task(reference)
        seeds = range(self._job.seed, self._job.seed + self._job.seeds)
        plan = [(shape, seed) for seed in seeds for shape in self._shapes(seed)]
        for done, (shape, seed) in enumerate(plan):
            yield done, len(plan)
            self._trial(reference, shape, trial_seed(seed, self._task.id, "verify", done), self._controls)
        for dtype, found in self._found.items():
            differing = [text for text in found.agreements if text]
            if 2 * len(differing) > len(found.agreements):  # in single trials a truth may be zero up to rounding
                self._note(dtype, "agreement", differing[0])
            self._insist(reference, dtype, found)
        yield len(plan), len(plan)

    def report(self) -> TaskReport:
        """Return what was found."""
        if not self._problems and self._tells_answers_apart:
            for dtype, found in self._found.items():
                self._note_vacuous(dtype, found)
        return TaskReport(
            task=self._task.id,
            platform=self._platform.id,
            dtypes=tuple(
                DtypeReport(dtype=dtype, trials=found.trials, controls=tuple(self._tallies(found)))
                for dtype, found in self._found.items()
            ),
            problems=tuple(self._problems.values()),
            seconds=round(time.monotonic() - self._started, 3),
        )

    def _note_vacuous(self, dtype: str, found: _Found) -> None:
        remedy = "draw inputs that make outputs differ more, or return more of what is computed"
        kinds = {control.name: control for control in self._controls}
        for (name, index), counts in found.outcomes.items():
            ordinary = found.ordinary.get((name, index), _NONE)
            tried, told = sum(ordinary.values()), ordinary[Outcome.REJECTED]
            if not counts[Outcome.REJECTED]:
                if kinds[name].indifferent:
                    continue
                text = f"'{name}' as out[{index}] equals the right answer up to rounding in all {found.trials} trials"
                self._note(dtype, name, f"{text}; {remedy}")
            elif not kinds[name].faint and tried >= ENOUGH and told < SHARE * tried:
                text = f"'{name}' as out[{index}] equals the right answer up to rounding in {tried - told} of {tried}"
                self._note(dtype, name, f"{text} trials with ordinary inputs; {remedy}")

    def _tallies(self, found: _Found) -> Iterator[ControlTally]:
        for control in self._checker.controls:
            counts = sum((count for (name, _), count in found.outcomes.items() if name == control.name), _NONE)
            needs = control.needs
            if control.indifferent and set(counts) == {Outcome.VACUOUS}:
                counts, needs = _NONE, "an operator that is not indifferent to it"
            tried = sum(counts.values())
            if control not in self._controls:
                needs = "a task that does not allow reduced precision"
            yield ControlTally(
                name=control.name, tried=tried, rejected=counts[Outcome.REJECTED], vacuous=counts[Outcome.VACUOUS],
                passed=counts[Outcome.PASSED], needs="" if tried else needs,
            )  # fmt: skip

    def _note(self, dtype: str | None, kind: str, text: str) -> None:
        """Keep the first problem of each kind."""
        self._problems.setdefault((dtype, kind), TaskProblem(text=text, dtype=dtype))

    def _check_task(self, reference: Reference) -> None:
        small = [fit(self._task, dims, self._task.dtypes[0], SMALL) for dims in self._task.visible]
        shapes = [Shape(dims=dims, dtype=self._task.dtypes[0], distribution=each)
                  for dims in small for each in self._task.distributions]  # fmt: skip
        largest = max(shapes, key=lambda shape: min(shape.dims.values()))
        checks: list[tuple[str, Callable[[], Iterator[str]]]] = [
            ("work", lambda: check_work(self._task, self._job.seed)),
            ("inputs", lambda: check_drawing(reference, self._task, self._platform, largest)),
            ("dependence", lambda: check_dependence(reference, self._task, self._platform, shapes)),
        ]
        for kind, check in checks:
            try:
                for number, text in enumerate(check()):
                    self._note(None, f"{kind} {number}", text)
            except InputError as error:
                self._note(None, "code", str(error))

    def _shapes(self, seed: int) -> list[Shape]:
        count = HIDDEN * len(self._task.dtypes)
        most = None if self._budget is not None else MAX_BYTES
        return [
            *visible_trials(self._task, seed, budget=self._budget),
            *draw(self._task, seed, count, budget=self._budget, max_bytes=most),
        ]

    def _insist(self, reference: Reference, dtype: str, found: _Found) -> None:
        """Draw further trials for controls that have proved nothing yet."""
        for turn in range(MORE):
            silent = found.silent(self._controls)
            if not silent or self._problems or not self._tells_answers_apart:
                return
            again = [one for one in self._controls if one.name in silent]
            seed = trial_seed(self._job.seed, self._task.id, "insist", turn)
            for number, shape in enumerate(self._shapes(seed)):
                if shape.dtype == dtype and shape.distribution in ORDINARY:
                    self._trial(reference, shape, trial_seed(seed, self._task.id, "insist", number), again)

    def _trial(self, reference: Reference, shape: Shape, seed: int, tried: list[Control]) -> None:
        found = self._found[shape.dtype]
        try:
            material = self._material(reference, shape, seed, found)
            if material is None:
                return
            found.trials += 1
            for what, answer in self._checker.honest_answers(material):
                comparison = self._checker.compare(material, answer)
                if not comparison.passed:
                    self._note(
                        shape.dtype, "honest",
                        f"{what} is rejected on {shape} ({comparison.reason}: {comparison.detail}); the reference must "
                        "be well behaved at this dtype: compute in float32 and round at the end",
                    )  # fmt: skip
                    return
            for control in tried:
                self._hold(control, material, shape, found)
        except (InputError, torch.OutOfMemoryError) as error:
            self._note(shape.dtype, "code", f"on {shape}: {' '.join(str(error).split())}")

    def _material(self, reference: Reference, shape: Shape, seed: int, found: _Found) -> Material | None:
        """Draw a trial; None where something about it is wrong that was noted."""
        inputs = reference.draw(shape, self._platform, seed, self._device)
        outputs = reference.function(**{name: _copy(value) for name, value in inputs.items()})
        for text in check_form(reference, self._platform, shape, inputs, outputs):
            self._note(shape.dtype, "form", text)
            return None
        for number, text in enumerate(check_purity(reference, self._task, inputs)):
            self._note(shape.dtype, f"purity {number}", text)
        problem = self._drawn.problem(self._job.task, shape, seed)
        for text in check_finite(self._task, shape, problem.truth):
            self._note(shape.dtype, "finite", f"on {shape}: {text}")
        if shape.distribution in ORDINARY and self._task.law is None:  # each dtype draws numbers of its own
            found.agreements.append(next(check_agreement(shape, problem.truth), ""))
        others = reference.draw(shape, self._platform, another_seed(another_seed(seed)), self._device)
        honest, previous = _answers(problem), tuple(evaluate(reference.function, others))
        for index, (one, other) in enumerate(zip(honest, previous, strict=True)):
            if one.shape != other.shape:
                sizes = f"{list(one.shape)} and {list(other.shape)} for {shape}"
                self._note(shape.dtype, "size", f"the size of out[{index}] depends on values: {sizes}; {_FIXED}")
                return None
        earlier = _answers(self._drawn.varied(self._job.task, shape, seed))
        return Material(reference.function, problem.inputs, problem.truth, honest, previous, earlier, self._reduced)

    def _hold(self, control: Control, material: Material, shape: Shape, found: _Found) -> None:
        for outcome, index, words in self._checker.judge(control, material):
            for kept in (found.outcomes, found.ordinary)[: 1 + (shape.distribution in ORDINARY)]:
                kept.setdefault((control.name, index), Counter())[outcome] += 1
            if outcome is Outcome.PASSED:
                self._note(
                    shape.dtype, control.name,
                    f"the checker lets '{control.name}' pass as out[{index}] on {shape}: {words}; draw inputs that "
                    "make outputs differ more, return more of what is computed, or have the reference round less",
                )  # fmt: skip


def _answers(problem: Problem) -> tuple[torch.Tensor, ...]:
    return tuple(output.framework for output in problem.truth.outputs)


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value
