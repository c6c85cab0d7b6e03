from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.report.text import (
    brief,
    clean,
    duration,
    joined,
    listing,
    one_line,
    percent,
    plural,
    size,
    times,
    worth_reading,
)

anything = st.text(alphabet=st.characters(exclude_categories=()), max_size=400)
hostile = st.lists(
    st.sampled_from(
        ["\x1b[31m", "\x1b]8;;http://x\x07", "\x1b", "\x00", "\r\n", "\r", "\ud800", "\u202e", "a", "\n", "<b>", "\x9b"]
    )
).map("".join)


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x00b\x07c", "a␀b␇c"),
        ("one\r\ntwo", "one\ntwo"),
        ("10 %\r20 %", "10 %␍20 %"),
        ("\ud800", "\ufffd"),
        ("access\u202egranted", "access⟨U+202E⟩granted"),
        ("zero\u200bwidth\ufeff", "zero⟨U+200B⟩width⟨U+FEFF⟩"),
        ("\x9b31m", "⟨U+009B⟩31m"),
        ("tab\tand <b>", "tab\tand <b>"),
        ("Grüße 你好 ✓", "Grüße 你好 ✓"),
        (17, "17"),
    ],
)
def test_what_becomes_of_dangerous_text(given_, shown):
    assert clean(given_) == shown


@given(anything | hostile)
def test_cleaned_text_has_nothing_that_acts(text):
    cleaned = clean(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]", cleaned)
    cleaned.encode("utf-8")


@given(anything | hostile, st.integers(10, 60), st.integers(10, 60), st.sampled_from(["start", "end"]))
def test_cleaning_keeps_its_limits_and_is_done_once(text, limit, width, keep):
    cleaned = clean(text, limit=limit, width=width, keep=keep)
    assert len(cleaned) <= limit
    assert all(len(line) <= width for line in cleaned.split("\n"))
    assert clean(cleaned, limit=limit, width=width, keep=keep) == cleaned


def test_what_is_cut_says_so_and_keeps_the_end_that_matters():
    text = "first" + "x" * 100 + "last"
    assert clean(text, limit=20) == "first" + "x" * 13 + " …"
    assert clean(text, limit=20, keep="end") == "… " + "x" * 14 + "last"
    assert clean("short\n" + "y" * 100, width=10) == "short\n" + "y" * 8 + " …"


def test_ten_megabytes_in_a_line_cost_nothing_to_speak_of():
    begun = time.process_time()
    assert len(clean("\x1b[31m\x00A" * 1_500_000, limit=1_000)) <= 1_000
    assert time.process_time() - begun < 5  # a quadratic rule would take minutes


def test_one_line_is_one_line():
    assert one_line("  a\n\tb \n") == "a b"
    assert len(one_line("word " * 10_000, limit=50)) == 50


@pytest.mark.parametrize(
    ("bytes_", "words"),
    [
        (None, "–"),
        (0, "0 B"),
        (1000, "1,000 B"),
        (1024, "1 KiB"),
        (65536, "64 KiB"),
        (166912, "163 KiB"),
        (2560 * 1024, "2.5 MiB"),
    ],
)
def test_sizes(bytes_, words):
    assert size(bytes_) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.42, "0.4 s"), (12.2, "12 s"), (59.9, "1 min"), (200, "3 min 20 s"), (7500, "2 h 5 min")],
)
def test_durations(seconds, words):
    assert duration(seconds) == words


WARNING = (
    "lib/triton/knobs.py:504: UserWarning: TRITON_DEFAULT_FP_FUSION is unset: defaulting to FP fusion ENABLED.\n"
    "  warn_once(FP_FUSION_DEFAULT_WARNING)\n"
)


@pytest.mark.parametrize(
    ("log", "rest"),
    [
        (WARNING, ""),
        (WARNING.rstrip(), ""),
        (WARNING * 2 + "\n \n", ""),
        (" \n", ""),
        (f"before\n{WARNING}error: after\n  ^\n", "before\nerror: after\n  ^\n"),
        ("k.py:3: UserWarning: mine\n  warn()\n", "k.py:3: UserWarning: mine\n  warn()\n"),
        ("    print(TRITON_DEFAULT_FP_FUSION)\n", "    print(TRITON_DEFAULT_FP_FUSION)\n"),
    ],
)
def test_what_the_toolchain_always_says_is_not_worth_reading(log, rest):
    assert worth_reading(log) == rest


def test_words_for_numbers_and_lists():
    assert (plural(1, "kernel"), plural(2000, "kernel")) == ("1 kernel", "2,000 kernels")
    assert plural(2, "launch", "launches") == "2 launches"
    assert (listing(["a"]), listing(["a", "b"]), listing(["a", "b", "c"])) == ("a", "a and b", "a, b and c")
    assert listing([]) == ""
    assert joined(["a", None, "", "b"]) == "a · b"


@pytest.mark.parametrize(
    ("share", "words"), [(None, "–"), (0.0, "0 %"), (0.001, "1 %"), (0.5, "50 %"), (0.999, "99 %"), (1.0, "100 %")]
)
def test_a_percentage_never_rounds_up_to_all_or_down_to_nothing(share, words):
    assert percent(share) == words


def test_what_is_unknown_is_a_dash():
    assert [brief(seconds) for seconds in (1.234e-5, 0.0123456, None)] == ["12.3 µs", "12.35 ms", "–"]
    assert [times(ratio) for ratio in (1.255, 12.0, None, float("nan"))] == ["1.25 ×", "12.00 ×", "–", "–"]
