"""Saying in one sentence where an output is wrong: the worst element, how many, and the pattern they form."""

from __future__ import annotations

import torch
from torch import Tensor

_DIMENSIONS = {1: ("element",), 2: ("row", "column")}


def describe_size(name: str, given: Tensor, expected: tuple[int, ...]) -> str:
    """Name both sizes, and what often explains them."""
    sizes = f"{name} has size {list(given.shape)}, expected {list(expected)}"
    if given.numel() == torch.Size(expected).numel():
        return sizes + ": the same elements, so reshape it"
    return sizes


def describe_class(name: str, y: Tensor, t: Tensor, wrong: Tensor) -> str:
    """Describe elements that are numbers where they should not be, or the reverse."""
    index = _first(wrong)
    return f"{name}{list(index)} is {_number(y[index])}, expected {_number(t[index])}; {_count(wrong, 'such')}"


def describe_elements(name: str, y: Tensor, t: Tensor, wrong: Tensor, allowed: Tensor | None = None) -> str:
    """Describe elements that differ by more than they may.

    Parameters
    ----------
    name
        What the output is called.
    y, t
        Given and expected values, of one shape.
    wrong
        Where they differ; at least one element does.
    allowed
        The bound for each element; without it the values had to be equal.
    """
    if allowed is None:
        index, margin = _first(wrong), ""
    else:
        excess = torch.where(wrong & y.isfinite() & t.isfinite(), (y - t).abs() / allowed, -1.0)
        index = _unravel(int(excess.argmax()), wrong)
        margin = f" (allowed ±{float(allowed[index]):.2g})"
    where = f"{name}{list(index)}" if index else name
    text = f"{where} is {_number(y[index])}, expected {_number(t[index])}{margin}; {_count(wrong, 'differ')}"
    for remark in (_place(wrong), _values(y, t, wrong)):
        text += f", {remark}" if remark else ""
    return text


def describe_whole(name: str, size: float, length: float, own: float, hint: str) -> str:
    """Describe an error that shows in the whole rather than in single elements."""
    if length == 0:
        return f"{name} errs by {size:.2g} in norm where the truth is zero; {hint}"
    return f"{name} errs by {size / length:.2g} of its norm, PyTorch by {own / length:.2g}; {hint}"


def _count(wrong: Tensor, verb: str) -> str:
    bad, total = int(wrong.sum()), wrong.numel()
    if bad == total and total > 1:
        return f"all {total} elements {verb}" if verb != "such" else f"all {total} elements are such"
    return f"{bad} of {total} elements {verb}" if verb != "such" else f"{bad} of {total} elements are such"


def _place(wrong: Tensor) -> str:
    """Say where the wrong elements lie, if they keep to one end or one place of a dimension, tightest first."""
    if wrong.dim() == 0 or bool(wrong.all()):
        return ""
    found: list[tuple[float, str]] = []
    for axis, length in enumerate(wrong.shape):
        others = [other for other in range(wrong.dim()) if other != axis]
        touched = (wrong.any(dim=others) if others else wrong).nonzero().flatten()
        first, last = int(touched[0]), int(touched[-1])
        span = last - first + 1
        if span == length:
            continue
        word = _DIMENSIONS.get(wrong.dim(), tuple(f"index {axis}" for axis in range(wrong.dim())))[axis]
        if span == 1:
            place = f"all at {word} {first}"
        elif last == length - 1:
            place = f"all at {word} ≥ {first}"
        elif first == 0:
            place = f"all at {word} ≤ {last}"
        else:
            place = f"all at {word} {first} to {last}"
        found.append((span / length, place))
    if int(wrong.sum()) == 1:
        return ""  # the index says it
    return min(found)[1] if found else ""


def _values(y: Tensor, t: Tensor, wrong: Tensor) -> str:
    """Say what the wrong values have in common: they are zero, or a fixed multiple of what they should be."""
    given, expected = y[wrong].double(), t[wrong].double()
    if given.numel() < 2:
        return ""
    if bool((given == 0).all()):
        return "every one of them is 0"
    if bool((given == given[0]).all()):
        return f"every one of them is {_number(given[0])}"
    sure = expected.abs() > 0.1 * expected.abs().max()
    ratios = (given / expected)[sure]
    if ratios.numel() > 1 and float(ratios.std()) < 1e-2 * float(ratios.mean().abs()):
        return f"each about {float(ratios.mean()):.4g} times what it should be"
    return ""


def _first(wrong: Tensor) -> tuple[int, ...]:
    return _unravel(int(wrong.to(torch.uint8).argmax()), wrong)


def _unravel(flat: int, like: Tensor) -> tuple[int, ...]:
    index: list[int] = []
    for length in reversed(like.shape):
        index.append(flat % length)
        flat //= length
    return tuple(reversed(index))


def _number(value: Tensor) -> str:
    number = value.item()
    return f"{number:.6g}" if isinstance(number, float) else str(number)
