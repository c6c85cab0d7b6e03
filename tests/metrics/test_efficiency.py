from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelarena.metrics import cascade, performance_portability, retained, with_application_efficiency
from tests.metrics.frames import frame, lost, timed, timing_frame


def efficient(kernel, shares, **fields):
    return [
        {"kernel": kernel, "platform": platform, "architectural": share, **fields} for platform, share in shares.items()
    ]


def test_performance_portability_of_worked_examples():
    given_ = frame(
        # five platforms at 1, 0.8, 0.5, 1 and 0.2: 5 / (1 + 1.25 + 2 + 1 + 5) = 0.4878
        *efficient("latest", {"A": 1.0, "B": 0.8, "C": 0.5, "D": 1.0, "E": 0.2}),
        *efficient("best", dict.fromkeys("ABCDE", 1.0)),
        *efficient("partial", {"A": 1.0, "B": 0.8, "C": 0.5, "E": 0.2}),
        lost("partial", "D", "compile"),
        *efficient("thirty", dict.fromkeys("ABCDE", 0.3)),
    )
    found = performance_portability(given_).set_index("kernel")
    assert found["pp"].round(4).to_dict() == {"latest": 0.4878, "best": 1.0, "partial": 0.0, "thirty": 0.3}
    assert found["supported"].to_dict() == {"latest": 5, "best": 5, "partial": 4, "thirty": 5}
    assert (found["platforms"] == 5).all()


def test_what_is_not_known_is_not_zero():
    given_ = frame(
        *efficient("absent", {"p": 0.5}),
        *efficient("untimed", {"p": 0.5, "q": None}),
        *efficient("lost", {"p": 0.5}),
        {"kernel": "lost", "platform": "q", "status": "infra", "evidence": None},
        lost("fails", "p"),
        *efficient("fails", {"q": None}),
    )
    found = performance_portability(given_).set_index("kernel")
    assert [math.isnan(found.loc[name, "pp"]) for name in ("absent", "untimed", "lost")] == [True] * 3
    assert found.loc["fails", "pp"] == 0.0  # whatever q turns out to be
    assert found["unknown"].to_dict() == {"absent": 1, "untimed": 1, "lost": 1, "fails": 1}
    one = performance_portability(given_, platforms=["p"]).set_index("kernel")
    assert one.loc["absent", "pp"] == 0.5  # over one platform, it is the efficiency there


def test_kernels_of_several_tasks_and_evidence_apart():
    given_ = frame(
        *efficient("a", {"p": 0.5, "q": 0.25}, task="t"),
        *efficient("b", {"p": 1.0, "q": 1.0}, task="u"),
        *efficient("a", {"r": 1.0}, task="t", evidence="compiled"),
    )
    found = performance_portability(given_).to_dict("records")
    assert [(row["task"], row["kernel"], round(row["pp"], 4)) for row in found] == [("t", "a", 0.3333), ("u", "b", 1.0)]


@pytest.mark.parametrize("platforms", [[], ["p", "p"]])
def test_no_set_of_platforms(platforms):
    with pytest.raises(ValueError, match="no set of platforms"):
        performance_portability(frame(*efficient("a", {"p": 1.0})), platforms=platforms)


@pytest.mark.parametrize("share", [50.0, -0.1])
def test_a_percentage_is_no_share(share):
    with pytest.raises(ValueError, match=r"the efficiency .* of a on p is not from 0 to 1"):
        performance_portability(frame(*efficient("a", {"p": share})))


def test_the_cascade_falls_as_platforms_are_added():
    given_ = frame(*efficient("a", {"p": 0.2, "q": 0.8, "r": 0.5}), lost("a", "s"), *efficient("b", {"s": 1.0}))
    rows = cascade(given_).to_dict("records")
    own = [(row["n"], row["platform"], row["efficiency"], round(row["pp"], 4)) for row in rows if row["kernel"] == "a"]
    # 0.8; 2 / (1.25 + 2); 3 / (1.25 + 2 + 5); 0
    assert own == [(1, "q", 0.8, 0.8), (2, "r", 0.5, 0.6154), (3, "p", 0.2, 0.3636), (4, "s", 0.0, 0.0)]
    assert [row["platform"] for row in rows if row["kernel"] == "b"] == ["s"]


