"""How the outcome of one cell differs between two runs."""

from __future__ import annotations

from dataclasses import dataclass

from kernelarena.metrics._counts import JUDGED
from kernelarena.spec import Gate, Status, Verdict
from kernelarena.spec.base import StrEnum


class Change(StrEnum):
    """What became of a cell."""

    NEW_FAILURE = "new-failure"
    """Passed, and fails now."""
    FIXED = "fixed"
    """Failed, and passes now."""
    OTHER_FAILURE = "other-failure"
    """Failed, and fails now at another gate or for another reason."""
    LOST = "lost"
    """Was judged; nothing is known about it now."""
    GAINED = "gained"
    """Nothing was known about it; it is judged now."""
    EVIDENCE = "evidence"
    """Judged otherwise, but by other evidence, so that the one does not contradict the other."""
    HIDDEN_SHAPES = "hidden-shapes"
    """Judged otherwise at the hidden gate, where the two runs drew other shapes."""
    SAME = "same"


@dataclass(frozen=True)
class Outcome:
    """One cell in both runs."""

    base: Verdict
    new: Verdict
    change: Change
    source_changed: bool
    """Whether the kernel itself is another."""

    @property
    def evidence_changed(self) -> bool:
        """Whether both say something, by other evidence."""
        known = self.base.status in JUDGED and self.new.status in JUDGED
        return known and self.base.evidence is not self.new.evidence


def classify(base: Verdict, new: Verdict, *, same_shapes: bool) -> Change:
    """Return what became of a cell.

    Other evidence is no regression by itself: a kernel that built for a chip and is wrong when it runs there was never
    right. But kernels are built alike whatever becomes of them then, so that what is refused at the compile gate by
    the one, having passed it by the other, did change. (Where nothing is compiled, there is one kind of evidence.)

    Parameters
    ----------
    base, new
        Of the same cell.
    same_shapes
        Whether both runs drew the same hidden shapes.
    """
    if base.status not in JUDGED or new.status not in JUDGED:
        if base.status in JUDGED:
            return Change.LOST
        return Change.GAINED if new.status in JUDGED else Change.SAME
    if (base.status, base.gate if base.status is Status.FAIL else None, base.reason) == (
        new.status,
        new.gate if new.status is Status.FAIL else None,
        new.reason,
    ):
        return Change.SAME
    failed = [verdict for verdict in (base, new) if verdict.status is Status.FAIL]
    if base.evidence is not new.evidence and any(verdict.gate is not Gate.COMPILE for verdict in failed):
        return Change.EVIDENCE
    if not same_shapes and all(verdict.gate is Gate.HIDDEN for verdict in failed):
        return Change.HIDDEN_SHAPES
    if len(failed) == 2:
        return Change.OTHER_FAILURE
    return Change.NEW_FAILURE if new.status is Status.FAIL else Change.FIXED
