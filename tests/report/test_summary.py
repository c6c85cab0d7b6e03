from __future__ import annotations

import pytest

from kernelarena.report import html, markdown
from kernelarena.report.json import as_dict
from kernelarena.report.summary import isolation, sentences, unknown
from kernelarena.report.view import arrange
from kernelarena.spec import Evidence, Gate, Reason, Status
from tests.report.test_terminal import printed


def test_the_answer_of_the_realistic_run(data):
    assert sentences(data) == [
        "7 of 12 kernels give right answers on cpu (emulated, not measured); 7 of 11 kernels build for and fit mi250, "
        "8 of 12 mi300, 8 of 12 rx7900, 9 of 11 a100 and 10 of 11 h100 (compiled, never run there).",
        "4 of 12 kernels build for and fit all 5 platforms that were compiled for; 4 that build fail where they were "
        "run.",
        "Most is lost to syntax-error (5 compiled cells: the file is not valid source), then to resource-exceeded "
        "(5 compiled) and unsupported-feature (4 compiled).",
    ]
    assert unknown(data) == (
        "1 cell could not be tried here, 1 cell was lost to infrastructure and 1 cell has not been judged yet; these "
        "say nothing about the kernels."
    )


def test_one_kernel_is_spoken_of_in_the_singular(make):
    run = make.data([make.verdict("softmax-1024", "mi300")])
    assert sentences(run) == [
        "1 of 1 kernel builds for and fits mi300 (compiled, never run there).",
        "No kernel failed.",
    ]
    assert unknown(run) is None


def test_measured_kernels_work(make):
    run = make.data([make.verdict("softmax-1024", "mi300", evidence=Evidence.MEASURED)])
    assert sentences(run)[0] == "1 of 1 kernel works on mi300 (measured on the chip)."


@pytest.mark.parametrize("evidence", [Evidence.COMPILED, Evidence.EMULATED])
def test_nothing_else_does(make, evidence):
    run = make.data([make.verdict("softmax-1024", platform, evidence=evidence) for platform in ("mi300", "h100")])
    assert "work" not in " ".join(sentences(run))


def test_many_platforms_are_given_as_a_range(make):
    chips = [f"chip{n}" for n in range(9)]
    verdicts = [make.verdict("rope-half", chip) for chip in chips]
    verdicts += [make.failed("softmax-1024", chips[0], Reason.CRASH, "")]
    verdicts += [make.verdict("softmax-1024", chip) for chip in chips[1:]]
    run = make.run(verdicts, ["rope-half", "softmax-1024"], tuple(chips))
    assert sentences(run)[0] == (
        "Between 1 of 2 kernels (chip0) and 2 of 2 (chip1) build for and fit the 9 platforms "
        "(compiled, never run there)."
    )
    assert sentences(run)[1] == "1 of 2 kernels builds for and fits all 9 platforms that were compiled for."


def test_two_platforms_are_both(make):
    run = make.data([make.verdict("rope-half", platform) for platform in ("mi300", "h100")])
    assert sentences(run)[1] == "1 of 1 kernel builds for and fits both platforms that were compiled for."


def test_platforms_with_the_same_count_share_it(make):
    chips = ("mi250", "mi300", "a100", "h100")
    verdicts = [make.verdict("rope-half", chip) for chip in chips]
    verdicts += [make.failed("softmax-1024", chip, Reason.CRASH, "") for chip in chips]
    emulated = [make.verdict("rope-half", "cpu", evidence=Evidence.EMULATED)]
    run = make.run([*emulated, *verdicts], ["rope-half", "softmax-1024"], ("cpu", *chips))
    assert sentences(run)[:2] == [
        "1 of 1 kernel gives right answers on cpu (emulated, not measured); 1 of 2 kernels builds for and fits each of "
        "mi250, mi300, a100 and h100 (compiled, never run there).",
        "1 of 2 kernels builds for and fits all 4 platforms that were compiled for.",
    ]
    many = [f"chip{n}" for n in range(9)]
    run = make.run([make.verdict(k, c) for k in ("a", "b") for c in many], ["a", "b"], tuple(many))
    assert sentences(run)[0].startswith("2 of 2 kernels build for and fit each of the 9 platforms (compiled")


