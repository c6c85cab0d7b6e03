"""Trials of random operators: a sample of the law, the same for the same seed, and another for another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from kernelarena.judge.answer import Finding
from kernelarena.judge.problems import Problem
from kernelarena.judge.recollection import same
from kernelarena.protocol.distribution import dependent, drawn
from kernelarena.spec import Reason
from kernelarena.spec.law import Law

Asked = Callable[[Problem], tuple[Finding, list[torch.Tensor]]]
"""Calls the entry and returns what was found, and what it answered."""


def sampled(
    law: Law, first: Finding, answer: Sequence[torch.Tensor], problem: Problem, other: Problem, ask: Asked
) -> Finding:
    """Ask for the same numbers again, and then for others.

    Parameters
    ----------
    law
        Of the task.
    first, answer
        What was found when the problem was asked first, and what came back.
    problem, other
        It, and the same with another seed.
    ask
        Asks at another place.
    """
    again, repeated = ask(problem)
    if again.reason is not None:
        return again
    if not same(answer, repeated):
        return replace(again, reason=Reason.NONDETERMINISTIC, detail=_UNREPEATABLE)
    second, others = ask(other)
    if second.reason is not None:
        return second
    for one, another in zip(answer, others, strict=True):
        if (why := dependent(drawn(law, problem.inputs, one), drawn(law, other.inputs, another))) is not None:
            return replace(second, reason=Reason.MISMATCH, detail=f"{why}; every number must follow from the seed")
    return first


_UNREPEATABLE = "the same seed gives other numbers when the kernel is called again; draw from the seed and nothing else"
