from __future__ import annotations

import click
import pytest

from kernelarena.cli import lines as module
from kernelarena.cli.lines import Teller, width
from kernelarena.spec import Evidence, Gate, Location, Reason, Status, Tally
from tests.store.samples import verdict


def told(*verdicts, columns=80):
    teller = Teller(columns)
    return [line for found in verdicts for line in teller.lines(found)]


def test_a_failure_shows_what_its_reader_needs():
    shown = verdict(status=Status.FAIL, log="\n".join(f"line {n}" for n in range(40))).model_copy(
        update={
            "reason": Reason.MISMATCH,
            "evidence": Evidence.EMULATED,
            "gate": Gate.HIDDEN,
            "detail": "3 of 8 shapes differ\x1b[2J",
            "location": Location(file="k.py", line=3, text="    y = x"),
            "visible": Tally(passed=6, total=6),
            "notes": ("one configuration does not fit",),
        }
    )
    lines = told(shown)
    assert lines[0].endswith(" mi300: mismatch (emulated; hidden gate; visible 6/6)")
    assert "\x1b[2J" not in "".join(lines)
    assert "    k.py:3: y = x" in lines
    assert "    note: one configuration does not fit" in lines
    assert sum("| line" in line for line in lines) == module.LOG_LINES
    assert "line 39" in lines[-1]


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal_or_ends_in_a_space(columns):
    long = "a word and another, " * 40
    shown = verdict(status=Status.FAIL, log=f"  {long}\n\n{'x' * 300}").model_copy(
        update={"detail": long, "location": Location(file="k.py", line=3, text=long), "notes": (long,)}
    )
    unknown = verdict(status=Status.SKIPPED, platform="b580", detail=long)
    lines = [click.unstyle(line) for line in told(shown, unknown, columns=columns)]
    lines += Teller(columns).footer([shown, unknown])
    assert max(map(len, lines)) <= columns
    assert not [line for line in lines if line != line.rstrip()]
    assert " ".join(" ".join(lines).split()).count("a word and another") >= 40


def test_what_was_told_of_one_platform_is_not_told_again():
    same = [
        verdict(platform=platform, status=Status.FAIL, detail="it is wrong").model_copy(update={"notes": ("why",)})
        for platform in ("mi300", "h100")
    ]
    other = verdict(platform="a100", status=Status.FAIL, detail="it is wrong")
    text = "\n".join(told(*same, other))
    assert text.count("it is wrong") == 2
    assert text.count("    as on mi300") == 1
    assert text.index("h100: mismatch") < text.index("as on mi300") < text.index("a100: mismatch")


def test_a_log_with_nothing_to_say_is_left_out():
    shown = verdict(status=Status.FAIL, log="k.py:5: UserWarning: TRITON_DEFAULT_FP_FUSION is unset: so\n")
    assert len(told(shown)) == 1


def test_a_mark_is_shown_only_below_what_it_marks():
    shown = verdict(status=Status.FAIL, log=f"raise\n    x = f(1)\n        ^^^^\n{'y' * 76} + z\n{' ' * 77}^")
    text = "\n".join(click.unstyle(line) for line in told(shown))
    assert "    |     x = f(1)\n    |         ^^^^" in text
    assert text.count("^") == 4


def test_the_footer_keeps_evidence_and_toolchains_apart():
    found = [
        verdict(platform="mi300", toolchain="triton 3.9.0"),
        verdict(platform="h100", toolchain="triton 3.9.0"),
        verdict(platform="cpu", toolchain="interpreter").model_copy(update={"evidence": Evidence.EMULATED}),
        verdict(platform="b580", status=Status.SKIPPED),
    ]
    lines = list(Teller(200).footer(found))
    assert lines == [
        "  emulated: ran in emulation under that platform’s rules, not on a chip (interpreter)",
        "  compiled: built for that chip and held against its limits; never run (triton 3.9.0)",
        "  – skipped: could not be tried here; says nothing about the kernel",
    ]
    found[1] = verdict(platform="h100", toolchain="another 1.0")
    assert "(triton 3.9.0 for mi300; another 1.0 for h100)" in "\n".join(Teller(200).footer(found))


def test_the_width_is_that_of_the_terminal_or_eighty(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert width() == 100
    monkeypatch.setenv("COLUMNS", "3")
    assert width() == 40