shares = st.dictionaries(st.sampled_from("pqrstu"), st.floats(1e-6, 1), min_size=1)


@settings(max_examples=30, deadline=None)
@given(st.lists(shares, min_size=1, max_size=5))
def test_the_cascade_ends_at_performance_portability(kernels):
    given_ = frame(*(row for i, own in enumerate(kernels) for row in efficient(f"k{i}", own)))
    found = performance_portability(given_)
    steps = cascade(given_)
    for row in found.to_dict("records"):
        own = steps[steps["kernel"] == row["kernel"]]
        assert own["n"].tolist() == list(range(1, len(own) + 1))
        assert own["efficiency"].is_monotonic_decreasing
        assert (own["pp"].diff().dropna() <= 1e-12).all()
        if row["unknown"] == 0:
            assert own["pp"].iloc[-1] == pytest.approx(row["pp"])


def test_application_efficiency_by_hand():
    cells = frame(
        {"kernel": "a", "platform": "p"},
        {"kernel": "b", "platform": "p"},
        {"kernel": "c", "platform": "p"},
        {"kernel": "a", "platform": "q"},
    )
    found = with_application_efficiency(
        cells,
        timing_frame(
            timed("a", "p", "s1", 2.0, 4.0),
            timed("b", "p", "s1", 1.0, 4.0),
            timed("c", "p", "s1", 0.1, 4.0, status="fail"),  # wrong, and no record
            timed("a", "p", "s2", 6.0, 3.0),  # the baseline is the best known
            timed("a", "p", "s3", 5.0, 5.0),
            timed("a", "q", "s1", 9.0, float("nan")),
        ),
    ).set_index(["kernel", "platform"])["application"]
    assert found["a", "p"] == 0.5  # the median of 1/2, 3/6 and 5/5
    assert found["b", "p"] == 1.0
    assert math.isnan(found["c", "p"])
    assert found["a", "q"] == 1.0


def test_application_efficiency_replaces_itself():
    cells = frame({"kernel": "a", "platform": "p"})
    once = with_application_efficiency(cells, timing_frame(timed("a", "p", "s", 2.0, 1.0)))
    again = with_application_efficiency(once, timing_frame(timed("a", "p", "s", 2.0, 2.0)))
    assert (once["application"].tolist(), again["application"].tolist()) == ([0.5], [1.0])
    assert performance_portability(once, "application")["pp"].tolist() == [0.5]


def test_retained_efficiency_is_over_matched_kernels():
    given_ = frame(
        *efficient("a", {"h": 0.8, "p": 0.4}, home="h", task="t"),
        *efficient("b", {"h": 0.5, "p": 0.5}, home="h", task="u"),
        *efficient("c", {"h": 0.9}, home="h"),
        lost("c", "p", home="h"),
        *efficient("d", {"p": 0.1}, home="h"),
        lost("d", "h", home="h"),
        *efficient("e", {"h": 0.1, "p": 0.2}),  # no home
        *efficient("f", {"p": 0.5, "h": 0.25}, home="p"),
    )
    found = retained(given_).set_index(["home", "platform"])
    assert found.loc[("h", "p"), "ratio"] == pytest.approx(math.sqrt(0.5))  # of 0.5 and 1
    assert found.loc[("h", "p"), "kernels"] == 2
    assert found.loc[("h", "p"), "low"] < found.loc[("h", "p"), "high"]
    assert found.loc[("p", "h"), "ratio"] == pytest.approx(0.5)
    assert math.isnan(found.loc[("p", "h"), "low"])
