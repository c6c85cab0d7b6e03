from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.report.markdown import LIMIT, code, escape, fenced, render
from kernelarena.report.view import arrange
from kernelarena.spec import Reason
from tests.report import hostile


def test_it_opens_with_the_answer(view):
    text = render(view)
    assert text.startswith(
        "## Kernel portability: 12 kernels × 6 platforms\n\n7 of 12 kernels give right answers on cpu"
    )
    assert view.unknown in text


def test_the_matrix_has_a_line_for_each_kernel_and_the_totals(view):
    lines = [line for line in render(view).split("\n") if line.startswith("| ")]
    assert lines[0] == "| kernel | cpu | mi250 | mi300 | rx7900 | a100 | h100 |"
    assert "| `softmax-1024` | ✗ E | ✗ C | ✗ C | ✓ C | ✓ C | ✓ C |" in lines
    assert "| `rms-norm-residual` | ✓ E | ✓ C | ✓ C | ✓ C | ! | ✓ C |" in lines
    assert "| `layer-norm-two-pass` | ✓ E | ✓ C | ✓ C | ✓ C | ✓ C | · |" in lines
    assert lines[14].startswith("| **passed of judged** | **7/12** E | **7/11** C")
    assert {line.count("|") for line in lines[:15]} == {8}


def test_each_failure_folds_away(view):
    text = render(view)
    assert text.count("<details>") == text.count("</details>") == len(view.failures)
    assert "softmax\\_kernel (M=4096 N=1024 float16) needs 2048 threads per block" in text
    assert ">   20      softmax_kernel[(x.shape[0],)](x, y, x.stride(0), x.shape[1], BLOCK=1024, num_warps=32)" in text
    assert "kab-mc check examples/generated/softmax-1024 --platforms mi300" in text


def test_cells_that_nothing_is_known_about_are_told_by_their_cause(view):
    text = render(view)
    assert "- ! a100, 1 kernel: worker-lost. the worker died 3 times (out of memory)." in text
    assert "- – mi250, 1 kernel: toolchain-missing. triton without the AMD backend." in text


def test_a_large_run_still_fits_a_comment(make):
    kernels = [f"kernel-{n}" for n in range(2_000)]
    verdicts = [make.failed(k, "mi300", Reason.MISMATCH, f"{k} is wrong. " * 40, log="x" * 5_000) for k in kernels]
    text = render(arrange(make.run(verdicts, kernels, ("mi300",))))
    assert len(text) <= LIMIT
    assert "… and 1,900 more kernels in the full report." in text
    left = re.search(r"… and ([\d,]+) more failures in the full report\.", text)
    assert int(left[1].replace(",", "")) + text.count("<details>") == 2_000
    assert text.count("<details>") == text.count("</details>") > 5


def test_kernels_that_lose_something_are_shown_before_those_that_do_not(make):
    kernels = [f"kernel-{n:04}" for n in range(500)]
    verdicts = [make.verdict(k, "mi300") for k in kernels[:-1]] + [make.failed(kernels[-1], "mi300", Reason.CRASH, "")]
    assert "| `kernel-0499` | ✗ C |" in render(arrange(make.run(verdicts, kernels, ("mi300",))))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b *c* `d` [e](f) ~g~ |", "a\\_b \\*c\\* \\`d\\` \\[e\\](f) \\~g\\~ \\|"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("ask @octocat, see #12", "ask @<!-- -->octocat, see #<!-- -->12"),
        ("http://x www.y", "http:<!-- -->//x www.<!-- -->y"),
        ("# a", "\\# a"),
        ("- a", "\\- a"),
        ("1. a", "1\\. a"),
        ("costs $5$", "costs \\$5\\$"),
        ("two\nlines", "two lines"),
    ],
)
def test_text_loses_every_meaning_but_its_own(text, shown):
    if "://" in text:  # the comment goes after what would have made the link
        shown = "http://<!-- -->x www.<!-- -->y"
    assert escape(text) == shown


@given(st.text(alphabet="`a\n|~", max_size=60))
def test_a_code_block_ends_where_we_end_it(text):
    first, *body, last = fenced(text).split("\n")
    assert first == last
    assert re.fullmatch("`{3,}", first)
    assert not [line for line in body if re.match(f"`{{{len(first)},}}", line)]


@given(st.text(alphabet="`a|", max_size=30))
def test_a_code_span_ends_where_we_end_it(text):
    ticks = re.match("`+", code(text))[0]
    inside = code(text)[len(ticks) : -len(ticks)]
    if "`" in text:
        assert len(ticks) not in {len(run) for run in re.findall("`+", inside)}
    assert not re.search(r"(?<!\\)\|", inside), "a bar would end the table's cell"


@pytest.mark.parametrize("text", hostile.TEXTS)
def test_hostile_text_is_shown_as_text(make, text):
    written = render(arrange(hostile.run(make, text)))
    written.encode("utf-8")
    prose = re.sub(r"^(`{3,})\w*\n.*?^\1$", "", written, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", prose)
    tags = set(re.findall(r"<(?!!--)/?([^\s>]+)", prose))
    assert tags <= {"details", "summary", "b", "sub", "br"}
    assert not re.search(r"@\w|(?<!\\)!\[|://\w", prose)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", written)


def test_ten_megabytes_in_every_field_still_fit(make):
    assert len(render(arrange(hostile.run(make, hostile.LONG)))) <= LIMIT
