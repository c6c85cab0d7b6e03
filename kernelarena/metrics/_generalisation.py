"""Whether kernels that are right on the shapes they were shown stay right on shapes they have never seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kernelarena.metrics._counts import JUDGED
from kernelarena.metrics._rate import Rate
from kernelarena.spec import HIDDEN_FAMILIES, Evidence, Family, Gate, Status, Tally, Verdict

RAN = (Evidence.MEASURED, Evidence.EMULATED)
"""The kinds of evidence under which a kernel computed something that could be wrong."""


@dataclass(frozen=True)
class Generalisation:
    """Kernels right on visible shapes beside kernels right on hidden ones, over the same cells."""

    visible: Rate
    """Cells that passed every gate before the hidden one."""
    hidden: Rate
    """Cells that passed the hidden one as well; the same denominator."""
    families: dict[Family, Rate] = field(default_factory=dict)
    """Hidden shapes (not cells) that passed, over the cells that reached the gate."""

    @property
    def gap(self) -> float | None:
        """``visible.share - hidden.share``, 0 (all carry over) to 1; None of nothing."""
        if self.visible.share is None or self.hidden.share is None:
            return None
        return self.visible.share - self.hidden.share


def generalisation(verdicts: Iterable[Verdict]) -> dict[Evidence, Generalisation]:
    """Compare visible with hidden correctness, for each kind of evidence that comes from running.

    With ``N`` the judged cells, ``V`` those that passed every gate before the hidden one and ``H ⊆ V`` those that
    passed that too: ``visible = |V| / |N|``, ``hidden = |H| / |N|``, ``gap = (|V| - |H|) / |N|``. The gap is the share
    of kernels whose success on published shapes would have misled.

    Cells that passed without a hidden shape (the gate was off for them) are left out of ``N``, and cells of compiled
    evidence altogether: nothing ran, so nothing was right.

    Returns
    -------
    dict
        Only kinds for which at least one cell reached the gate.
    """
    judged = [verdict for verdict in verdicts if verdict.status in JUDGED]
    found = {}
    for evidence in RAN:
        cells = [v for v in judged if v.evidence is evidence and not (v.status is Status.PASS and not v.hidden.total)]
        reached = [v for v in cells if v.status is Status.PASS or v.gate is Gate.HIDDEN]
        if not reached:
            continue
        found[evidence] = Generalisation(
            visible=Rate(len(reached), len(cells)),
            hidden=Rate(sum(v.status is Status.PASS for v in reached), len(cells)),
            families=_families(reached),
        )
    return found


def _families(cells: list[Verdict]) -> dict[Family, Rate]:
    found: dict[Family, Rate] = {}
    for family in HIDDEN_FAMILIES:
        tallies = [verdict.hidden.by_family.get(family, Tally()) for verdict in cells]
        if total := sum(tally.total for tally in tallies):
            found[family] = Rate(sum(tally.passed for tally in tallies), total)
    return found
