"""References of operators of two tensors, of gradients, losses, copies, rows and products, against their formulas."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from tests.tasks.conftest import operator
from tests.tasks.test_definitions import close, drawn

Array = np.ndarray

ELEMENTWISE: dict[str, Callable[..., Array]] = {
    "add_inplace": lambda x, y, alpha: x + alpha * y,
    "sub": lambda x, y, alpha: x - alpha * y,
    "rsub": lambda x, y, alpha: y - alpha * x,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "div_inplace": lambda x, y: x / y,
    "fmax": np.fmax,
    "gt": lambda x, y: x - y > 0,
    "le": lambda x, y: y - x >= 0,
    "heaviside": np.heaviside,
    "logaddexp2": lambda x, y: np.log2(np.exp2(x) + np.exp2(y)),
    "pow": lambda x, y: np.exp(y * np.log(x)),
    "prelu": lambda x, y: np.maximum(x, 0) + y * np.minimum(x, 0),
    "rrelu_with_noise": lambda x, y: np.maximum(x, 0) + y * np.minimum(x, 0),
    "diff": np.diff,
    "huber_loss": lambda x, y, d: np.minimum(np.abs(x - y), d) * (np.abs(x - y) - np.minimum(np.abs(x - y), d) / 2),
    "soft_margin_loss": lambda x, y: np.log(1 + np.exp(-x * y)),
    "margin_ranking_loss": lambda x, y, target, margin: np.maximum(margin - target * (x - y), 0),
    "binary_cross_entropy_with_logits": lambda x, y, weight: (
        -weight * y * np.log(1 / (1 + np.exp(-x))) - (1 - y) * np.log(1 / (1 + np.exp(x)))
    ),
    "clone": lambda x: x,
    "copy": lambda x, source: source,
    "fill": np.full_like,
    "zero": np.zeros_like,
    "masked_fill": lambda x, mask, value: np.choose(mask.astype(int), [x, value]),
    "amin": lambda x: np.sort(x)[:, 0],
    "argmax": lambda x: np.argsort(-x, kind="stable")[:, 0],
    "mean": lambda x: x @ np.full(x.shape[1], 1 / x.shape[1]),
    "sum": lambda x: x @ np.ones(x.shape[1]),
    "pairwise_distance": lambda x, y, p, eps: np.linalg.norm(x - y + eps, p, axis=1),
    "linear": lambda x, weight, bias: np.einsum("mk,nk->mn", x, weight) + bias,
    "mm": lambda a, b: np.einsum("mk,kn->mn", a, b),
}
"""What each operator computes, written by other means than its reference."""


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_operators_compute_what_their_formulas_say(name: str) -> None:
    op = operator(name)
    for distribution in op.task.distributions[:2]:
        arrays, (z,) = drawn(name, op.task.dtypes[0], distribution=distribution)
        with np.errstate(all="ignore"):
            close(z, ELEMENTWISE[name](*arrays))


SLOPES: dict[str, Callable[..., Array]] = {
    "log_sigmoid_backward": lambda x: -np.log(1 + np.exp(-x)),
    "mish_backward": lambda x: x * np.tanh(np.log(1 + np.exp(x))),
    "softplus_backward": lambda x, beta, threshold: np.log(1 + np.exp(beta * x)) / beta,
    "smooth_l1_loss_backward": lambda x, target, beta: np.where(
        np.abs(x - target) < beta, (x - target) ** 2 / (2 * beta), np.abs(x - target) - beta / 2
    ),
    "rrelu_with_noise_backward": lambda x, noise: np.maximum(x, 0) + noise * np.minimum(x, 0),
}
"""The functions that are derived."""


@pytest.mark.parametrize("name", SLOPES)
def test_gradients_are_the_slopes_of_their_functions(name: str) -> None:
    (grad, x, *others), (y,) = drawn(name)
    step = 1e-5
    slope = (SLOPES[name](x + step, *others) - SLOPES[name](x - step, *others)) / (2 * step)
    np.testing.assert_allclose(y, grad * slope, rtol=1e-7, atol=1e-8)


def test_beyond_its_threshold_softplus_is_a_line() -> None:
    op = operator("softplus_backward")
    grad, x = torch.tensor([3.0]), torch.tensor([7.0])
    assert op.compute({"grad": grad, "x": x, "beta": 1.0, "threshold": 6.0})[0].item() == 3.0
    assert op.compute({"grad": grad, "x": x, "beta": 1.0, "threshold": 20.0})[0].item() < 3.0


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8"])
@pytest.mark.parametrize(("name", "formula"), [("eq", lambda a, b: a == b), ("floor_divide", lambda a, b: a // b)])
def test_integers_are_compared_and_divided_as_python_does(
    name: str, formula: Callable[[int, int], int], dtype: str
) -> None:
    op = operator(name)
    inputs = op.draw(dtype)
    (z,) = op.compute(inputs)
    assert z.dtype == (torch.bool if name == "eq" else inputs["x"].dtype)
    assert z.flatten().tolist() == list(map(formula, inputs["x"].flatten().tolist(), inputs["y"].flatten().tolist()))
    assert (inputs["x"] < 0).any()  # so that rounding down is not rounding towards zero


@pytest.mark.parametrize(("name", "target"), [("to", torch.float32), ("to_copy", torch.bfloat16)])
def test_conversions_round_to_the_nearest(name: str, target: torch.dtype) -> None:
    op = operator(name)
    for dtype in op.task.dtypes:
        inputs = op.draw(dtype)
        (y,) = op.compute(inputs)
        assert y.dtype == target
        unit = torch.finfo(target).eps / 2
        x = inputs["x"].double()
        assert ((y.double() - x).abs() <= unit * x.abs()).all()


def test_renorm_shortens_the_rows_that_are_too_long_and_no_others() -> None:
    op = operator("renorm")
    for columns in (12, 13, 14):
        (x, p, most), (y,) = drawn("renorm", dims={"M": 5, "N": columns}, distribution="uniform")
        norm = np.linalg.norm(x, p, axis=1, keepdims=True)
        close(y, np.where(norm > most, x * (most / (norm + 1e-7)), x))
    short = {"x": torch.full((1, 4), 0.1), "p": 1.0, "maxnorm": 1.0}
    assert torch.equal(op.compute(short)[0], short["x"])


def test_softmax_of_a_middle_dimension() -> None:
    (x,), (y,) = drawn("softmax_middle")
    weights = np.exp(x)
    close(y, weights / np.einsum("bcs->bs", weights)[:, None, :])


def test_the_left_factor_of_mm_lies_by_columns() -> None:
    a = operator("mm").draw("float32")["a"]
    assert a.stride(0) == 1 < a.stride(1)
