from __future__ import annotations

import math

import pytest

from kernelarena.metrics import agent_friendliness, agent_kernel_arena_score, degradation, kernel_gen_bench
from tests.metrics.frames import frame, lost


def test_agent_kernel_arenas_score():
    given_ = frame(
        {"kernel": "fast", "platform": "p", "speedup": 2.5},
        {"kernel": "untimed", "platform": "p"},
        lost("broken", "p", "compile"),
        lost("wrong", "p", "correctness"),
        lost("tampers", "p", "timing", speedup=50.0),
        lost("misled", "p", "hidden", speedup=1.5),  # right on what that suite looks at
        {"kernel": "built", "platform": "p", "evidence": "compiled"},
        {"kernel": "gone", "platform": "p", "status": "infra", "evidence": None},
    )
    score = agent_kernel_arena_score(given_)
    told = dict(zip(given_.loc[score.index, "kernel"], score, strict=True))
    assert told == {"fast": 370.0, "untimed": 120.0, "broken": 0.0, "wrong": 20.0, "tampers": 120.0, "misled": 270.0}


BENCH = frame(
    {"kernel": "a1", "platform": "p", "task": "t", "speedup": 4.0},
    {"kernel": "a2", "platform": "p", "task": "t", "speedup": 1.0},
    {"kernel": "b1", "platform": "p", "task": "u", "speedup": 0.5},
    lost("b2", "p", task="u"),
    lost("c1", "p", task="v"),
    {"kernel": "d1", "platform": "p", "task": "w"},
    {"kernel": "a1", "platform": "q", "task": "t"},
    lost("b1", "q", task="u"),
    lost("c1", "q", task="v"),
    {"kernel": "x1", "platform": "q", "task": "x"},  # not judged on p
    {"kernel": "a1", "platform": "r", "task": "t", "evidence": "compiled"},
)


def test_kernel_gen_bench_by_hand():
    found = kernel_gen_bench(BENCH).set_index("platform")
    assert found.loc["p", ["tasks", "solved", "accuracy"]].tolist() == [4, 3, 0.75]
    assert found.loc["p", "speedup"] == pytest.approx(1.0)  # tasks give 2 and 0.5, however many kernels each has
    assert math.isnan(found.loc["q", "speedup"])
    assert found["evidence"].to_dict() == {"p": "measured", "q": "measured", "r": "compiled"}


def test_degradation_by_hand():
    (row,) = degradation(BENCH, "p").to_dict("records")  # r has no evidence in common with p
    assert (row["platform"], row["tasks"]) == ("q", 3)  # t, u and v
    assert (row["reference_accuracy"], row["accuracy"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert (row["drop"], row["degradation"]) == (pytest.approx(1 / 3), pytest.approx(1 / 2))
    nothing = frame(lost("a", "p"), {"kernel": "a", "platform": "q"})
    assert math.isnan(degradation(nothing, "p")["degradation"].iloc[0])
    assert degradation(nothing, "p")["drop"].iloc[0] == -1.0
    with pytest.raises(ValueError, match="nothing was judged on z"):
        degradation(BENCH, "z")


def test_friendliness_counts_what_failures_cost():
    given_ = frame(
        {
            "kernel": "a",
            "platform": "p",
            "home": "p",
            "iterations": 4,
            "tokens": 100,
            "hidden_total": 8,
            "speedup": 2.0,
        },
        lost("b", "p", "hidden", home="p", iterations=6, hidden_total=8),
        {
            "kernel": "c",
            "platform": "p",
            "home": "p",
            "hidden_total": 0,
            "speedup": 0.5,
        },  # hidden gate off, price unknown
        {"kernel": "d", "platform": "p", "home": "q", "iterations": 1},
        lost("e", "p", home="q"),
        {"kernel": "f", "platform": "p"},  # at home nowhere
    )
    found = agent_friendliness(given_).set_index("origin")
    assert found["platform"].tolist() == ["p", "p"]
    written, carried = found.loc["written"], found.loc["carried"]
    assert (written["judged"], written["passed"], written["success"]) == (3, 2, pytest.approx(2 / 3))
    assert written["hidden_success"] == 0.5  # of a and b
    assert written["speedup"] == pytest.approx(1.0)
    assert (written["iterations_per_success"], written["iterations_known"]) == (10.0, 2)
    assert (written["tokens_per_success"], written["tokens_known"]) == (100.0, 1)
    assert (carried["success"], carried["iterations_per_success"]) == (0.5, 1.0)
    assert math.isnan(carried["tokens_per_success"])
    assert carried["tokens_known"] == 0
    assert math.isnan(carried["hidden_success"])  # neither reached the gate


def test_a_price_without_a_success_is_unknown():
    found = agent_friendliness(frame(lost("a", "p", home="p", iterations=9)))
    assert math.isnan(found["iterations_per_success"].iloc[0])
    assert found["success"].tolist() == [0.0]
    compiled = agent_friendliness(frame({"kernel": "a", "platform": "p", "home": "p", "evidence": "compiled"}))
    assert math.isnan(compiled["hidden_success"].iloc[0])
