from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelarena.metrics import _bootstrap, agent_friendliness, fast_p, kernel_gen_bench, speedups
from tests.metrics.frames import frame, lost

MIXED = frame(
    {"kernel": "a", "platform": "p", "speedup": 2.0, "task": "t"},
    {"kernel": "b", "platform": "p", "speedup": 1.0, "task": "u"},
    {"kernel": "c", "platform": "p", "speedup": 0.5, "task": "v"},
    {"kernel": "d", "platform": "p", "task": "v"},  # passed, untimed
    lost("e", "p", "compile"),
    lost("f", "p", "hidden", speedup=9.0),  # fast and wrong
    {"kernel": "g", "platform": "p", "status": "infra", "evidence": None},
    {"kernel": "h", "platform": "p", "evidence": "compiled"},
    {"kernel": "a", "platform": "q", "speedup": 1.6, "task": "t"},
)


def test_failures_stay_in_the_denominator_of_fast_p():
    found = fast_p(MIXED, (0.0, 0.8, 1.0, 2.0)).set_index(["platform", "p"])
    # six measured cells on p: 2.0, 1.0, 0.5, untimed, two failures
    assert found.loc["p", "fast"].tolist() == [3, 2, 1, 0]  # strictly greater: 1.0 is not faster than 1
    assert found.loc["p", "total"].tolist() == [6] * 4
    assert found.loc["p", "untimed"].tolist() == [1] * 4
    assert found.loc["p", "share"].tolist() == [3 / 6, 2 / 6, 1 / 6, 0]
    assert found.loc[("q", 1.0), "share"] == 1.0
    (row,) = fast_p(MIXED, (1.0,), by=()).to_dict("records")
    assert (row["fast"], row["total"]) == (2, 7)


def test_zero_successes_are_a_share_of_zero_and_no_mean():
    none = frame(lost("a", "p"), lost("b", "p"))
    assert fast_p(none, (1.0,))["share"].tolist() == [0.0]
    (row,) = speedups(none).to_dict("records")
    assert (row["cells"], row["judged"], row["tasks"]) == (0, 2, 0)
    assert math.isnan(row["geometric_mean"])
    assert math.isnan(row["median_low"])


def test_speedups_over_different_things_have_no_mean():
    beside = ("pytorch-eager", "shipped:softmax-triton", "shipped:add-triton")
    eager, softmax, add = (
        {"kernel": name, "platform": "p", "speedup": 2.0, "baseline": name, "task": name} for name in beside
    )
    assert speedups(frame(softmax, add))["cells"].tolist() == [2], "each beside the kernel that comes with its task"
    for mean in (speedups, fast_p, kernel_gen_bench):
        with pytest.raises(ValueError, match="speedups over pytorch-eager and shipped have no mean"):
            mean(frame(softmax, eager))
        assert len(mean(frame(softmax, {**eager, "platform": "q"}))), "on another platform they stand apart anyway"
    with pytest.raises(ValueError, match="have no mean"):
        agent_friendliness(frame({**softmax, "home": "p"}, {**eager, "home": "p"}))


@pytest.mark.parametrize("p", [-0.1, float("nan")])
def test_no_threshold(p):
    with pytest.raises(ValueError, match="is no threshold"):
        fast_p(MIXED, (p,))


def test_means_are_over_the_stated_subset():
    row = speedups(MIXED).set_index("platform").loc["p"]
    assert (row["cells"], row["judged"], row["tasks"]) == (3, 6, 3)
    assert row["geometric_mean"] == pytest.approx(1.0)  # (2 × 1 × 0.5)^(1/3)
    assert row["median"] == 1.0
    assert 0.5 <= row["geometric_mean_low"] <= 1.0 <= row["geometric_mean_high"] <= 2.0
    one = speedups(MIXED).set_index("platform").loc["q"]
    assert one["geometric_mean"] == pytest.approx(1.6)
    assert math.isnan(one["geometric_mean_low"])  # of one task, nothing is known about the next


def test_evidence_is_not_mixed():
    compiled = frame({"kernel": "a", "platform": "p", "evidence": "compiled", "speedup": 5.0})
    assert fast_p(compiled).empty
    assert speedups(compiled).empty


