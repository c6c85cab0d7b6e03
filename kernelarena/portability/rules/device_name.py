"""``device-name``: a chip that is known by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kernelarena.platforms.dialects.cpp import COMPARISONS, PROPERTIES
from kernelarena.platforms.dialects.python import NAMES
from kernelarena.portability.cpp.tree import is_field, text
from kernelarena.portability.cpp.unit import CppUnit
from kernelarena.portability.finding import Severity
from kernelarena.portability.python.unit import PythonUnit
from kernelarena.portability.rule import Fault, Rule, where
from kernelarena.portability.source import Span
from kernelarena.spec import Platform


class DeviceName(Rule):
    """The name of the device is compared with that of one chip."""

    id = "device-name"
    summary = "A decision by the name of one chip, which no other answers to."
    severity = Severity.WARNING

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every comparison of a device's name with such a text."""
        told = unit.variables(PROPERTIES)
        for call in unit.calls:
            if call.name not in COMPARISONS or not any(is_field(each, {"name"}, told) for each in call.arguments):
                continue
            words = [text(each).strip('"') for each in call.arguments if each.type == "string_literal"]
            word = next((word for word in words if any(map(str.isdigit, word))), None)
            if word is not None:
                live = [each for each in platforms if unit.is_live(call.node, each)]
                yield self._fault(unit.span(call.node), word, live, "what the decision rests on: other properties")

    def python(self, unit: PythonUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every comparison of a device's name with a text that has a number in it, as chips' names do."""
        for node in unit.nodes(ast.Compare):
            operands = [node.left, *node.comparators]
            words = [word for each in operands if (word := unit.string(each)) and any(map(str.isdigit, word))]
            if not words or not any(_is_name(unit, each) for each in operands):
                continue
            instead = "what the decision rests on: torch.cuda.get_device_properties(), or an autotuned choice"
            yield self._fault(unit.span(node), words[0], platforms, instead)

    def _fault(self, span: Span, word: str, platforms: Sequence[Platform], instead: str) -> Fault:
        return Fault(
            span,
            where(platforms, lambda platform: not _answers(platform, word)),
            f"no device there is called {word!r}: the other branch is taken, whatever the chip can do",
            instead,
        )


def _is_name(unit: PythonUnit, node: ast.expr) -> bool:
    node = unit.value(node)
    name = unit.dotted(node)
    for method in (".lower", ".upper", ".strip", ".casefold"):
        name = name.removesuffix(method)
    return name in NAMES


def _answers(platform: Platform, word: str) -> bool:
    names = [platform.title, *platform.detect.names]
    return any(word.casefold() in name.casefold() for name in names)
