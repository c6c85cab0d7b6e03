"""Tells an answer that was remembered from one that is merely wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from kernelarena.judge.inspection import raw
from kernelarena.judge.problems import Problem
from kernelarena.platforms.persona.account import says_enough

Prepared = tuple[int, str, bool]
Right = Callable[[Problem, Sequence[torch.Tensor]], bool]
"""Whether outputs answer a problem."""


_SOME = 64
"""Bytes; fewer say nothing."""
_FAR = 4


def same(one: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> bool:
    """Whether two answers are equal bit by bit."""
    return len(one) == len(other) > 0 and all(
        left.shape == right.shape and left.dtype == right.dtype and torch.equal(raw(left), raw(right))
        for left, right in zip(one, other, strict=True)
    )


def says_something(answer: Sequence[torch.Tensor]) -> bool:
    """Whether an answer holds different values: a constant is given by kernels that are wrong for simpler reasons."""
    return any(output.numel() > 1 and bool((_elements(output) != _elements(output)[0]).any()) for output in answer)


def reads_less(now: Sequence[int], first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether launches read far less of some input than they did before.

    Parameters
    ----------
    now
        Bytes that they loaded of each input, for the first question again.
    first, second
        The same for that question when it was asked first, and for another one. What a kernel reads may follow from
        the inputs, and what it prepares once is read for the first question alone.
    """
    before = map(min, first, second)
    return any(then > _SOME and _FAR * count < then for count, then in zip(now, before, strict=False))


def prepared(problem: Problem, before: Sequence[Prepared], now: Sequence[Prepared]) -> bool:
    """Whether host code prepares what an answer consists of: tables as large as that, which follow from the inputs.

    Parameters
    ----------
    problem
        What was asked.
    before, now
        Tables for the question before, of the same shape, and for this one: bytes and a digest of each, and whether
        they are numbers with a fraction. Whole ones may follow from inputs that are such: a schedule, say.
    """
    whole = any(isinstance(value, torch.Tensor) and not value.is_floating_point() for value in problem.inputs.values())
    following = sum(table[0] for table in now if table not in before and (table[2] or not whole))
    return following > 0 and says_enough(following, (output.framework for output in problem.truth.outputs))


def partly_before(
    problem: Problem, returned: Sequence[torch.Tensor], before: Sequence[torch.Tensor], right: Right
) -> bool:
    """Whether an answer is wrong only in rows that are, bit by bit, those of an earlier answer.

    Parameters
    ----------
    problem
        What was asked.
    returned, before
        The wrong answer, and the one to the question before.
    right
        Holds an answer against the truth.
    """
    mended = []
    if len(returned) != len(before) or len(returned) != len(problem.truth.outputs):
        return False
    for now, then, honest in zip(returned, before, problem.truth.outputs, strict=True):
        alike = now.shape == then.shape == honest.framework.shape and now.dtype == then.dtype
        if not alike or not now.dim():
            return False
        equal = (_elements(now) == _elements(then)).all(dim=1).view(now.shape)
        stale = equal.all(dim=-1, keepdim=True) if now.dim() > 1 else equal
        mended.append(torch.where(stale, honest.framework.to(now.dtype), now))
    return right(problem, mended)


def kept_inputs(
    first: Problem,
    second: Problem,
    returned: Sequence[torch.Tensor],
    answered: Callable[[dict[str, Any]], Problem],
    right: Right,
) -> str:
    """Return which inputs of the second question a wrong answer takes from the first; empty where none explain it.

    Parameters
    ----------
    first, second
        Questions of one shape; the second was answered with ``returned``.
    answered
        Returns the problem that some inputs pose.
    right
        Holds an answer against the truth.
    """
    for names in _suspects(first, second):
        inputs = {name: first.inputs[name] if name in names else value for name, value in second.inputs.items()}
        if right(answered(inputs), returned):
            return " and ".join(f"'{name}'" for name in names)
    return ""


def _suspects(first: Problem, second: Problem) -> Iterator[tuple[str, ...]]:
    """Yield sets of inputs that changed, but not all of them: each alone, and all but the first."""
    changed = [
        name
        for name, value in first.inputs.items()
        if isinstance(value, torch.Tensor) and not torch.equal(_elements(value), _elements(second.inputs[name]))
    ]
    if len(changed) > 1:
        yield from ((name,) for name in changed)
    if len(changed) > 2:
        yield tuple(changed[1:])


def _elements(tensor: torch.Tensor) -> torch.Tensor:
    """Return the bytes of each element, one row an element: equal bits are what is looked for, in any dtype."""
    return raw(tensor.contiguous()).view(tensor.numel(), tensor.element_size())
