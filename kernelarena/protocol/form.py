"""Holds the form of what an entry returned, number, dtypes, sizes and strides, against what the reference returns."""

from __future__ import annotations

from collections.abc import Sequence

from kernelarena.protocol.compile_events import TensorSpec
from kernelarena.spec import Reason


def wrong_form(returned: Sequence[TensorSpec | None], expected: Sequence[TensorSpec]) -> tuple[Reason, str] | None:
    """Return reason and detail of the first difference, or None.

    Parameters
    ----------
    returned
        What came back, in order; None for what is not a tensor.
    expected
        What should have; with strides where these count.
    """
    if len(returned) != len(expected):
        return Reason.WRONG_SHAPE, f"the entry returns {len(returned)} values; {len(expected)} are expected"
    for index, (output, right) in enumerate(zip(returned, expected, strict=True)):
        name = "the output" if len(expected) == 1 else f"output {index}"
        if output is None:
            return Reason.WRONG_DTYPE, f"{name} is not a tensor; {right.dtype} is expected"
        if output.size != right.size:
            return Reason.WRONG_SHAPE, f"{name} has the size {list(output.size)}; {list(right.size)} is expected"
        if output.dtype != right.dtype:
            return Reason.WRONG_DTYPE, f"{name} is {output.dtype}; {right.dtype} is expected"
        if right.stride is not None and _steps(output) != _steps(right):
            given = "unknown strides" if output.stride is None else f"the strides {list(output.stride)}"
            return Reason.WRONG_SHAPE, f"{name} has {given}; {list(right.stride)} are expected"
    return None


def _steps(form: TensorSpec) -> list[int] | None:
    """Return the strides that lead anywhere: not those of dimensions of one element, nor any of a tensor of none."""
    if form.stride is None:
        return None
    return [step for step, length in zip(form.stride, form.size, strict=False) if length > 1 and 0 not in form.size]
