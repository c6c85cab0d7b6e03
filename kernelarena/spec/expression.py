"""Integer and boolean expressions over dimensions, as task files write them: ``"M * N <= 2**28"``, ``"5*M*N"``.

They are data, not code: only arithmetic, comparison, boolean operators, ``min``, ``max``, ``ceil``, ``log2`` and
``sqrt`` over the names that the task declares. Nothing is handed to ``eval``.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator

Number = int | float
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "ceil": math.ceil,
    "log2": math.log2,
    "sqrt": math.sqrt,
}
_MAX_EXPONENT = 512  # 2**512 bytes is more than enough; 9**9**9 would never return


def evaluate(expression: str, names: Mapping[str, Number]) -> Number:
    """Evaluate ``expression`` with the given values.

    Parameters
    ----------
    expression
        For example ``"2*M*N*itemsize"``.
    names
        The value of every name that may occur.

    Returns
    -------
    int or float
        Booleans are returned as ``bool``, which is an ``int``.

    Raises
    ------
    ValueError
        If the text is not such an expression, uses a name that is not in ``names``, or divides by zero.
    """
    try:
        value: Number = _evaluate(_parse(expression).body, names, expression)
    except (ArithmeticError, TypeError, RecursionError) as error:
        shown = ", ".join(f"{name}={size}" for name, size in names.items())
        raise ValueError(f"'{expression}' cannot be computed for {shown}: {error}") from None
    if isinstance(value, complex):
        raise ValueError(f"'{expression}' is not a real number")
    return value


def names_in(expression: str) -> set[str]:
    """Return the free names of ``expression``, without the functions.

    Raises
    ------
    ValueError
        If the text is not an expression.
    """
    tree = _parse(expression)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - _FUNCTIONS.keys()


def _parse(expression: str) -> ast.Expression:
    try:
        return ast.parse(expression, mode="eval")
    except SyntaxError as error:
        raise ValueError(f"'{expression}' is not an expression: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise ValueError("the expression is nested too deeply") from None


def _evaluate(node: ast.expr, names: Mapping[str, Number], whole: str) -> Any:
    def go(child: ast.expr) -> Any:
        return _evaluate(child, names, whole)

    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.Name(id=name):
            if name not in names:
                raise ValueError(f"'{name}' in '{whole}' is not one of {', '.join(sorted(names))}")
            return names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            exponent = go(right)
            if isinstance(op, ast.Pow) and abs(exponent) > _MAX_EXPONENT:
                raise ValueError(f"the exponent {exponent} in '{whole}' is too large")
            return _BINARY[type(op)](go(left), exponent)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -go(operand)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not go(operand)
        case ast.BoolOp(op=ast.And(), values=values):
            return all(go(value) for value in values)
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(go(value) for value in values)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return go(body) if go(test) else go(orelse)
        case ast.Compare(left=left, ops=ops, comparators=rights) if all(type(op) in _COMPARE for op in ops):
            values = [go(left), *(go(right) for right in rights)]
            return all(_COMPARE[type(op)](a, b) for op, a, b in zip(ops, values, values[1:], strict=False))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(go(arg) for arg in args))
    raise ValueError(
        f"'{ast.unparse(node)}' in '{whole}' is not allowed: only arithmetic, comparisons and {', '.join(_FUNCTIONS)}"
    )


def _checked(expression: str) -> str:
    names_in(expression)
    return expression


Expression = Annotated[str, AfterValidator(_checked)]
"""A pydantic field type: a string that parses as an expression."""
