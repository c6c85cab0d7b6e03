"""C++ inside Python: the sources that a file hands to a compiler as text."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kernelarena.portability.python.unit import PythonUnit
from kernelarena.portability.source import Grammar, Source

_COMPILERS = frozenset({"torch.utils.cpp_extension.load_inline"})
_SOURCES = frozenset({"cpp_sources", "cuda_sources"})


def embedded(unit: PythonUnit) -> Iterator[Source]:
    """Yield every C++ text that is built at run time, with its lines where they stand in the Python file."""
    for call in unit.nodes(ast.Call):
        if unit.dotted(call.func) in _COMPILERS:
            for keyword in call.keywords:
                if keyword.arg in _SOURCES:
                    given = unit.value(keyword.value)
                    parts = given.elts if isinstance(given, ast.List | ast.Tuple) else [given]
                    yield from (source for part in parts if (source := _source(unit, unit.value(part))))


def _source(unit: PythonUnit, text: ast.expr) -> Source | None:
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return None
    if text.value.count("\n") != (text.end_lineno or text.lineno) - text.lineno:
        return None  # its lines are not those of the file, so that nothing could be pointed at
    return Source(unit.source.path, Grammar.CPP, "\n" * (text.lineno - 1) + text.value)
