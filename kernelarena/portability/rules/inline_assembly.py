"""``inline-assembly``: instructions of one vendor."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kernelarena.platforms.dialects.assembly import Assembly, language_of
from kernelarena.portability.cpp.tree import text, walk
from kernelarena.portability.cpp.unit import CppUnit
from kernelarena.portability.python.unit import PythonUnit
from kernelarena.portability.rule import Fault, Rule, where
from kernelarena.portability.source import Span
from kernelarena.spec import Platform

_ESCAPES = {r"\n": "\n", r"\t": "\t", r"\"": '"', r"\\": "\\"}


class InlineAssembly(Rule):
    """Assembly of one instruction set is written into a kernel, and nothing around it asks whose chip it is."""

    id = "inline-assembly"
    summary = "Assembly that only one vendor's chips, or some of them, understand."

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every ``asm`` statement."""
        for node in unit.nodes("gnu_asm_expression"):
            written = node.child_by_field_name("assembly_code")
            code = "".join(
                _ESCAPES.get(text(each), text(each))
                for each in (walk(written) if written is not None else ())
                if each.type in ("string_content", "escape_sequence", "raw_string_content")
            )
            language = language_of(code)
            if language is not None:
                breaks = [each for each in platforms if language.lacking(code, each) and unit.is_live(node, each)]
                yield _fault(unit.span(node), language, breaks, "an intrinsic or plain C++, or an #ifdef with both")

    def python(self, unit: PythonUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every call of ``tl.inline_asm_elementwise``."""
        for call in unit.nodes(ast.Call):
            if unit.dotted(call.func) != "triton.language.inline_asm_elementwise" or unit.is_guarded(call):
                continue
            given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "asm")]
            code = unit.string(given[0]) if given else None
            language = language_of(code) if code is not None else None
            if code is not None and language is not None:
                breaks = [each for each in platforms if language.lacking(code, each)]
                yield _fault(unit.span(call), language, breaks, "operators of triton.language, or tl.math")


def _fault(span: Span, language: Assembly, breaks: Sequence[Platform], instead: str) -> Fault:
    return Fault(span, where(breaks), f"{language.name} assembly that no assembler has there", instead)
