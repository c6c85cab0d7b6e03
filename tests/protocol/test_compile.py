"""The decision, from events alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelarena.protocol.compile import decide
from kernelarena.protocol.compile_job import CompileJob
from kernelarena.spec import Reason, Status
from tests.protocol.gate import PLATFORMS, TASK, call_of, kernel_of

JOB = CompileJob(
    kernel=kernel_of("line one\nline two\n"), platform=PLATFORMS["mi300"], calls=(call_of(), call_of(dtype="float32"))
)
COMPILING = {
    "event": "compiling", "number": 0, "kernel": "k", "signature": "x: *fp16", "warps": 4, "stages": 2,
    "tuning": False, "file": "kernel.py", "line": 2,
}  # fmt: skip
COMPILED = {"event": "compiled", "number": 0, "seconds": 0.5, "warps": 4, "shared": 1024, "registers": 64}
LAUNCH = {"event": "launch", "number": 0, "grid": [8, 1, 1]}
END = {"event": "ended"}


def begins(index):
    return {"event": "call-begins", "index": index}


def ends(index, **changes):
    return {
        "event": "call-ends", "index": index, "outputs": [{"dtype": "float16", "size": [64, 1024]}],
        "derived": [True], "launches": [[0, 1]], "launched_elements": 1000,
    } | changes  # fmt: skip


GOOD = [begins(0), COMPILING, COMPILED, LAUNCH, ends(0), begins(1), ends(1), END]


def decide_on(events, **how):
    return decide(JOB, TASK, events, **({"exit_code": 0} | how))


def test_a_good_story_passes():
    decision = decide_on(GOOD)
    assert decision.status is Status.PASS
    assert decision.launches[0].count == 2
    assert decision.launches[0].location.text == "line two"
    assert decision.resources.occupancy == 1


@pytest.mark.parametrize(
    ("events", "what"),
    [
        ([*GOOD, begins(0)], "more after it had ended"),
        ([begins(0), COMPILING, COMPILING], "specialisation 0 twice"),
        ([COMPILED], "specialisation 0, which it never compiled"),
        ([begins(2)], "call 2, which was not due"),
        ([begins(0), begins(1)], "call 1, which was not due"),
        ([begins(0), ends(0, launches=[]), begins(0)], "call 0, which was not due"),
        ([ends(0)], "the end of call 0, which had not begun"),
        ([begins(0), ends(0)], "launches of specialisation 0, which it never compiled"),
        ([begins(0), COMPILING, COMPILED, ends(0), END], "the end, but not the call with M=64 N=1024 float32"),
        (["pass"], "an event of unknown form"),
        ([{"event": "passed"}], "an event of unknown form"),
        ([begins(0) | {"verdict": "pass"}], "an event of unknown form"),
        ([COMPILING | {"number": -1}], "an event of unknown form"),
        ([begins(0), COMPILING, COMPILED | {"seconds": float("inf")}], "an event of unknown form"),
        ([COMPILING | {"kernel": "k" * 10_000}], "an event of unknown form"),
    ],
)
def test_events_that_cannot_have_happened_are_tampering(events, what):
    decision = decide_on(events)
    assert decision.reason is Reason.JUDGE_TAMPERING
    assert what in decision.detail


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)


@given(st.lists(st.sampled_from(GOOD) | junk, max_size=12))
@settings(deadline=None, max_examples=300)
def test_no_sequence_of_events_breaks_the_judge(events):
    decision = decide_on(events)
    assert (decision.status is Status.PASS) == (decision.reason is None)
    assert decision.status is not Status.PASS or len(events) >= len(GOOD)


@given(st.integers(0, len(GOOD) - 1), st.booleans())
@settings(deadline=None)
def test_a_story_cut_short_never_passes(length, timed_out):
    decision = decide_on(GOOD[:length], timed_out=timed_out, exit_code=-9)
    assert decision.reason in (Reason.COMPILE_TIMEOUT, Reason.COMPILE_ERROR, Reason.CRASH)
    assert (decision.reason is Reason.COMPILE_TIMEOUT) == timed_out


def test_a_timeout_says_what_was_being_compiled():
    decision = decide_on([begins(0), COMPILING], timed_out=True, deadline=120.0)
    assert decision.detail == (
        "the compile gate did not end within 120 s: it was at specialisation 1, k (M=64 N=1024 float16); compile "
        "fewer or smaller ones"
    )
    assert decision.location.line == 2
    in_host_code = decide_on([begins(0)], timed_out=True)
    assert "did not return in time from the call with M=64 N=1024 float16" in in_host_code.detail
    assert "not imported" in decide_on([], timed_out=True).detail


def test_a_compiler_that_aborts_is_a_compile_error_with_its_last_words():
    log = "noise\nLLVM ERROR: Cannot select: intrinsic %llvm.nvvm.something\nmore noise"
    decision = decide_on([begins(0), COMPILING], exit_code=-6, log=log)
    assert decision.reason is Reason.UNSUPPORTED_FEATURE
    assert "the compiler was ended by SIGABRT" in decision.detail
    assert "Cannot select: intrinsic" in decision.detail
    plain = decide_on([begins(0), COMPILING], exit_code=-11, log="")
    assert plain.reason is Reason.COMPILE_ERROR


def test_a_launch_over_limits_fails_even_if_the_toolchain_let_it_pass():
    events = [COMPILED | {"shared": 70_000} if event is COMPILED else event for event in GOOD]
    decision = decide_on(events)
    assert decision.reason is Reason.RESOURCE_EXCEEDED
    assert "needs 70000 bytes (68.36 KiB) of shared memory per block; mi300 allows 65536 bytes" in decision.detail
    assert (decision.visible.passed, decision.visible.total) == (0, 2)


def test_registers_that_leave_room_for_no_block_are_too_many():
    events = [COMPILED | {"warps": 16, "registers": 512} if event is COMPILED else event for event in GOOD]
    decision = decide_on(events)
    assert decision.reason is Reason.RESOURCE_EXCEEDED
    assert "no such block fits a multiprocessor of mi300" in decision.detail


def test_spills_are_a_note():
    events = [COMPILED | {"spills": 12} if event is COMPILED else event for event in GOOD]
    decision = decide_on(events)
    assert decision.status is Status.PASS
    assert decision.notes == ("k spills up to 12 registers per thread to memory",)


def test_places_outside_the_kernel_are_not_shown():
    events = [event | {"file": "/etc/passwd"} if event is COMPILING else event for event in GOOD]
    assert decide_on(events).launches[0].location is None
    events = [event | {"line": 999} if event is COMPILING else event for event in GOOD]
    assert decide_on(events).launches[0].location.text == ""
