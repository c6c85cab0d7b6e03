from __future__ import annotations

from kernelarena.metrics import Rate, Retention, retention
from kernelarena.spec import Evidence, Reason

C, E, M = Evidence.COMPILED, Evidence.EMULATED, Evidence.MEASURED


def test_a_table_worked_by_hand(cell):
    """Written for h: a and b pass there, c fails there (nobody's loss), d was not judged there."""
    cells = [
        cell("a", "h", home="h"),
        cell("a", "p", home="h"),
        cell("a", "q", Reason.COMPILE_ERROR, home="h"),
        cell("b", "h", home="h"),
        cell("b", "p", Reason.RESOURCE_EXCEEDED, home="h"),
        cell("b", "q", Reason.WORKER_LOST, home="h"),
        cell("c", "h", Reason.COMPILE_ERROR, home="h"),
        cell("c", "p", home="h"),
        cell("d", "h", Reason.WORKER_LOST, home="h"),
        cell("d", "p", Reason.COMPILE_ERROR, home="h"),
        cell("e", "p"),
    ]
    assert retention(cells) == [Retention("h", "p", C, C, Rate(1, 2)), Retention("h", "q", C, C, Rate(0, 1))]


def test_pairs_are_kept_apart_by_the_evidence_at_either_end(cell):
    cells = [
        cell("a", "h", home="h", evidence=M),
        cell("a", "p", home="h"),
        cell("b", "h", home="h"),
        cell("b", "p", Reason.COMPILE_ERROR, home="h"),
        cell("c", "h", home="h", evidence=M),
        cell("c", "p", Reason.MISMATCH, home="h", evidence=E),
    ]
    assert retention(cells) == [
        Retention("h", "p", M, E, Rate(0, 1)),
        Retention("h", "p", M, C, Rate(1, 1)),
        Retention("h", "p", C, C, Rate(0, 1)),
    ]


def test_a_home_that_is_not_swept_retains_nothing(cell):
    assert retention([cell("a", "p", home="elsewhere")]) == []
