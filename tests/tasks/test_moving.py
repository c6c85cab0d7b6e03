"""References of operators that move elements, make tensors or look at them otherwise, against their formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelarena.protocol import distribution
from kernelarena.spec import Layout
from kernelarena.spec.task import Aspect
from tests.tasks.conftest import TASKS, operator
from tests.tasks.test_definitions import drawn

Array = np.ndarray


def scattered(x: Array, index: Array, source: Array) -> Array:
    y = x.copy()
    for row, column in np.ndindex(*index.shape):
        y[row, index[row, column]] = source[row, column]
    return y


def added(x: Array, index: Array, values: Array) -> Array:
    return x + np.array([values[index == row].sum(0) for row in range(len(x))])


def put(x: Array, index: Array, values: Array) -> Array:
    rows = dict(zip(index.tolist(), values, strict=True))
    return np.array([rows.get(row, old) for row, old in enumerate(x)])


def patches(x: Array, kernel: int, dilation: int, padding: int, stride: int) -> Array:
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    reach = dilation * (kernel - 1) + 1
    seen = np.lib.stride_tricks.sliding_window_view(x, (reach, reach), axis=(2, 3))
    seen = seen[:, :, ::stride, ::stride, ::dilation, ::dilation]
    return seen.transpose(0, 1, 4, 5, 2, 3).reshape(len(x), x.shape[1] * kernel * kernel, -1)


def enlarged(grad: Array, scale: int) -> Array:
    B, C, H, W = grad.shape
    return grad.reshape(B, C, H // scale, scale, W // scale, scale).sum((3, 5))


def mirrored(grad: Array, left: int, right: int) -> Array:
    width = grad.shape[1] - left - right
    came_from = np.pad(np.arange(width), (left, right), mode="reflect")
    return grad @ np.eye(width)[came_from]


def grid(theta: Array, height: int, width: int, align_corners: bool) -> Array:
    def centres(size: int) -> Array:
        return np.linspace(-1, 1, size) if align_corners else (2 * np.arange(size) + 1) / size - 1

    y, x = np.meshgrid(centres(height), centres(width), indexing="ij")
    return np.einsum("bij,hwj->bhwi", theta, np.stack((x, y, np.ones_like(x)), -1))


def one_slice(grad: Array, size: int, index: int) -> Array:
    return grad[:, None, :] * (np.arange(size) == index)[:, None]


MOVED: dict[str, Callable[..., Array]] = {
    "embedding": lambda weight, ids: np.eye(len(weight))[ids] @ weight,
    "index_select": lambda x, index: np.eye(len(x))[index] @ x,
    "index": lambda x, columns: x @ np.eye(x.shape[1])[columns].T,
    "gather": lambda x, index: np.take_along_axis(x, index, 1),
    "scatter": scattered,
    "index_put": put,
    "index_put_impl": added,
    "cat": lambda x, y: np.hstack((x, y)),
    "stack": lambda x, y: np.dstack((x, y)),
    "rot90": lambda x, k: np.rot90(x, k, (1, 2)),
    "select_backward": one_slice,
    "im2col": patches,
    "upsample_nearest2d_backward": enlarged,
    "reflection_pad1d_backward": mirrored,
    "affine_grid_generator": grid,
    "zeros": lambda like, rows, columns: np.zeros((rows, columns)),
    "new_ones": lambda like, rows, columns: np.ones((rows, columns)),
    "full": lambda like, rows, columns, value: value + np.zeros((rows, columns)),
    "zeros_like": lambda like: 0 * like,
    "ones_like": lambda like: 0 * like + 1,
    "arange": lambda like, start, size, step: start + step * np.arange(size),
    "scalar_tensor": lambda like, value: np.float64(value),
    "t": np.transpose,
    "expand": lambda x, columns: np.tile(x, columns),
    "expand_as": lambda x, other: np.tile(x, (len(other), 1)),
    "contiguous": np.copy,
    "reshape": lambda x, width: np.concatenate(list(x.transpose(1, 0, 2)), 1),
    "resolve_conj": np.conj,
    "resolve_neg": np.positive,
    "unsqueeze": np.expand_dims,
    "narrow": lambda x, start, length: x[:, start : start + length],
    "select": lambda x, index: x[:, index],
    "as_strided": lambda x, frames, width, step: np.lib.stride_tricks.sliding_window_view(x, width)[::step],
    "item": lambda x, row, column: x[row, column],
    "local_scalar_dense": lambda x, row, column: x[row, column],
}
"""What each operator gives, written by other means than its reference."""


@pytest.mark.parametrize("layout", [Layout.CONTIGUOUS, Layout.STRIDED])
@pytest.mark.parametrize("name", MOVED)
def test_elements_are_where_the_formula_says(name: str, layout: Layout) -> None:
    op = operator(name)
    arrays, (y,) = drawn(name, op.task.dtypes[0], layout=layout)
    np.testing.assert_allclose(y, MOVED[name](*arrays), rtol=1e-7, atol=1e-12)  # made tensors are of `like`'s own dtype


def test_what_is_made_only_of_sizes_takes_its_dtype_from_what_it_is_like() -> None:
    for name in ("zeros", "new_ones", "full", "arange", "scalar_tensor", "empty_strided", "new_empty_strided"):
        op = operator(name)
        for dtype in op.task.dtypes:
            inputs = op.draw(dtype)
            (y,) = op.compute(inputs)
            assert y.dtype == inputs["like"].dtype


PARTS: dict[str, Callable[..., list[int]]] = {
    "unsafe_split": lambda x, size: list(range(size, x.shape[1], size)),
    "unsafe_split_with_sizes": lambda x, first, other: [first, first + other],
}
"""Where each begins, but for the first."""


@pytest.mark.parametrize("name", PARTS)
def test_parts_are_cut_where_they_should_be(name: str) -> None:
    arrays, parts = drawn(name)
    expected = np.split(arrays[0], PARTS[name](*arrays), 1)
    assert len(parts) == len(expected) > 1
    for part, right in zip(parts, expected, strict=True):
        np.testing.assert_array_equal(part, right)


@pytest.mark.parametrize("descending", [False, True])
def test_sort_keeps_the_order_of_what_is_equal(descending: bool) -> None:
    op = operator("sort")
    inputs: dict[str, Any] = op.draw("float32") | {"descending": descending}
    inputs["x"].round_()
    values, indices = (output.numpy() for output in op.compute(inputs))
    x = inputs["x"].numpy()
    expected = np.argsort(-x if descending else x, axis=1, kind="stable")
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(x, expected, 1))
    assert len(np.unique(x[0])) < x.shape[1]


@pytest.mark.parametrize("name", ["empty_strided", "new_empty_strided"])
def test_room_has_the_pitch_that_is_asked_for(name: str) -> None:
    op = operator(name)
    inputs = op.draw("float16")
    (y,) = op.compute(inputs)
    assert op.task.contract == (Aspect.STRIDES,)
    assert (y.shape, y.stride()) == ((inputs["rows"], inputs["columns"]), (inputs["pitch"], 1))
    assert inputs["pitch"] > inputs["columns"]


@pytest.mark.parametrize("name", ["bernoulli", "exponential", "poisson"])
def test_the_framework_draws_from_the_law_that_is_declared(name: str) -> None:
    op = operator(name)
    assert op.task.law is not None
    for dtype in op.task.dtypes:
        inputs, others = (op.draw(dtype, dims={"M": 64, "N": 512}, seed=seed) for seed in (0, 1))
        others = {**inputs, "seed": others["seed"]}
        answers = [op.compute(each)[0] for each in (inputs, others)]
        assert distribution.compare(op.task.law, inputs, answers[:1]).passed
        one, other = (distribution.drawn(op.task.law, inputs, answer) for answer in answers)
        assert distribution.dependent(one, other) is None


def test_every_operator_that_moves_or_makes_elements_is_here() -> None:
    groups = ("gather_scatter", "creation", "view")
    names = {name for name, source in TASKS.items() if any(f"/{group}/" in source.origin for group in groups)}
    assert names == MOVED.keys() | PARTS.keys() | {"empty_strided", "new_empty_strided"}
