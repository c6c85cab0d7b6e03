from __future__ import annotations

import shlex

import pytest

from kernelarena.metrics import Rate
from kernelarena.report import html
from kernelarena.report.view import arrange, failed_trials, reproduce, worst_launches
from kernelarena.spec import Evidence, Launch, Location, Reason, Resources, Shape, Status, Sweep, Trial


def test_every_cell_of_the_matrix_has_its_place(view, data):
    cells = [cell for row in view.rows for cell in row.cells]
    assert len(cells) == len(data.manifest.kernels) * len(data.manifest.platforms)
    assert [cell for cell in cells if cell is not None] == list(data.verdicts)
    assert sum(column.pending for column in view.columns) == cells.count(None) == 1
    assert {column.id: column.counts.rates.get(Evidence.COMPILED) for column in view.columns}["h100"] == Rate(10, 11)


def test_every_failure_is_in_exactly_one_entry(view, data):
    shown = [(v.kernel, v.platform) for failure in view.failures for v in failure.verdicts]
    assert sorted(shown) == sorted((v.kernel, v.platform) for v in data.verdicts if v.status is Status.FAIL)
    assert [kernel for kernel, _ in view.failed_rows] == [
        row.id for row in view.rows if row.id in dict(view.failed_rows)
    ]


def test_failures_are_told_once_only_if_they_are_the_same(make):
    same = [make.failed("rope-half", p, Reason.SYNTAX_ERROR, "kernel.py:1: invalid") for p in ("mi250", "mi300")]
    other = make.failed("rope-half", "h100", Reason.SYNTAX_ERROR, "kernel.py:2: invalid")
    elsewhere = make.failed(
        "rope-half", "a100", Reason.SYNTAX_ERROR, "kernel.py:1: invalid", location=Location(file="kernel.py", line=1)
    )
    view = arrange(make.data([*same, elsewhere, other]))
    assert [[v.platform for v in failure.verdicts] for failure in view.failures] == [
        ["mi250", "mi300"],
        ["a100"],
        ["h100"],
    ]


def test_what_was_printed_anywhere_is_shown(make):
    silent = make.failed("rope-half", "mi300", Reason.SYNTAX_ERROR, "kernel.py:1: invalid")
    loud = make.failed("rope-half", "cpu", Reason.SYNTAX_ERROR, "kernel.py:1: invalid", log="Traceback")
    usual = silent.model_copy(
        update={"platform": "mi250", "log": "k.py:5: UserWarning: TRITON_DEFAULT_FP_FUSION is unset: so\n"}
    )
    (failure,) = arrange(make.data([usual, silent, loud])).failures
    assert failure.log == "Traceback"
    page = html.render(arrange(make.data([usual])))
    assert "End of the log" not in page
    assert "TRITON_DEFAULT_FP_FUSION" not in page


def test_the_command_to_reproduce_can_be_pasted(make):
    failed = make.failed("rope-half", "mi300", Reason.CRASH, "")
    run = make.data([failed], hidden_seed=None).manifest
    folder = make.kernel("rope-half", origin="my kernels/rope; rm -rf ~")
    assert shlex.split(reproduce(folder, [failed], run)) == [
        "kab-mc", "check", "my kernels/rope; rm -rf ~", "--platforms", "mi300",
    ]  # fmt: skip
    single = make.kernel("rope-half", origin="ops/rope.py", file="rope.py", function="apply_rope")
    assert reproduce(single, [failed], run) == (
        "kab-mc check ops/rope.py::apply_rope --task rotary_embedding --platforms mi300"
    )
    line = make.kernel("rope-half", origin="runs/out.jsonl:17")
    assert reproduce(line, [failed], run) == "kab-mc check runs/out.jsonl:17 --platforms mi300"


def test_the_seed_is_part_of_the_command_where_something_ran(make):
    kernel = make.kernel("rope-half", origin="rope")
    compiled = make.failed("rope-half", "mi300", Reason.SYNTAX_ERROR, "")
    emulated = make.failed("rope-half", "cpu", Reason.MISMATCH, "")
    ended, going = (make.data([emulated], hidden_seed=seed).manifest for seed in (7, None))
    assert "--hidden-seed" not in reproduce(kernel, [compiled], ended)
    assert reproduce(kernel, [emulated], ended).endswith("--hidden-seed 7")
    assert "--hidden-seed" not in reproduce(kernel, [emulated], going)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, []),
        ({"evidence": "compiled"}, ["--evidence", "compiled"]),
        ({"require": "emulated"}, ["--evidence", "emulated"]),
        ({"require": "measured"}, []),
    ],
)
def test_the_evidence_that_was_sought_is_part_of_the_command(make, asked, words):
    kernel, failed = make.kernel("rope-half", origin="rope"), make.failed("rope-half", "mi300", Reason.CRASH, "")
    run = make.data([failed], sweep=Sweep.model_validate(asked), hidden_seed=None).manifest
    assert reproduce(kernel, [failed], run).split() == ["kab-mc", "check", "rope", "--platforms", "mi300", *words]


def _launch(name: str, occupancy: float | None, **fields: object) -> Launch:
    resources = Resources(threads_per_block=64, warps=1, shared_memory=0, occupancy=occupancy)
    return Launch.model_validate({"kernel": name, "signature": "", "grid": (1,), "resources": resources, **fields})


def test_launches_that_cannot_run_come_first_and_tuning_last(make):
    launches = (
        _launch("full", 1.0),
        _launch("trial", 0.1, tuning=True),
        _launch("low", 0.25),
        _launch("broken", None, reason=Reason.RESOURCE_EXCEEDED),
    )
    shown, left = worst_launches(make.verdict("rope-half", "mi300", launches=launches), limit=3)
    assert [launch.kernel for launch in shown] == ["broken", "low", "full"]
    assert left == 1


def test_only_calls_that_went_wrong_are_listed(make):
    shape = Shape(dims={"M": 1}, dtype="float32")
    trials = tuple(Trial(shape=shape, passed=n % 2 == 0) for n in range(10))
    shown, more = failed_trials(make.verdict("rope-half", "cpu", trials=trials), limit=2)
    assert (len(shown), more) == (2, 3)
    assert not any(trial.passed for trial in shown)
