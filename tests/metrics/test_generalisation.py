from __future__ import annotations

import pytest

from kernelarena.metrics import Generalisation, Rate, generalisation
from kernelarena.spec import Evidence, Family, FamilyTally, Gate, Reason, Tally

E = Evidence.EMULATED


def hidden(**families: tuple[int, int]) -> FamilyTally:
    tallies = {Family(name.replace("_", "-")): Tally(passed=p, total=t) for name, (p, t) in families.items()}
    return FamilyTally(
        passed=sum(t.passed for t in tallies.values()), total=sum(t.total for t in tallies.values()), by_family=tallies
    )


def test_a_table_worked_by_hand(cell):
    """Four kernels: one right everywhere, one wrong on hidden shapes, one wrong before, one that does not build."""
    cells = [
        cell("a", "cpu", evidence=E, gate=Gate.HIDDEN, hidden=hidden(edge=(2, 2), scale_up=(1, 1))),
        cell("b", "cpu", Reason.MISMATCH, evidence=E, gate=Gate.HIDDEN, hidden=hidden(edge=(0, 2), scale_up=(1, 1))),
        cell("c", "cpu", Reason.MISMATCH, evidence=E, gate=Gate.CORRECTNESS),
        cell("d", "cpu", Reason.SYNTAX_ERROR, evidence=E, gate=Gate.COMPILE),
    ]
    assert generalisation(cells) == {
        E: Generalisation(Rate(2, 4), Rate(1, 4), {Family.EDGE: Rate(2, 4), Family.SCALE_UP: Rate(2, 2)})
    }
    assert generalisation(cells)[E].gap == pytest.approx(0.25)


def test_a_kernel_that_died_on_its_first_hidden_shape_is_lost_there(cell):
    cells = [
        cell("a", "cpu", evidence=E, gate=Gate.HIDDEN, hidden=hidden(edge=(1, 1))),
        cell("b", "cpu", Reason.CRASH, evidence=E, gate=Gate.HIDDEN),
    ]
    assert generalisation(cells)[E].gap == pytest.approx(0.5)


def test_compiled_cells_were_never_right_about_anything(cell):
    assert generalisation([cell("a", "p", gate=Gate.HIDDEN, hidden=hidden(edge=(1, 1)))]) == {}


def test_with_the_gate_off_there_is_no_gap_to_speak_of(cell):
    cells = [cell("a", "cpu", evidence=E, gate=Gate.CORRECTNESS), cell("b", "cpu", Reason.MISMATCH, evidence=E)]
    assert generalisation(cells) == {}


def test_measured_and_emulated_stay_apart(cell):
    cells = [
        cell("a", "p", evidence=Evidence.MEASURED, gate=Gate.HIDDEN, hidden=hidden(edge=(1, 1))),
        cell("a", "cpu", Reason.MISMATCH, evidence=E, gate=Gate.HIDDEN, hidden=hidden(edge=(0, 1))),
    ]
    found = generalisation(cells)
    assert found[Evidence.MEASURED].gap == 0.0
    assert found[E].gap == 1.0


def test_nothing_has_no_gap():
    assert Generalisation(Rate(), Rate()).gap is None