positive = st.floats(1e-3, 1e3)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(positive, st.integers(0, 5), st.booleans()), min_size=1, max_size=40))
def test_fast_p_never_rises_with_p_and_never_exceeds_the_pass_rate(cells):
    given_ = frame(
        *(
            {"kernel": f"k{i}", "platform": "p", "task": f"t{t}", "speedup": s} if right else lost(f"k{i}", "p")
            for i, (s, t, right) in enumerate(cells)
        )
    )
    shares = fast_p(given_, (0.0, 0.5, 1.0, 2.0))["share"].tolist()
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == sum(right for _, _, right in cells) / len(cells)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(positive, st.integers(0, 3)), min_size=1, max_size=30), st.floats(0.1, 10))
def test_the_geometric_mean_scales_and_inverts(cells, factor):
    def mean(change):
        rows = (
            {"kernel": f"k{i}", "platform": "p", "task": f"t{t}", "speedup": change(s)}
            for i, (s, t) in enumerate(cells)
        )
        return speedups(frame(*rows), replicates=50)["geometric_mean"].iloc[0]

    plain = mean(lambda s: s)
    assert mean(lambda s: s * factor) == pytest.approx(plain * factor)
    assert mean(lambda s: 1 / s) == pytest.approx(1 / plain)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(positive, st.integers(0, 4)), min_size=1, max_size=12))
def test_weighted_statistics_are_those_of_the_repeated_values(pairs):
    values = np.sort(np.array([value for value, _ in pairs]))
    weights = np.array([[weight + 1 for _, weight in pairs]])
    repeated = np.repeat(values, weights[0])
    assert _bootstrap.median(values, weights)[0] == np.median(repeated)
    assert _bootstrap.geometric_mean(values, weights)[0] == pytest.approx(np.exp(np.log(repeated).mean()))


def test_intervals_cover_as_often_as_they_say():
    """200 draws of 40 tasks with 3 kernels each, alike within a task: 95 % intervals over tasks, not over kernels."""
    rng = np.random.default_rng(7)
    covered = {"tasks": 0, "kernels": 0}
    for draw in range(200):
        of = np.repeat(np.arange(40), 3)
        values = np.exp(rng.normal(0, 0.3, 40)[of] + rng.normal(0, 0.05, 120))
        for name, groups in (("tasks", of), ("kernels", np.arange(120))):
            found = _bootstrap.over_tasks(
                _bootstrap.geometric_mean, values, groups.astype(object), replicates=400, seed=draw
            )
            covered[name] += found.low <= 1.0 <= found.high
    assert 0.89 <= covered["tasks"] / 200 <= 0.99
    assert covered["kernels"] / 200 < 0.85  # what resampling kernels would have claimed


def test_large_samples_are_resampled_in_pieces(monkeypatch):
    values, tasks = np.linspace(0.5, 2, 60), np.array([f"t{i % 7}" for i in range(60)], dtype=object)
    whole = _bootstrap.over_tasks(_bootstrap.median, values, tasks, replicates=500)
    monkeypatch.setattr(_bootstrap, "_ROOM", 60 * 17)
    pieces = _bootstrap.over_tasks(_bootstrap.median, values, tasks, replicates=500)
    assert whole == pieces


@pytest.mark.parametrize("values", [[], [0.0], [-1.0], [float("nan")], [float("inf")]])
def test_no_ratios(values):
    with pytest.raises(ValueError, match="at least one value"):
        _bootstrap.over_tasks(_bootstrap.median, np.array(values), np.array(["t"] * len(values), dtype=object))
    with pytest.raises(ValueError, match="a confidence is between 0 and 1"):
        _bootstrap.over_tasks(_bootstrap.median, np.ones(1), np.array(["t"], dtype=object), confidence=1.0)


def test_what_only_looks_at_memory_otherwise_is_in_no_figure_of_speed():
    cells = frame(
        {"kernel": "a", "platform": "p", "speedup": 2.0, "has_speed": True},
        {"kernel": "view", "platform": "p", "has_speed": False},
    )
    (row,) = fast_p(cells, [1.0]).to_dict("records")
    assert (row["fast"], row["total"], row["untimed"]) == (1, 1, 0)
    assert speedups(cells)["judged"].tolist() == [1]
