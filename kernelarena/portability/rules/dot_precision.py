"""``dot-precision``: a product of float32 whose precision is left to the chip."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kernelarena.platforms.dialects.python import ROUNDED_DOT
from kernelarena.portability.finding import Severity
from kernelarena.portability.python.unit import PythonUnit
from kernelarena.portability.rule import Fault, Rule, where
from kernelarena.spec import Platform

_FLOAT32 = "triton.language.float32"


class DotPrecision(Rule):
    """``tl.dot`` of operands that are float32 for certain, without a word on their precision."""

    id = "dot-precision"
    summary = "A tl.dot of float32 that is rounded to TF32 on some chips and exact on others."
    severity = Severity.WARNING

    def python(self, unit: PythonUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every ``tl.dot``."""
        for call in unit.nodes(ast.Call):
            if unit.dotted(call.func) != "triton.language.dot" or len(call.args) > 3:
                continue
            given = {keyword.arg for keyword in call.keywords}
            said = bool(given & {"input_precision", "allow_tf32", None})
            if said or not any(_is_float32(unit, operand) for operand in call.args[:2]):
                continue
            yield Fault(
                unit.span(call),
                where(platforms, lambda platform: platform.backend == ROUNDED_DOT.backend),
                "its float32 operands are rounded to TF32, 10 bits, there; on other chips the product is exact",
                'input_precision="ieee" where the digits matter, or operands of 16 bits where they do not',
            )


def _is_float32(unit: PythonUnit, node: ast.expr) -> bool:
    """Return whether an operand is converted to float32, where it stands or wherever its name is given a value."""
    if isinstance(node, ast.Name):
        function = next((each for each in unit.ancestors(node) if isinstance(each, ast.FunctionDef)), None)
        values = unit.values(node.id, function)
        return bool(values) and all(value is not None and _is_conversion(unit, value) for value in values)
    return _is_conversion(unit, node)


def _is_conversion(unit: PythonUnit, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr == "to" and len(node.args) == 1 and unit.dotted(node.args[0]) == _FLOAT32
