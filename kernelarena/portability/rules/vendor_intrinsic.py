"""``vendor-intrinsic``: a function that only some chips have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelarena.platforms.dialects.cpp import CALLS
from kernelarena.platforms.dialects.where import find
from kernelarena.portability.cpp.unit import CppUnit
from kernelarena.portability.rule import Fault, Rule, where
from kernelarena.spec import Platform


class VendorIntrinsic(Rule):
    """A function of one toolkit is called where no condition keeps others from seeing it."""

    id = "vendor-intrinsic"
    summary = "A device function that the toolkit of another chip does not have."

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at every call of a function that the file does not define itself."""
        for call in unit.calls:
            construct = find(call.full, CALLS) or find(call.name, CALLS)
            if construct is None or call.name in unit.defined_names:
                continue
            lacking = [each for each in platforms if construct.lacking(each) and unit.is_live(call.node, each)]
            yield Fault(
                unit.span(call.node),
                where(lacking),
                f"{call.name} is {construct.what}",
                construct.instead,
            )
