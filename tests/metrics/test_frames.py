from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from kernelarena import metrics
from kernelarena.metrics import CELL_COLUMNS, TIMING_COLUMNS, cells, timings
from kernelarena.spec import (
    Efficiency,
    Evidence,
    Gate,
    Kernel,
    Language,
    Provenance,
    Reason,
    Resources,
    Shape,
    Speedup,
    Status,
    TimedShape,
)


def kernel(**provenance: object) -> Kernel:
    told = Provenance.model_validate(provenance)
    return Kernel(
        id="a",
        task="softmax",
        language=Language.TRITON,
        file="k.py",
        function="k",
        files={"k.py": ""},
        origin="k.py",
        provenance=told,
    )


def test_a_cell_is_a_row_and_what_is_unknown_is_missing(cell):
    resources = Resources(threads_per_block=256, warps=8, shared_memory=1024, spills=0, occupancy=0.5)
    measured = cell(
        "a",
        "p",
        evidence=Evidence.MEASURED,
        gate=Gate.HIDDEN,
        home="p",
        speedup=Speedup(median=1.5, ci=(1.4, 1.6), baseline="eager"),
        efficiency=Efficiency(architectural=0.7),
        resources=resources,
    )
    found = cells([measured, cell("b", "p", Reason.MISMATCH)], {"a": kernel(iterations=3, agent="x")})
    assert tuple(found.columns) == CELL_COLUMNS
    first = found.iloc[0]
    assert (first["speedup"], first["speedup_low"], first["speedup_high"], first["baseline"]) == (
        1.5,
        1.4,
        1.6,
        "eager",
    )
    assert (first["architectural"], first["spills"], first["iterations"], first["agent"]) == (0.7, 0, 3, "x")
    assert np.isnan(first["registers"])
    assert np.isnan(first["tokens"])
    second = found.iloc[1]
    assert (second["status"], second["reason"], second["home"], second["baseline"]) == ("fail", "mismatch", None, None)
    assert second[["speedup", "architectural", "iterations", "occupancy"]].isna().all()


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [({"input": 5, "output": 7}, 12.0), ({"input": 5}, None), ({"output": 7}, None), ({}, None)],
)
def test_half_of_the_tokens_is_not_the_price(cell, tokens, expected):
    found = cells([cell("a", "p")], {"a": kernel(tokens=tokens)})["tokens"].iloc[0]
    assert np.isnan(found) if expected is None else found == expected


def test_no_cells_are_a_frame_with_columns():
    assert list(cells([]).columns) == list(CELL_COLUMNS)
    assert list(timings([]).columns) == list(TIMING_COLUMNS)
    assert metrics.fast_p(cells([])).empty
    assert metrics.speedups(cells([])).empty
    assert metrics.performance_portability(cells([])).empty
    assert metrics.cascade(cells([])).empty
    assert metrics.retained(cells([])).empty
    assert metrics.kernel_gen_bench(cells([])).empty
    assert metrics.agent_friendliness(cells([])).empty
    assert metrics.agent_kernel_arena_score(cells([])).empty
    assert metrics.with_application_efficiency(cells([]), timings([])).empty


def test_every_timed_shape_is_a_row_and_untimed_ones_are_none(cell):
    shape = Shape(dims={"M": 2}, dtype="float32")
    verdict = cell(
        "a",
        "p",
        evidence=Evidence.MEASURED,
        timings=(
            TimedShape(shape=shape, kernel=2e-5, baseline=3e-5, noise=0.01, claim="faster", efficiency=0.4),
            TimedShape(shape=shape.with_(dtype="float16")),
        ),
    )
    (row,) = timings([verdict]).to_dict("records")
    assert (row["shape"], row["dtype"], row["seconds"], row["baseline_seconds"]) == (
        "M=2 float32",
        "float32",
        2e-5,
        3e-5,
    )
    assert (row["noise"], row["claim"], row["architectural"]) == (0.01, "faster", 0.4)
    assert np.isnan(row["speedup"])


@pytest.mark.parametrize(
    "metric",
    [
        metrics.fast_p,
        metrics.speedups,
        metrics.performance_portability,
        metrics.cascade,
        metrics.retained,
        metrics.kernel_gen_bench,
        metrics.agent_friendliness,
        metrics.agent_kernel_arena_score,
        lambda given: metrics.degradation(given, "p"),
        lambda given: metrics.with_application_efficiency(given, timings([])),
    ],
)
def test_what_is_no_frame_of_cells_is_refused(metric, cell):
    with pytest.raises(TypeError, match=r"expected a pandas\.DataFrame, not list"):
        metric([])
    with pytest.raises(ValueError, match="the frame lacks the column task"):
        metric(pd.DataFrame({"kernel": []}))
    twice = cells([cell("a", "p"), cell("a", "p", Reason.MISMATCH)])
    with pytest.raises(ValueError, match="two rows for a on p"):
        metric(twice)
    given = cells(
        [cell("a", "p", evidence=Evidence.MEASURED), cell("b", "p", Status.SKIPPED, reason=Reason.INTERRUPTED)]
    )
    before = given.copy(deep=True)
    metric(given)
    pd.testing.assert_frame_equal(given, before)  # a metric changes nothing


def test_counting_costs_no_pandas():
    script = "import sys, kernelarena.metrics as m; m.pass_rates(()); assert 'pandas' not in sys.modules; m.cells"
    subprocess.run([sys.executable, "-c", script], check=True)
    with pytest.raises(AttributeError, match="no attribute 'speed'"):
        metrics.speed  # noqa: B018
    assert {name for name in metrics.__all__ if not hasattr(metrics, name)} == set()