def test_none_of_one_is_still_the_singular(make):
    run = make.data([make.failed("rope-half", platform, Reason.CRASH, "") for platform in ("cpu", "mi300", "h100")])
    assert sentences(run)[0].startswith("0 of 1 kernel gives right answers on cpu (emulated")
    assert "; 0 of 1 kernel builds for and fits each of mi300 and h100 (compiled" in sentences(run)[0]
    assert sentences(run)[1] == "0 of 1 kernel builds for and fits both platforms that were compiled for."


def test_kinds_of_evidence_are_not_added_up(make):
    """Two emulated and two compiled losses to the same reason are not four of anything."""
    run = make.data(
        [make.failed(k, p, Reason.CRASH, "") for k in ("rope-half", "bmm-batched") for p in ("cpu", "mi300")]
    )
    assert "2 emulated cells" in sentences(run)[-1]
    assert "crash (2 compiled)" in sentences(run)[-1]


def test_a_kernel_that_builds_but_went_wrong_where_it_ran_is_pointed_out(make):
    def said(*verdicts):
        return " ".join(sentences(make.data(list(verdicts))))

    builds, wrong = make.verdict("rope-half", "mi300"), make.failed("rope-half", "cpu", Reason.MISMATCH, "")
    assert "1 that builds fails where it was run." in said(builds, wrong)
    assert "where it was run" not in said(builds, make.verdict("rope-half", "cpu"))
    assert "where it was run" not in said(builds, make.failed("rope-half", "cpu", Reason.IMPORT_ERROR, ""))
    assert "where it was run" not in said(builds, make.failed("softmax-1024", "cpu", Reason.MISMATCH, ""))
    unrun = make.failed("rope-half", "cpu", Reason.WRONG_DTYPE, "", gate=Gate.COMPILE)
    assert "where it was run" not in said(builds, unrun)


def test_without_a_verdict_nothing_is_claimed(make):
    run = make.run([], ["softmax-1024"], ("mi300",))
    assert sentences(run) == ["Nothing has been judged yet."]
    assert unknown(run) == "1 cell has not been judged yet; this says nothing about the kernels."


def test_without_a_judged_cell_nothing_is_claimed(make):
    lost = make.unknown("softmax-1024", "mi300", Status.INFRA, Reason.WORKER_LOST, "")
    assert sentences(make.data([lost])) == ["No cell could be judged."]


def test_what_isolation_lacked_is_said_once_with_the_reason(make):
    complete, unknown_ = make.verdict("rope-half", "mi300", isolation=()), make.verdict("rope-half", "h100")
    assert isolation(make.data([unknown_])) is None
    assert isolation(make.data([complete, unknown_])) == "Isolation of kernels: complete."
    layers = ("process namespace (Operation not permitted)", "user namespace (Operation not permitted)")
    lacking = [make.verdict("softmax-1024", chip, isolation=layers) for chip in ("mi300", "h100")]
    assert isolation(make.data(lacking)) == (
        "Isolation of kernels: without process namespace (Operation not permitted) and user namespace (Operation not "
        "permitted)."
    )
    assert isolation(make.data([complete, lacking[0]])) == (
        "Isolation of kernels: without process namespace (Operation not permitted) in 1 cell and user namespace "
        "(Operation not permitted) in 1 cell."
    )


@pytest.mark.parametrize(
    "render", [lambda view: printed(view.data), markdown.render, html.render], ids=["terminal", "markdown", "html"]
)
def test_every_report_tells_of_isolation(make, render):
    run = make.data([make.verdict("rope-half", "mi300", isolation=("network namespace (refused)",))])
    assert "without network namespace" in " ".join(render(arrange(run)).replace("\\", "").split())


def test_programs_are_told_of_isolation(make):
    run = make.data([make.verdict("rope-half", "mi300", isolation=("network namespace (refused)",))])
    assert as_dict(arrange(run))["run"]["isolation"] == {"network namespace (refused)": 1}
    assert as_dict(arrange(make.data([make.verdict("rope-half", "mi300")])))["run"]["isolation"] is None
