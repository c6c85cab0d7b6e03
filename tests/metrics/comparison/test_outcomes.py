from __future__ import annotations

import pytest

from kernelarena.metrics.comparison import Change, compare
from kernelarena.spec import Evidence, Gate, Reason, Status
from tests.metrics.comparison.conftest import launch
from tests.metrics.conftest import cell

C, E, M = Evidence.COMPILED, Evidence.EMULATED, Evidence.MEASURED


def passes(evidence=M):
    return cell("a", "p", evidence=evidence, gate=Gate.COMPILE if evidence is C else Gate.HIDDEN)


def fails(reason, gate, evidence=M):
    return cell("a", "p", reason, gate=gate, evidence=evidence)


wrong = fails(Reason.MISMATCH, Gate.CORRECTNESS)
misled = fails(Reason.MISMATCH, Gate.HIDDEN)
unbuilt = fails(Reason.COMPILE_ERROR, Gate.COMPILE, C)
gone = cell("a", "p", Reason.WORKER_LOST)


@pytest.mark.parametrize(
    ("base", "new", "expected"),
    [
        (passes(), passes(), Change.SAME),
        (passes(C), passes(M), Change.SAME),  # the last gate that passed is another, the outcome is not
        (passes(), wrong, Change.NEW_FAILURE),
        (wrong, passes(), Change.FIXED),
        (wrong, wrong, Change.SAME),
        (wrong, fails(Reason.NON_FINITE, Gate.CORRECTNESS), Change.OTHER_FAILURE),
        (wrong, misled, Change.OTHER_FAILURE),
        (passes(), gone, Change.LOST),
        (gone, wrong, Change.GAINED),
        (gone, gone, Change.SAME),
        # other evidence: what built and is wrong was never right
        (passes(C), wrong, Change.EVIDENCE),
        (wrong, passes(C), Change.EVIDENCE),
        (passes(E), wrong, Change.EVIDENCE),
        # but all build alike
        (passes(E), unbuilt, Change.NEW_FAILURE),
        (unbuilt, passes(E), Change.FIXED),
        (passes(C), fails(Reason.COMPILE_ERROR, Gate.COMPILE), Change.NEW_FAILURE),
        (passes(M), unbuilt, Change.NEW_FAILURE),
        (unbuilt, passes(M), Change.FIXED),
        (unbuilt, wrong, Change.EVIDENCE),
        (unbuilt, fails(Reason.SYNTAX_ERROR, Gate.COMPILE), Change.OTHER_FAILURE),
    ],
)
def test_what_became_of_a_cell(run, base, new, expected):
    (outcome,) = compare(run([base]), run([new])).outcomes
    assert outcome.change is expected
    known = {base.status, new.status} <= {Status.PASS, Status.FAIL}
    assert outcome.evidence_changed == (known and base.evidence is not new.evidence)


@pytest.mark.parametrize(
    ("base", "new", "expected"),
    [
        (passes(), misled, Change.HIDDEN_SHAPES),
        (misled, passes(), Change.HIDDEN_SHAPES),
        (passes(), wrong, Change.NEW_FAILURE),
        (misled, wrong, Change.OTHER_FAILURE),
    ],
)
def test_other_hidden_shapes_are_no_regression_but_visible_ones_are_the_same(run, base, new, expected):
    found = compare(run([base]), run([new], hidden_seed_sha256="1" * 64))
    assert not found.same_shapes
    assert found.outcomes[0].change is expected
    assert compare(run([base]), run([new])).outcomes[0].change is not Change.HIDDEN_SHAPES


def test_cells_are_matched_and_the_others_named(run):
    found = compare(
        run([cell("a", "p"), cell("a", "q"), cell("b", "p")]), run([cell("a", "p"), cell("c", "p"), cell("b", "p")])
    )
    assert [(o.new.kernel, o.new.platform) for o in found.outcomes] == [("a", "p"), ("b", "p")]
    assert [(v.kernel, v.platform) for v in found.only_base] == [("a", "q")]
    assert [(v.kernel, v.platform) for v in found.only_new] == [("c", "p")]


def test_another_source_is_told(run):
    found = compare(run([cell("a", "p")], source="1"), run([cell("a", "p")], source="2"))
    assert [outcome.source_changed for outcome in found.outcomes] == [True]
    assert not compare(run([cell("a", "p")]), run([cell("a", "p")])).outcomes[0].source_changed


def test_the_environment_is_compared(run):
    base = run([cell("a", "p")], versions={"triton": "3.6.0", "ray": "2.60.0"})
    new = run([cell("a", "p")], versions={"driver": "560.1"})
    told = {difference.name: (difference.base, difference.new) for difference in compare(base, new).environment}
    assert told == {"triton": ("3.6.0", "3.9.0"), "ray": ("2.60.0", ""), "driver": ("", "560.1")}


def test_a_run_is_like_itself(run):
    itself = run(
        [cell("a", "p", launches=(launch(),)), cell("b", "p", Reason.MISMATCH), cell("c", "p", Reason.WORKER_LOST)]
    )
    found = compare(itself, itself)
    assert found.environment == found.redefined == found.only_base == found.only_new == ()
    assert found.resources == found.times == ()
    assert {outcome.change for outcome in found.outcomes} == {Change.SAME}
