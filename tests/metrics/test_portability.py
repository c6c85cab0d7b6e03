from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.metrics import Rate, Spread, portability, pp
from kernelarena.spec import Evidence, Reason

C, E = Evidence.COMPILED, Evidence.EMULATED
efficiencies = st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0, 1), min_size=1)
supported = st.dictionaries(st.text(min_size=1, max_size=3), st.floats(1e-300, 1), min_size=1)


def test_a_kernels_spread_keeps_its_evidence_apart(cell):
    cells = [
        cell("a", "p"),
        cell("a", "q", Reason.COMPILE_ERROR),
        cell("a", "cpu", evidence=E),
        cell("a", "r", Reason.WORKER_LOST),
        cell("b", "r", Reason.WORKER_LOST),
    ]
    found = portability(cells)
    assert found == {"a": {E: Spread(("cpu",), ()), C: Spread(("p",), ("q",))}, "b": {}}
    assert found["a"][C].rate == Rate(1, 2)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({"p": 1.0, "q": 1.0}, 1.0),
        ({"p": 0.5}, 0.5),
        ({"p": 1.0, "q": 0.5}, 2 / 3),  # 2 / (1 + 2)
        ({"p": 0.8, "q": 0.4, "r": 0.2}, 3 / 8.75),  # 1.25 + 2.5 + 5
        ({"p": 0.9, "q": None}, 0.0),
        ({"p": 0.9, "q": 0.0}, 0.0),
    ],
)
def test_pp_worked_by_hand(given_, expected):
    assert pp(given_) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("bad", [{}, {"p": float("nan")}, {"p": -0.1}, {"p": 1.01}, {"p": float("inf")}])
def test_pp_refuses_what_it_is_not_defined_for(bad):
    with pytest.raises(ValueError, match="not"):
        pp(bad)


@given(supported)
def test_pp_is_the_harmonic_mean(values):
    assert pp(values) == pytest.approx(statistics.harmonic_mean(list(values.values())), rel=1e-9)


@given(efficiencies)
def test_pp_lies_between_nothing_and_the_mean(values):
    assert 0 <= pp(values) <= statistics.fmean(values.values()) * (1 + 1e-12)


@given(supported, st.floats(0, 1))
def test_pp_never_falls_when_a_platform_gets_better(values, better):
    platform = next(iter(values))
    improved = {**values, platform: max(better, values[platform])}
    assert pp(improved) >= pp(values) * (1 - 1e-12)


@given(efficiencies)
def test_one_unsupported_platform_is_enough_for_zero(values):
    assert pp({**values, "another": None}) == 0.0
