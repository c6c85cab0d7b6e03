"""``device-library-path``: device functions out of a file of one toolkit."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kernelarena.platforms.dialects.python import bitcode
from kernelarena.portability.python.unit import PythonUnit
from kernelarena.portability.rule import Fault, Rule, where
from kernelarena.spec import Platform


class DeviceLibraryPath(Rule):
    """A file of device functions is named by its path, which exists and links on one vendor's hosts alone."""

    id = "device-library-path"
    summary = "A library of device functions that is named by the path of one toolkit's file."

    def python(self, unit: PythonUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every text that ends as such a file does."""
        for node in unit.nodes(ast.Constant):
            owner = bitcode(node.value) if isinstance(node.value, str) else None
            if owner is not None and not unit.is_guarded(node):
                yield Fault(
                    unit.span(node),
                    where(platforms, owner.lacks),
                    "the file comes with one vendor's toolkit, and no other links it",
                    "triton.language.extra.libdevice, which is the right one on every chip",
                )
