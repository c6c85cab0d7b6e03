"""``vendor-library``: a header or module that comes with one vendor's toolkit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelarena.platforms.dialects.cpp import HEADERS
from kernelarena.platforms.dialects.python import MODULES
from kernelarena.platforms.dialects.where import Construct, find
from kernelarena.portability.cpp.tree import text
from kernelarena.portability.cpp.unit import CppUnit
from kernelarena.portability.python.unit import PythonUnit
from kernelarena.portability.rule import Fault, Rule, where
from kernelarena.portability.source import Span
from kernelarena.spec import Platform


class VendorLibrary(Rule):
    """Something of one vendor is included or imported, whatever the chip.

    Of what comes from the same place the first is reported.
    """

    id = "vendor-library"
    summary = "A header or module of one vendor, that is not there or of no use on another's chip."

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every ``#include``."""
        told: set[Construct] = set()
        for node in unit.nodes("preproc_include"):
            name = text(node.child_by_field_name("path")).strip('<>"')
            construct = find(name, HEADERS)
            live = [each for each in platforms if unit.is_live(node, each)]
            if construct is not None and live and construct not in told:
                told.add(construct)
                yield _fault(unit.span(node), name, construct, live)

    def python(self, unit: PythonUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every import that may not fail."""
        told: set[Construct] = set()
        for name, node in unit.modules():
            construct = find(name, MODULES)
            if construct is not None and construct not in told and not unit.is_guarded(node):
                told.add(construct)
                yield _fault(unit.span(node), name, construct, platforms)


def _fault(span: Span, name: str, construct: Construct, platforms: Sequence[Platform]) -> Fault:
    return Fault(span, where(platforms, construct.lacking), f"{name}: {construct.what}", construct.instead)
