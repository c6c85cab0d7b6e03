"""What verification holds against a task: answers that must pass and ones that must not, by how the task is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from torch import Tensor

from kernelarena.protocol import controls, distribution, tolerance
from kernelarena.protocol.controls import Control, Material, Outcome
from kernelarena.protocol.tolerance import Comparison
from kernelarena.protocol.wrong_answers import CONTROLS
from kernelarena.protocol.wrong_samples import WRONG_SAMPLES
from kernelarena.spec import Task
from kernelarena.spec.law import Law
from kernelarena.spec.task import Aspect

Compare = Callable[[Material, Sequence[Tensor]], Comparison]


@dataclass(frozen=True)
class Checker:
    """How answers to one task are told right from wrong."""

    controls: Sequence[Control]
    """Ways of being wrong."""
    honest_answers: Callable[[Material], Iterator[tuple[str, tuple[Tensor, ...]]]]
    """Yields answers that must pass, each with a name."""
    compare: Compare
    """Holds an answer against a trial."""
    judge: Callable[[Control, Material], Iterator[tuple[Outcome, int, str]]]
    """Yields what came of a control: the outcome, the index of the output, and how far from the truth it was."""


def checker_of(task: Task) -> Checker:
    """Return how answers to a task are checked."""
    if Aspect.VALUES not in task.contract:
        return Checker((), lambda material: iter(()), _by_value, controls.judge)
    if task.law is None:
        return Checker(CONTROLS, controls.honest_answers, _by_value, controls.judge)
    by_law = partial(_by_law, task.law)
    return Checker(WRONG_SAMPLES, _samples, by_law, partial(_judge_sample, by_law))


def _by_value(material: Material, answer: Sequence[Tensor]) -> Comparison:
    return tolerance.compare(material.truth, answer, allow_reduced_precision=material.allow_reduced_precision)


def _by_law(law: Law, material: Material, answer: Sequence[Tensor]) -> Comparison:
    return distribution.compare(law, material.inputs, answer)


def _samples(material: Material) -> Iterator[tuple[str, tuple[Tensor, ...]]]:
    yield "PyTorch's own sample", material.honest


def _judge_sample(compare: Compare, control: Control, material: Material) -> Iterator[tuple[Outcome, int, str]]:
    """Hold altered samples against the law; of few elements nothing can be told, and that is nobody's fault."""
    for index in range(len(material.honest)):
        for altered in control.make(material, index):
            passed = compare(material, (altered,)).passed
            yield Outcome.VACUOUS if passed else Outcome.REJECTED, index, ""
