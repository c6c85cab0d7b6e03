"""Each reference against the formula that its title promises, written out once more by other means."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tests.tasks.conftest import in_float64, operator


def drawn(name: str, dtype: str = "float32", **more: object):  # type: ignore[no-untyped-def]
    op = operator(name)
    inputs = in_float64(op.draw(dtype, **more))  # type: ignore[arg-type]
    arrays = [
        value.numpy() if isinstance(value, torch.Tensor) and value.numel() else value for value in inputs.values()
    ]
    outputs = [output.double().numpy() for output in op.compute(inputs)]
    return arrays, outputs


def close(got: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13)


def test_add() -> None:
    (x, y, alpha), (z,) = drawn("add")
    close(z, x + alpha * y[None, :])


POINTWISE = {
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "cos": np.cos,
    "cosh": np.cosh,
    "erfc": np.vectorize(math.erfc),
    "floor": np.floor,
    "hardsigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "i0": np.i0,
    "log10": np.log10,
    "logit": lambda p: np.log(p) - np.log1p(-p),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "neg": lambda x: 0 - x,
    "rsqrt": lambda x: x**-0.5,
    "sgn": np.sign,
    "silu": lambda x: x / 2 * (1 + np.tanh(x / 2)),
    "sin": np.sin,
    "special_entr": lambda x: np.where(x == 0, 0, -x * np.log(x)),
    "square": lambda x: x * x,
}
"""What each operator of one tensor computes; those that are not here have a test of their own."""


@pytest.mark.parametrize("name", POINTWISE)
def test_operators_of_one_tensor(name: str) -> None:
    (x,), (y,) = drawn(name)
    close(y, POINTWISE[name](x))


def test_bitwise_not() -> None:
    op = operator("bitwise_not")
    for dtype in op.task.dtypes:
        inputs = op.draw(dtype)
        (y,) = op.compute(inputs)
        assert y.dtype == inputs["x"].dtype
        assert torch.equal(y, inputs["x"].logical_not() if dtype == "bool" else inputs["x"] ^ -1)


def test_polygamma_is_a_sum_over_powers() -> None:
    op = operator("polygamma")
    for columns in (12, 13, 14):
        inputs = in_float64(op.draw("float32", dims={"M": 3, "N": columns}))
        (x, n), (y,) = (inputs["x"].numpy(), inputs["n"]), op.compute(inputs)
        k = np.arange(200_000).reshape(-1, 1, 1)
        series = (1 / (x + k) ** (n + 1)).sum(0) + (x + len(k) - 0.5) ** -n / n  # and the integral of the rest
        np.testing.assert_allclose(y.numpy(), (-1) ** (n + 1) * math.factorial(n) * series, rtol=1e-9)


def test_alpha_varies_over_shapes() -> None:
    op = operator("add")
    assert len({op.draw("float32", dims={"M": 1, "N": n})["alpha"] for n in range(1, 7)}) == 3


def test_gelu_tanh_and_mul() -> None:
    (x,), (y,) = drawn("gelu_tanh_and_mul")
    hidden, gate = x[:, :12], x[:, 12:]
    close(y, 0.5 * hidden * (1 + np.tanh(math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden**3))) * gate)


def test_softmax() -> None:
    (x,), (y,) = drawn("softmax")
    close(y, np.exp(x) / np.exp(x).sum(1, keepdims=True))


def test_layer_norm() -> None:
    (x, weight, bias, eps), (y,) = drawn("layer_norm")
    close(y, (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + eps) * weight + bias)


def test_rms_norm_residual() -> None:
    (x, residual, weight, eps), (y, hidden) = drawn("rms_norm_residual")
    close(hidden, x + residual)
    close(y, hidden / np.sqrt((hidden**2).mean(1, keepdims=True) + eps) * weight)


def test_rms_norm_of_half_precision_squares_in_float32() -> None:
    op = operator("rms_norm_residual")
    inputs = op.draw("float16")
    inputs["x"].fill_(300.0)  # 300^2 is beyond float16
    y, _ = op.compute(inputs)
    assert torch.isfinite(y).all()


def test_cross_entropy() -> None:
    (logits, target, ignored), (loss,) = drawn("cross_entropy")
    picked = np.take_along_axis(logits, np.maximum(target, 0)[:, None], 1)[:, 0]
    close(loss, np.where(target == ignored, 0.0, np.log(np.exp(logits).sum(1)) - picked))
    assert (target == ignored).sum() == 2
    assert np.unique(target).size > 3


def test_matmul() -> None:
    (a, b), (c,) = drawn("matmul")
    close(c, np.einsum("mk,kn->mn", a, b))


def test_bmm() -> None:
    (a, b), (c,) = drawn("bmm")
    close(c, np.einsum("bmk,bkn->bmn", a, b))


def test_rotary_embedding() -> None:
    (q, k, cos, sin), outputs = drawn("rotary_embedding")
    turn = (cos + 1j * sin)[:, None, :]
    for x, y in zip((q, k), outputs, strict=True):
        turned = (x[..., :3] + 1j * x[..., 3:]) * turn
        close(y, np.concatenate([turned.real, turned.imag], -1))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_rotary_angles_are_those_of_a_rotation(dtype: str) -> None:
    (_, _, cos, sin), _ = drawn("rotary_embedding", dtype)
    np.testing.assert_allclose(cos**2 + sin**2, 1, rtol=1e-6 if dtype == "float32" else 2e-2)


def test_attention() -> None:
    (q, k, v), (o,) = drawn("attention", "float16")
    scores = np.einsum("bhsd,bhtd->bhst", q, k) / 8
    scores = np.where(np.tril(np.ones((7, 7), bool)), scores, -np.inf)
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    close(o, np.einsum("bhst,bhtd->bhsd", weights, v))


def test_cumsum() -> None:
    (x,), (y,) = drawn("cumsum")
    close(y, np.einsum("ij,mj->mi", np.tril(np.ones((12, 12))), x))


@pytest.mark.parametrize(("flavour", "limit"), [("float8_e4m3fn", 448.0), ("float8_e4m3fnuz", 240.0)])
def test_fp8_quantise_rows(flavour: str, limit: float) -> None:
    (x, _), (q, scale) = drawn("fp8_quantise_rows", dtypes=lambda name: flavour if name == "float8_e4m3" else name)
    close(scale, np.abs(x).max(1) / limit)
    assert np.abs(q).max() == limit
    step = 2.0 ** np.maximum(np.floor(np.log2(np.abs(x / scale[:, None]))) - 3, -10)
    assert (np.abs(q - x / scale[:, None]) <= step / 2).all()


def test_fp8_rows_of_zeros_stay_zeros() -> None:
    op = operator("fp8_quantise_rows")
    inputs = op.draw("float16")
    inputs["x"][2] = 0.0
    q, scale = op.compute(inputs)
    assert scale.dtype == torch.float32
    assert scale[2] == np.float32(1e-12) / np.float32(448)
    assert (q[2].double() == 0).all()
