"""Inputs and references that are data: the keys ``inputs`` and ``reference`` of a task, and the Python they stand for.

Most operators need no code to say what they take and what they compute::

    inputs: {x: [M, N], index: {size: [K], integers: [0, N]}, alpha: {choices: [1.0, -0.5, 2.0]}}
    reference: torch.index_select(x, 1, index) * alpha

:func:`render` turns that into the text that a ``reference.py`` would hold, so that nothing after it knows the
difference. It is a pure function of the declaration.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from kernelarena.spec.base import Model
from kernelarena.spec.expression import Expression, names_in

Size = int | Expression
"""A number of elements: a number, a dim, or an expression over dims (``2*N``)."""
Number = bool | int | float
_MATH = ("ceil", "log2", "sqrt")
"""Functions of expressions that Python has in a module of its own."""
_FILLINGS = ("within", "above", "uniform", "integers", "distinct", "p")


class Input(Model):
    """One input of the entry: a tensor, where it has a ``size``, or else a number.

    A list alone is a tensor's size, and a number alone is its value.
    """

    size: tuple[Size, ...] | None = None
    """Of a tensor, which is filled by the trial's distribution unless one of the keys below says otherwise."""
    dtype: str | None = None
    """Canonical name; the shape's dtype where absent (``int64`` for integers)."""
    scale: float | None = None
    """Factor on every value, for weights that must be smaller than activations."""
    within: tuple[float, float] | None = None
    """The trial's distribution squeezed into this open interval, for operators that are defined on one."""
    above: float | None = None
    """The trial's magnitudes on top of this number, for operators that are defined above it."""
    uniform: tuple[float, float] | None = None
    """Uniform on [low, high), whatever the trial's distribution: angles, probabilities."""
    integers: tuple[Size, Size] | None = None
    """Integers uniform on [low, high): indices, which may repeat."""
    distinct: tuple[Size, Size] | None = None
    """Integers on [low, high) of which no row holds one twice: indices that are written to."""
    p: Annotated[float, Field(gt=0, lt=1)] | None = None
    """A mask that is true with this probability."""
    value: bool | int | float | Expression | None = None
    """A number, or an expression over dims."""
    choices: Annotated[tuple[Number, ...], Field(min_length=2)] | None = None
    """Numbers of which the dims choose one, so that it is no constant that a kernel could have built in."""
    seed: bool = False
    """A non-negative 31-bit number that follows from the trial's seed, from which a random operator draws."""

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:
        if isinstance(data, list | tuple):
            return {"size": data}
        return {"value": data} if isinstance(data, bool | int | float | str) else data

    @model_validator(mode="after")
    def _one_thing(self) -> Input:
        given = {name for name, field in type(self).model_fields.items() if getattr(self, name) is not field.default}
        numbers = given & {"value", "choices", "seed"}
        if (self.size is None) != (len(numbers) == 1) or (numbers and len(given) > 1):
            raise ValueError("give a size, for a tensor, or one of value, choices and seed, for a number")
        fillings = [name for name in _FILLINGS if name in given]
        if len(fillings) > 1:
            raise ValueError(f"{' and '.join(fillings)} exclude each other")
        if fillings and "scale" in given:
            raise ValueError(f"scale goes with the trial's distribution, and not with {fillings[0]}")
        if "p" in given and "dtype" in given:
            raise ValueError("a mask (p) is of booleans; leave out dtype")
        for name in ("within", "uniform"):
            bounds = getattr(self, name)
            if bounds is not None and not bounds[0] < bounds[1]:
                raise ValueError(f"{name}: {bounds[0]:g} is not below {bounds[1]:g}")
        return self

    @property
    def names(self) -> set[str]:
        """The dims that it depends on."""
        parts: Iterable[Any] = (*(self.size or ()), *(self.integers or ()), *(self.distinct or ()), self.value)
        return {name for part in parts if isinstance(part, str) for name in names_in(part)}


def render(inputs: Mapping[str, Input] | None, reference: str | None, dims: Iterable[str]) -> str:
    """Return the Python text that a declaration stands for.

    Parameters
    ----------
    inputs
        By name, in the order of the entry's arguments; None where a file defines ``inputs``.
    reference
        An expression over them and ``torch``; None where a file defines ``reference``.
    dims
        Names of the task's dims, in order.
    """
    parts = []
    if inputs is not None:
        lines = [f'        "{name}": {_value(one, list(dims))},' for name, one in inputs.items()]
        parts.append("\n".join(["def inputs(shape, rng):", "    return {", *lines, "    }"]))
    if reference is not None:
        parts.append(f"def reference({', '.join(inputs or ())}):\n    return {ast.unparse(parsed(reference))}")
    body = "\n\n\n".join(parts) + "\n"
    modules = [name for name in ("math", "torch") if f"{name}." in body]
    return "".join(f"import {name}\n" for name in modules) + ("\n\n" if modules else "") + body


def parsed(reference: str) -> ast.expr:
    """Return the tree of a declared reference.

    Raises
    ------
    ValueError
        If it is not one expression.
    """
    try:
        return ast.parse(reference.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"not one expression of Python: {error.msg}; what needs more goes into reference.py") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"not one expression of Python: {error or 'nested too deeply'}") from None


def free_names(reference: str) -> set[str]:
    """Return what an expression takes from elsewhere: inputs, and whatever it wrongly believes to be there.

    Raises
    ------
    ValueError
        If it is not one expression.
    """
    names = [node for node in ast.walk(parsed(reference)) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return {node.id for node in names} - bound - {"torch", "math"} - set(dir(builtins))


def _value(one: Input, dims: list[str]) -> str:
    """Return the expression that draws an input."""
    if one.size is None:
        if one.seed:
            return "rng.seed()"
        if one.choices is not None:
            chosen = " + ".join(f'shape["{name}"]' for name in dims)
            return f"({', '.join(map(repr, one.choices))})[({chosen}) % {len(one.choices)}]"
        return _expression(one.value)
    size = [_expression(length) for length in one.size]
    keywords = [] if one.dtype is None else [f'dtype="{one.dtype}"']
    if one.p is not None:
        return _call("mask", size, [f"p={one.p!r}"])
    for name in ("within", "above", "uniform", "integers", "distinct"):
        bounds = getattr(one, name)
        if bounds is not None:
            bounds = bounds if isinstance(bounds, tuple) else (bounds,)
            return _call(name, [*map(_expression, bounds), *size], keywords)
    return _call("tensor", size, [*keywords, *([] if one.scale is None else [f"scale={one.scale!r}"])])


def _call(method: str, arguments: list[str], keywords: list[str]) -> str:
    return f"rng.{method}({', '.join([*arguments, *keywords])})"


class _OfShape(ast.NodeTransformer):
    """Writes an expression over dims as Python over ``shape``."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.parse(f'shape["{node.id}"]', mode="eval").body

    def visit_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)  # expressions have no other functions
        function = ast.parse(f"math.{node.func.id}" if node.func.id in _MATH else node.func.id, mode="eval").body
        return ast.Call(function, [self.visit(argument) for argument in node.args], [])


def _expression(value: Any) -> str:
    if not isinstance(value, str):
        return repr(value)
    return ast.unparse(_OfShape().visit(ast.parse(value, mode="eval").body)).replace("'", '"')
