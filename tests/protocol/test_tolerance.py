"""The tolerance: honest kernels pass in any order of summation, everything else fails, and for the right reason."""

from __future__ import annotations

import inspect
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelarena.protocol.draw import draw, visible_trials
from kernelarena.protocol.sampler import Sampler
from kernelarena.protocol.tolerance import bounds, compare, truth
from kernelarena.spec import Distribution, Reason, Shape
from kernelarena.spec.catalogue import load_tasks
from kernelarena.spec.platform import Budget
from tests.protocol import rounding
from tests.shard import shard

DTYPES = ("float32", "float16", "bfloat16")
FINITE = tuple(distribution for distribution in Distribution if distribution is not Distribution.SPECIALS)


@pytest.fixture(autouse=True)
def one_thread():
    """Tensors here are small: threads would only wait for one another."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def named(reference, arguments):
    return dict(zip(inspect.signature(reference).parameters, arguments, strict=True))


def trial(operator, dtype="float32", distribution=Distribution.NORMAL, m=8, n=300, seed=0):
    rng = Sampler(Shape(dims={}, dtype=dtype, distribution=distribution), seed)
    arguments = rounding.inputs(operator, rng, m, n)
    reference = rounding.REFERENCES[operator]
    return arguments, truth(reference, named(reference, arguments), seed=seed + 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", sorted(rounding.HONEST))
def test_honest_kernels_pass(kernel, dtype):
    for index, (m, n) in enumerate([(1, 1), (2, 1), (5, 3), (7, 17), (9, 129), (3, 400)]):
        for distribution in FINITE:
            arguments, expected = trial(kernel.split("/")[0], dtype, distribution, m, n, seed=index)
            result = compare(expected, (rounding.HONEST[kernel](*arguments),))
            assert result.passed, f"{m}x{n} {distribution}: {result}"
            assert result.reason is None
            assert result.error <= 1


@given(
    kernel=st.sampled_from(sorted(rounding.HONEST)),
    dtype=st.sampled_from(DTYPES),
    distribution=st.sampled_from(FINITE),
    m=st.integers(1, 12),
    n=st.integers(1, 300),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=80, deadline=None)
def test_honest_kernels_pass_on_any_shape(kernel, dtype, distribution, m, n, seed):
    arguments, expected = trial(kernel.split("/")[0], dtype, distribution, m, n, seed)
    result = compare(expected, (rounding.HONEST[kernel](*arguments),))
    assert result.passed, result


@pytest.mark.parametrize("kernel", ["sum/sequential", "matmul/chain", "cumsum/sequential", "softmax/sequential"])
def test_one_chain_over_a_very_long_row_is_honest(kernel):
    for distribution in (Distribution.NORMAL, Distribution.CONSTANT_ROWS):
        arguments, expected = trial(kernel.split("/")[0], "float32", distribution, 3, 10000)
        assert compare(expected, (rounding.HONEST[kernel](*arguments),)).passed


def last_tile(y):
    y = y.clone()
    y[..., -max(y.shape[-1] // 8, 1) :] = 0
    return y


def one_element(y):
    y = y.clone()
    y.view(-1)[y.numel() // 2] += y.abs().max() * 0.25
    return y


FAULTS = {
    "zeros": torch.zeros_like,
    "ones": torch.ones_like,
    "nan": lambda y: torch.full_like(y, math.nan),
    "one nan": lambda y: y.index_fill(0, torch.tensor([0]), math.nan),
    "last tile unwritten": last_tile,
    "rows shifted": lambda y: y.roll(1, max(y.dim() - 2, 0)),
    "1 % too large": lambda y: (y.double() * 1.01).to(y.dtype),
    "1 % too small": lambda y: (y.double() * 0.99).to(y.dtype),
    "negated": lambda y: -y,
    "one element": one_element,
    "noise": lambda y: (y.double() * (1 + 0.2 * torch.randn(y.shape, dtype=torch.float64))).to(y.dtype),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_fail(fault, dtype):
    torch.manual_seed(0)
    for operator in rounding.REFERENCES:
        for distribution in (Distribution.NORMAL, Distribution.UNIFORM):
            arguments, expected = trial(operator, dtype, distribution, 40, 150)
            kernel = next(honest for name, honest in rounding.HONEST.items() if name.startswith(operator + "/"))
            result = compare(expected, (FAULTS[fault](kernel(*arguments)),), allow_reduced_precision=True)
            assert not result.passed, f"{operator} {distribution}"
            assert result.reason is (Reason.NON_FINITE if "nan" in fault else Reason.MISMATCH), f"{operator} {result}"
            assert result.error > 1
            assert result.detail.startswith("out")


@pytest.mark.parametrize("operator", ["softmax", "layer_norm", "rms_norm", "gelu", "cumsum"])
def test_an_input_handed_back_fails(operator):
    arguments, expected = trial(operator)
    assert compare(expected, (arguments[0].clone(),)).reason is Reason.MISMATCH


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("terms", [128, 512, 2048])
@pytest.mark.parametrize("distribution", [Distribution.NORMAL, Distribution.UNIFORM])
def test_half_accumulation_is_reduced_precision(dtype, terms, distribution):
    for operator, kernel in (("matmul", rounding.half_matmul), ("sum", rounding.half_sum)):
        arguments, expected = trial(operator, dtype, distribution, 32, terms)
        result = compare(expected, (kernel(*arguments),))
        assert result.reason is Reason.REDUCED_PRECISION, f"{operator} {result}"
        assert "accumulate in float32" in result.detail
        assert compare(expected, (kernel(*arguments),), allow_reduced_precision=True).passed


@pytest.mark.parametrize("kernel", [rounding.tf32_matmul, rounding.bfloat16_matmul])
@pytest.mark.parametrize("terms", [16, 256, 4096])
@pytest.mark.parametrize("distribution", [Distribution.NORMAL, Distribution.UNIFORM, Distribution.LARGE])
def test_narrow_products_are_reduced_precision(kernel, terms, distribution):
    arguments, expected = trial("matmul", "float32", distribution, 32, terms)
    assert compare(expected, (kernel(*arguments),)).reason is Reason.REDUCED_PRECISION
    assert compare(expected, (kernel(*arguments),), allow_reduced_precision=True).passed


@pytest.mark.parametrize("terms", [16, 256, 4096])
def test_narrow_products_of_constant_rows_are_noticed_too(terms):
    # Rows of one factor repeat a value, columns of the other do not: the terms of the sums are not equal.
    arguments, expected = trial("matmul", "float32", Distribution.CONSTANT_ROWS, 32, terms)
    assert expected.repeated
    assert expected.equal_terms == 1
    assert not compare(expected, (rounding.tf32_matmul(*arguments),)).passed
    assert compare(expected, (rounding.matmul()(*arguments),)).passed


def test_a_wrong_divisor_is_no_rounding_error():
    # The unbiased variance: a factor of 1 - 1/(2N), smaller than half accumulation's error.
    arguments, expected = trial("layer_norm", "float32", m=16, n=1024)
    x, weight, bias = arguments
    y = (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, keepdim=True) + 1e-5) * weight + bias
    assert not compare(expected, (y,)).passed


def test_wrong_outputs_are_named():
    x = torch.randn(4, 6)
    expected = truth(lambda x: x * 2, {"x": x}, seed=0)
    for given_, reason, text in [
        ((), Reason.WRONG_SHAPE, "the kernel returned 0 outputs, expected 1"),
        ((x, x), Reason.WRONG_SHAPE, "the kernel returned 2 outputs, expected 1"),
        ((x.T * 2,), Reason.WRONG_SHAPE, "out has size [6, 4], expected [4, 6]: the same elements, so reshape it"),
        ((x[:3] * 2,), Reason.WRONG_SHAPE, "out has size [3, 6], expected [4, 6]"),
        ((x.double() * 2,), Reason.WRONG_DTYPE, "out is float64, expected float32"),
    ]:
        result = compare(expected, given_)
        assert (result.passed, result.reason, result.detail) == (False, reason, text)
        assert result.error == math.inf


def test_the_layout_of_an_output_does_not_matter():
    x = torch.randn(40, 60)
    expected = truth(lambda x: x * 2, {"x": x}, seed=0)
    assert compare(expected, ((x * 2).T.contiguous().T,)).passed


def test_the_worst_of_several_outputs_is_reported():
    x = torch.randn(4, 300)
    expected = truth(lambda x: (x.sum(-1), x * 2, x.argmax(-1)), {"x": x}, seed=0)
    good = (x.sum(-1), x * 2, x.argmax(-1))
    assert compare(expected, good).passed
    result = compare(expected, (good[0], good[1] + 1, good[2]))
    assert result.reason is Reason.MISMATCH
    assert result.detail.startswith("out[1][")
    result = compare(expected, (good[0] * math.nan, good[1] + 1, good[2]))
    assert result.reason is Reason.NON_FINITE


def test_integers_and_booleans_must_be_equal():
    x = torch.randn(50, 20)
    expected = truth(lambda x: (x.argmax(-1), x > 0), {"x": x}, seed=0)
    assert compare(expected, (x.argmax(-1), x > 0)).passed
    result = compare(expected, (x.argmax(-1) + (torch.arange(50) == 7), x > 0))
    assert result.reason is Reason.MISMATCH
    assert result.detail.startswith(f"out[0][7] is {int(x[7].argmax()) + 1}, expected {int(x[7].argmax())}; 1 of 50")


def test_an_empty_output_has_only_a_shape_and_a_dtype():
    expected = truth(lambda x: x * 2, {"x": torch.empty(0, 5)}, seed=0)
    assert compare(expected, (torch.empty(0, 5),)).passed
    assert compare(expected, (torch.empty(5, 0),)).reason is Reason.WRONG_SHAPE


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("seed", range(20))
def test_scalars_pass_whatever_order_they_are_summed_in(dtype, seed):
    x = torch.randn(1000, generator=torch.Generator().manual_seed(seed)).to(dtype)
    expected = truth(lambda x: x.sum(), {"x": x}, seed=seed)
    assert compare(expected, (rounding.sequential(x),)).passed
    assert compare(expected, (rounding.pairwise(x),)).passed
    assert not compare(expected, (rounding.sequential(x) * 1.01,)).passed


def test_float64_is_held_to_float64():
    x = torch.randn(8, 200, dtype=torch.float64)
    expected = truth(lambda x: torch.softmax(x, -1), {"x": x}, seed=0)
    assert compare(expected, (torch.softmax(x.flip(-1), -1).flip(-1),)).passed
    assert not compare(expected, (torch.softmax(x.float(), -1).double(),)).passed


def test_complex_outputs_are_compared_as_pairs():
    x = torch.randn(4, 64)
    expected = truth(torch.fft.fft, {"input": x}, seed=0)
    y = torch.fft.fft(x.double()).to(torch.complex64)
    assert compare(expected, (y,)).passed
    assert not compare(expected, (y.conj().resolve_conj(),)).passed


# Zeros


def test_zeros_fail_where_the_truth_is_small():
    x = torch.randn(4, 128256, generator=torch.Generator().manual_seed(0))
    expected = truth(lambda x: torch.softmax(x, -1), {"x": x}, seed=0)  # every value far below any absolute tolerance
    assert not compare(expected, (torch.zeros_like(x),)).passed


def test_zeros_fail_however_bad_pytorch_is():
    x = (torch.randn(16, 64, generator=torch.Generator().manual_seed(0)) * 300).half()

    def overflowing(x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)

    assert (overflowing(x) == 0).any()  # the square is infinite in half
    expected = truth(overflowing, {"x": x}, seed=0)
    wide = x.float()
    right = (wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + 1e-6)).half()
    assert compare(expected, (right,)).passed
    assert not compare(expected, (torch.zeros_like(x),)).passed
    assert not compare(expected, (last_tile(right),)).passed


def test_zeros_pass_where_the_truth_is_zero_up_to_rounding_and_the_trial_says_so():
    x = torch.randn(8, 1).expand(8, 256).contiguous()
    expected = truth(lambda x: F.layer_norm(x, (256,)), {"x": x}, seed=0)
    assert compare(expected, (torch.zeros_like(x),)).passed
    assert not bounds(expected.outputs[0], expected).informative
    assert not compare(expected, (torch.ones_like(x),)).passed


@pytest.mark.parametrize("operator", sorted(rounding.REFERENCES))
@pytest.mark.parametrize("dtype", DTYPES)
def test_ordinary_trials_are_informative(operator, dtype):
    _, expected = trial(operator, dtype)
    assert bounds(expected.outputs[0], expected).informative


# Infinities and nans


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_specials_must_come_out_as_they_are(dtype):
    x = torch.tensor([[1.0, math.inf, -2.0, -math.inf, math.nan, 0.5]]).to(dtype)
    expected = truth(lambda x: x * 2, {"x": x}, seed=0)
    right = x * 2
    assert compare(expected, (right,)).passed
    for index, wrong in [
        (0, math.nan),
        (0, math.inf),
        (1, -math.inf),
        (1, math.nan),
        (1, 5.0),
        (4, 0.0),
        (4, math.inf),
    ]:
        y = right.clone()
        y[0, index] = wrong
        result = compare(expected, (y,))
        assert result.reason is Reason.NON_FINITE, f"{index} {wrong}"
        assert result.detail.startswith(f"out[0, {index}] is ")


def test_a_nan_truth_does_not_accept_numbers():
    expected = truth(lambda x: x * math.nan, {"x": torch.randn(4, 4)}, seed=0)
    assert compare(expected, (torch.full((4, 4), math.nan),)).passed
    assert compare(expected, (torch.zeros(4, 4),)).reason is Reason.NON_FINITE


def test_overflow_of_the_dtype_is_expected_as_infinity():
    x = torch.tensor([200.0, 300.0, -300.0, 1.0]).half()
    expected = truth(lambda x: x * 250, {"x": x}, seed=0)
    assert compare(expected, (x * 250,)).passed
    saturated = torch.tensor([50000.0, 65504.0, -65504.0, 250.0]).half()
    assert not compare(expected, (saturated,)).passed
    assert not compare(expected, (torch.tensor([50000.0, -math.inf, math.inf, 250.0]).half(),)).passed


def test_either_side_of_the_edge_of_the_range_passes():
    x = torch.full((4,), 65504.0).half()
    expected = truth(lambda x: x * 1.0003, {"x": x}, seed=0)
    for value in (65504.0, math.inf):
        assert compare(expected, (torch.full((4,), value).half(),)).passed
    assert not compare(expected, (torch.full((4,), -math.inf).half(),)).passed


def test_pytorchs_own_overflow_is_accepted_and_the_right_number_too():
    x = torch.tensor([[300.0, 1.0]]).half()
    expected = truth(lambda x: x * x / 300, {"x": x}, seed=0)
    assert (x * x / 300).isinf().any()
    assert compare(expected, (x * x / 300,)).passed
    assert compare(expected, ((x.float() ** 2 / 300).half(),)).passed


def test_what_overflows_is_no_scale_for_the_rest():
    x = torch.tensor([[100.0, 1.0, 2.0, 3.0]])
    expected = truth(torch.exp, {"input": x}, seed=0)  # exp(100) is finite in float64 only
    assert compare(expected, (torch.exp(x),)).passed
    assert not compare(expected, (torch.tensor([[math.inf, 0.0, 0.0, 0.0]]),)).passed


# One-byte floats


def quantise(x, like):
    scale = x.abs().amax(-1, keepdim=True).float() / torch.finfo(like.dtype).max
    return (x / scale).to(like.dtype), scale[..., 0]


@pytest.mark.parametrize("flavour", [torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_float8_is_held_to_its_neighbour(flavour, dtype):
    x = torch.randn(16, 512, generator=torch.Generator().manual_seed(1)).to(dtype)
    like = torch.empty(0, dtype=flavour)
    expected = truth(quantise, {"x": x, "like": like}, seed=0)
    assert expected.outputs[0].dtype is flavour
    top = torch.finfo(flavour).max
    amax = x.float().abs().amax(-1, keepdim=True)
    multiplied = ((x.float() * (top / amax)).clamp(-top, top).to(flavour), (amax / top)[:, 0])
    assert compare(expected, multiplied).passed
    doubled = ((x.float() / amax * top / 2).to(flavour), (amax / top)[:, 0])
    result = compare(expected, doubled)
    assert result.reason is Reason.MISMATCH
    assert "times what it should be" in result.detail
    steps = multiplied[0].view(torch.uint8)
    downwards = torch.where(steps & 0x7F > 1, steps - 1, steps).view(flavour)  # truncating instead of rounding
    assert compare(expected, (downwards, multiplied[1])).reason is Reason.MISMATCH
    steps = steps.clone()
    steps[3, 5] -= 1
    assert compare(expected, (steps.view(flavour), multiplied[1])).passed
    steps[3, 5] -= 3
    assert not compare(expected, (steps.view(flavour), multiplied[1])).passed


# What is said


def test_the_place_and_the_pattern_are_named():
    x = torch.randn(64, 1500, generator=torch.Generator().manual_seed(0))
    expected = truth(lambda x: torch.softmax(x, -1), {"x": x}, seed=0)
    right = torch.softmax(x, -1)
    columns, row = right.clone(), right.clone()
    columns[:, 1024:] = 0
    row[17] = row[16]
    detail = compare(expected, (columns,)).detail
    assert ", all at column ≥ 1024, every one of them is 0" in detail
    assert f"{64 * 476} of {64 * 1500} elements differ" in detail
    assert " is 0, expected " in detail
    assert "allowed ±" in detail
    assert ", all at row 17" in compare(expected, (row,)).detail
    assert "each about 2 times what it should be" in compare(expected, (right * 2,)).detail


def test_a_shape_of_size_one_everywhere():
    for size in ((), (1,), (1, 1), (1, 1, 1)):
        x = torch.full(size, 3.0)
        expected = truth(lambda x: x / 7, {"x": x}, seed=0)
        assert compare(expected, (x / 7,)).passed
        assert not compare(expected, (x / 6,)).passed


def test_nothing_contradicts_pytorch_where_the_truth_is_exactly_zero():
    # One column: x minus its mean. Computed as x·r - mean·r, as PyTorch does in bfloat16, it is rounding noise.
    x = torch.randn(130, 1, generator=torch.Generator().manual_seed(0)).bfloat16()
    expected = truth(lambda x: F.layer_norm(x, (1,)), {"x": x}, seed=0)
    assert compare(expected, (F.layer_norm(x, (1,)),)).passed
    assert compare(expected, (torch.zeros_like(x),)).passed
    assert not bounds(expected.outputs[0], expected).informative


@pytest.mark.parametrize("name", shard(name for name, one in load_tasks().items() if one.task.law is None))
def test_pytorch_and_the_rounded_truth_pass_on_every_shipped_task(name):
    source = load_tasks()[name]
    code: dict[str, object] = {}
    exec(source.reference, code)
    budget = Budget(elements=4096, flops=1_000_000)
    for shape in [*visible_trials(source.task, 1, budget=budget), *draw(source.task, 1, 8, budget=budget)]:
        arguments = code["inputs"](shape, Sampler(shape, 7))
        expected = truth(code["reference"], arguments, seed=3)
        for values in ([one.framework for one in expected.outputs], [one.value for one in expected.outputs]):
            outputs = [value.to(one.dtype) for value, one in zip(values, expected.outputs, strict=True)]
            result = compare(expected, outputs)
            assert result.passed, f"{shape}: {result}"
