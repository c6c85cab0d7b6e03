from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from kernelarena.report.terminal import summary
from kernelarena.spec import Evidence, Reason, Status
from tests.report import hostile


def printed(data, width=80, **options):
    console = Console(file=io.StringIO(), width=width, **{"force_terminal": False, "legacy_windows": False, **options})
    console.print(summary(data))
    return console.file.getvalue()


def test_the_matrix_fits_eighty_columns_without_colour(data):
    text = printed(data)
    lines = text.split("\n")
    assert max(map(cell_len, lines)) <= 80
    assert "\x1b" not in text
    assert lines[0].split() == ["kernel", "cpu", "mi250", "mi300", "rx7900", "a100", "h100"]
    assert "softmax-1024 ✗E ✗C ✗C ✓C ✓C ✓C" in " ".join(text.split())
    assert "passed of judged 7/12 7/11 8/12 8/12 9/11 10/11" in " ".join(text.split())


@pytest.mark.parametrize("passing", [12, 120])
def test_the_platforms_of_the_quickstart_are_one_table_in_eighty_columns(make, passing):
    chips = ("cpu", "mi250", "mi300", "mi355", "a100", "h100", "b200")
    kernels = ["rms_norm_residual-triton", *(f"kernel-{n}" for n in range(1, passing))]
    verdicts = [make.verdict(kernel, chip) for kernel in kernels for chip in chips]
    lines = printed(make.run(verdicts, kernels, chips)).split("\n")
    assert lines[0].split() == ["kernel", *chips]
    assert max(map(cell_len, lines)) <= 80
    assert "rms_norm_residual-triton ✓E ✓C ✓C ✓C ✓C ✓C ✓C" in [" ".join(line.split()) for line in lines]
    (totals,) = [line for line in lines if line.startswith("passed of judged")]
    assert totals.split()[3:] == [f"{passing}/{passing}"] * 7


def test_totals_of_several_kinds_of_evidence_are_told_apart(make):
    verdicts = [
        make.verdict("rope-half", "mi300", evidence=Evidence.MEASURED),
        make.failed("softmax-1024", "mi300", Reason.CRASH, ""),
    ]
    text = " ".join(printed(make.data(verdicts)).split())
    assert "passed of judged 1/1 M 0/1 C" in text


def test_the_answer_comes_last_where_it_stays_in_sight(data, view):
    text = " ".join(printed(data).split())
    assert text.endswith(" ".join([*view.sentences, view.unknown]))


def test_signs_and_letters_are_explained(data):
    text = printed(data)
    for line in ("✓ pass:", "✗ fail:", "– skipped:", "! infra:", "E emulated:", "C compiled:", "· not judged yet"):
        assert line in text
    assert "M measured" not in text, "only what occurs"


@pytest.mark.parametrize("width", [30, 40, 60, 80, 200])
def test_platforms_that_do_not_fit_beside_each_other_go_below(make, width):
    chips = tuple(f"platform-{n}" for n in range(12))
    text = printed(make.run([make.verdict("rope-half", chip) for chip in chips], ["rope-half"], chips), width)
    assert max(map(cell_len, text.split("\n"))) <= width
    assert [chip for chip in chips if chip in text.split()] == list(chips)
    assert text.count("✓C") == 12


def test_a_long_run_shows_what_failed_and_counts_the_rest(make):
    kernels = [f"kernel-{n:04}" for n in range(2_000)]
    lost = set(kernels[500:550])
    verdicts = [
        make.failed(k, "mi300", Reason.CRASH, f"{k} died") if k in lost else make.verdict(k, "mi300") for k in kernels
    ]
    text = printed(make.run(verdicts, kernels, ("mi300",)))
    assert all(k in text for k in lost)
    assert "… and 1,940 more kernels in the report" in text
    assert "… and 30 more in the report" in text
    assert text.count("\n") < 150


def test_a_failure_is_told_with_all_its_platforms(data):
    text = printed(data)
    assert "✗ attention-flash on cpu, mi250, mi300, rx7900, a100 and h100: syntax-error" in text
    assert "    kernel.py:9: '(' was never closed; correct the line." in text


def test_cells_that_nothing_is_known_about_are_told_by_their_cause(make):
    lost = [
        make.unknown(kernel, "mi250", Status.SKIPPED, Reason.TOOLCHAIN_MISSING, "install triton")
        for kernel in ("rope-half", "bmm-batched")
    ]
    text = printed(make.data([*lost, make.unknown("rope-half", "h100", Status.INFRA, Reason.WORKER_LOST, "it died")]))
    assert "– 2 kernels on mi250: toolchain-missing\n    install triton" in text
    assert "! rope-half on h100: worker-lost\n    it died" in text


def test_nothing_judged_is_said_so(make):
    assert "Nothing has been judged yet." in printed(make.run([], ["rope-half"], ("mi300",)))
    assert "Nothing has been judged yet." in printed(make.run([], [], ()))


@pytest.mark.parametrize("text", [*hostile.TEXTS, hostile.LONG])
def test_hostile_text_moves_no_cursor(make, text):
    for options in ({}, {"force_terminal": True, "no_color": True, "highlight": False}):
        shown = printed(hostile.run(make, text), **options)
        shown.encode("utf-8")
        assert "\x1b[2J" not in shown
        assert "\x1b]" not in shown
        assert "\x00" not in shown
        assert len(shown) < 20_000


def test_markup_is_no_markup(make):
    assert "[bold red]markup[/]" in printed(hostile.run(make, "[bold red]markup[/]"))
