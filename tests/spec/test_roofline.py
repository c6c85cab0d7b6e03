"""The least time of a shape, by hand and by its properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.spec import Platform, Shape, Task
from kernelarena.spec.roofline import Roof, Roofline, roofline

TASK = Task.model_validate(
    {
        "id": "product",
        "title": "A product",
        "kind": "matmul",
        "source": {"suite": "lab", "name": "product"},
        "signature": "product(a, b) -> c",
        "dtypes": ["float32", "float16"],
        "dims": {"M": {"max": 65536}, "K": {"max": 65536}},
        "visible": [{"M": 8, "K": 8}],
        "work": {"flops": "2*M*M*K", "bytes": "(2*M*K + M*M)*itemsize"},
    }
)


def chip(**fields: object) -> Platform:
    base = {
        "id": "chip",
        "title": "A chip",
        "vendor": "someone",
        "backend": "nobody",
        "arch": "none",
        "ray": {"resource": "platform:chip"},
        "source": {"title": "a data sheet"},
        "memory": {"bytes": 2**30, "bandwidth": 1e12, "cache_bytes": 2**20},
        "peak_flops": {"float16": 1e14},
    }
    return Platform.model_validate({**base, **fields})


def test_by_hand() -> None:
    shape = Shape(dims={"M": 1000, "K": 1}, dtype="float16")
    assert roofline(TASK, shape, chip()) == Roofline((2 * 1000 + 1000**2) * 2 / 1e12, Roof.MEMORY)
    shape = Shape(dims={"M": 1000, "K": 1000}, dtype="float16")
    assert roofline(TASK, shape, chip()) == Roofline(2e9 / 1e14, Roof.COMPUTE)


@pytest.mark.parametrize("memory", [None, {"bytes": 2**30, "cache_bytes": 2**20}])
def test_without_a_bandwidth_there_is_none(memory: dict[str, int] | None) -> None:
    assert roofline(TASK, Shape(dims={"M": 1000, "K": 1}, dtype="float16"), chip(memory=memory)) is None


def test_without_a_peak_for_the_dtype_memory_alone_binds() -> None:
    shape = Shape(dims={"M": 1000, "K": 1000}, dtype="float32")
    bound = roofline(TASK, shape, chip())
    assert bound is not None
    assert bound.roof is Roof.MEMORY
    assert bound.seconds == pytest.approx(12e6 / 1e12)


def test_without_memory_figures_there_is_no_bound() -> None:
    assert roofline(TASK, Shape(dims={"M": 8, "K": 8}, dtype="float16"), chip(memory=None)) is None


@given(m=st.integers(1, 65536), k=st.integers(1, 65536), factor=st.floats(1, 100))
def test_a_better_chip_is_never_slower_and_neither_roof_is_exceeded(m: int, k: int, factor: float) -> None:
    shape = Shape(dims={"M": m, "K": k}, dtype="float16")
    bound = roofline(TASK, shape, chip())
    faster = roofline(TASK, shape, chip(peak_flops={"float16": 1e14 * factor}))
    assert bound is not None
    assert faster is not None
    assert 0 < faster.seconds <= bound.seconds
    assert TASK.flops(shape) / bound.seconds <= 1e14 * (1 + 1e-12)
    assert TASK.bytes(shape) / bound.seconds <= 1e12 * (1 + 1e-12)
