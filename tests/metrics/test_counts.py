from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from kernelarena.metrics import Counts, Rate, by_platform, counts, pass_rates, reasons
from kernelarena.spec import Evidence, Language, Reason, ReasonGroup, Status, Verdict

C, E, M = Evidence.COMPILED, Evidence.EMULATED, Evidence.MEASURED
FAILURES = [reason for reason in Reason if reason.group is not ReasonGroup.INFRA]


@st.composite
def verdicts(draw):
    status = draw(st.sampled_from(Status))
    reason = {
        Status.PASS: None,
        Status.FAIL: draw(st.sampled_from(FAILURES)),
        Status.SKIPPED: Reason.DEVICE_UNAVAILABLE,
        Status.INFRA: Reason.WORKER_LOST,
    }[status]
    return Verdict(
        task="t",
        kernel=draw(st.sampled_from("abc")),
        language=Language.TRITON,
        platform=draw(st.sampled_from(("p", "q"))),
        evidence=draw(st.sampled_from(Evidence)) if status in (Status.PASS, Status.FAIL) else None,
        status=status,
        reason=reason,
    )


def test_a_table_worked_by_hand(cell):
    cells = [
        cell("a", "p"),
        cell("b", "p", Reason.COMPILE_ERROR),
        cell("c", "p", Reason.WORKER_LOST),
        cell("a", "q", evidence=E),
        cell("b", "q", Reason.MISMATCH, evidence=E),
        cell("c", "q", Reason.DEVICE_UNAVAILABLE, status=Status.SKIPPED),
        cell("d", "q", Reason.COMPILE_ERROR),
    ]
    assert by_platform(cells) == {
        "p": Counts({C: Rate(1, 2)}, skipped=0, infra=1),
        "q": Counts({E: Rate(1, 2), C: Rate(0, 1)}, skipped=1, infra=0),
    }
    assert pass_rates(cells) == {E: Rate(1, 2), C: Rate(1, 3)}
    assert reasons(cells) == {E: {Reason.MISMATCH: 1}, C: {Reason.COMPILE_ERROR: 2}}


def test_the_most_frequent_reason_comes_first_and_ties_keep_the_vocabularys_order(cell):
    cells = [cell(str(n), "p", reason) for n, reason in enumerate([Reason.CRASH, Reason.TIMEOUT, Reason.TIMEOUT])]
    cells += [cell("x", "p", Reason.SYNTAX_ERROR)]
    assert list(reasons(cells)[C]) == [Reason.TIMEOUT, Reason.SYNTAX_ERROR, Reason.CRASH]


def test_nothing_has_no_rate():
    assert counts([]) == Counts()
    assert pass_rates([]) == {}
    assert reasons([]) == {}
    assert Rate().share is None


@given(st.lists(verdicts()))
def test_every_cell_is_counted_exactly_once(cells):
    total = counts(cells)
    assert sum(rate.total for rate in total.rates.values()) + total.skipped + total.infra == len(cells)
    assert sum(rate.passed for rate in total.rates.values()) == sum(c.status is Status.PASS for c in cells)


@given(st.lists(verdicts()))
def test_infrastructure_and_skipped_cells_change_no_rate_and_failures_do(cells):
    judged = [c for c in cells if c.status in (Status.PASS, Status.FAIL)]
    assert pass_rates(cells) == pass_rates(judged)
    for evidence, rate in pass_rates(cells).items():
        failures = sum(reasons(cells).get(evidence, {}).values())
        assert rate.total - rate.passed == failures


@given(st.lists(verdicts()), st.sampled_from(Evidence))
def test_cells_of_other_evidence_change_nothing(cells, evidence):
    own = [c for c in cells if c.evidence is evidence]
    assert pass_rates(cells).get(evidence) == pass_rates(own).get(evidence)
    assert reasons(cells).get(evidence) == reasons(own).get(evidence)


@given(st.lists(verdicts()))
def test_platforms_add_up_to_the_whole(cells):
    parts = by_platform(cells).values()
    whole: Counter[Evidence] = Counter()
    for part in parts:
        whole.update({evidence: rate.total for evidence, rate in part.rates.items()})
    assert whole == {evidence: rate.total for evidence, rate in pass_rates(cells).items()}
