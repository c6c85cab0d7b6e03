"""The sampler: values by distribution, places by layout, everything from the seed."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelarena.protocol.sampler import ROW_PADDING, Sampler, extent, strides
from kernelarena.spec import Distribution, Layout, Shape

FLOATS = ("float64", "float32", "float16", "bfloat16", "float8_e4m3", "float8_e5m2")
DTYPES = (*FLOATS, "int64", "int32", "int16", "int8", "uint8", "bool")


def sampler(
    dtype: str = "float32",
    distribution: Distribution = Distribution.NORMAL,
    layout: Layout = Layout.CONTIGUOUS,
    seed: int = 7,
    **options: object,
) -> Sampler:
    return Sampler(Shape(dims={}, dtype=dtype, distribution=distribution, layout=layout), seed, **options)


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.dtype == b.dtype and torch.equal(a.double().nan_to_num(0.123), b.double().nan_to_num(0.123))


@given(
    size=st.lists(st.integers(0, 9), max_size=4),
    dtype=st.sampled_from(DTYPES),
    distribution=st.sampled_from(Distribution),
    layout=st.sampled_from(Layout),
    seed=st.integers(0, 2**63 - 1),
)
@settings(max_examples=200, deadline=None)
def test_any_size_dtype_distribution_and_layout_can_be_drawn_again(size, dtype, distribution, layout, seed):
    first = sampler(dtype, distribution, layout, seed).tensor(*size)
    again = sampler(dtype, distribution, layout, seed).tensor(*size)
    meta = sampler(dtype, distribution, layout, seed, device="meta").tensor(*size)
    assert same(first, again)
    for one in (first, meta):
        assert list(one.shape) == size
        assert one.dtype == sampler().torch_dtype(dtype)
        assert one.stride() == strides(size, layout)
        assert one.storage_offset() == (layout is Layout.OFFSET)
    assert meta.is_meta
    if distribution is not Distribution.SPECIALS:
        assert first.double().isfinite().all()


def test_seeds_and_successive_tensors_differ():
    one = sampler(seed=1)
    a, b = one.tensor(64), one.tensor(64)
    assert not torch.equal(a, b)
    assert not torch.equal(a, sampler(seed=2).tensor(64))


def test_values_do_not_depend_on_the_layout():
    drawn = [sampler(layout=layout).tensor(5, 6, 7) for layout in Layout]
    assert torch.equal(drawn[0], drawn[1])
    assert torch.equal(drawn[0], drawn[2])


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(
    ("distribution", "deviation"),
    [
        (Distribution.NORMAL, 1.0),
        (Distribution.UNIFORM, 3**-0.5),
        (Distribution.LARGE, 2.0**6),
        (Distribution.TINY, 2.0**-12),
        (Distribution.CONSTANT_ROWS, 1.0),
        (Distribution.SIGNED_ZEROS, 0.5**0.5),
    ],
)
def test_moments(dtype, distribution, deviation):
    size = (20000, 2) if distribution is Distribution.CONSTANT_ROWS else (200, 200)
    x = sampler(dtype, distribution).tensor(*size).double()
    # Twenty thousand independent values: five standard errors of the mean and (for normals) of the deviation.
    assert abs(x.mean().item()) < 5 * deviation / 20000**0.5
    assert x.std().item() == pytest.approx(deviation, rel=5 / (2 * 20000) ** 0.5)


def test_uniform_lies_in_its_interval():
    x = sampler("float32", Distribution.UNIFORM).tensor(10000)
    assert x.min() >= -1
    assert x.max() < 1


def test_scale():
    assert torch.equal(sampler().tensor(100, scale=0.25), sampler().tensor(100) * 0.25)


def test_large_overflows_what_it_should_and_nothing_more():
    x = sampler("float16", Distribution.LARGE).tensor(64, 1024)
    assert (x.amax(-1) > 88.8).all()  # exp overflows float32
    assert (x * x).isinf().any()  # a square kept in half
    assert x.float().square().sum().isfinite()
    assert x.isfinite().all()


def test_tiny_reaches_subnormals_of_half_only():
    half = sampler("float16", Distribution.TINY).tensor(10000)
    subnormal = (half.double().abs() < 2.0**-14) & (half != 0)
    assert 0.1 < subnormal.double().mean() < 0.3
    single = sampler("float32", Distribution.TINY).tensor(10000)
    assert (single * single >= torch.finfo(torch.float32).tiny).all()


@pytest.mark.parametrize("size", [(6,), (6, 5), (3, 4, 5)])
def test_constant_rows(size):
    x = sampler("float32", Distribution.CONSTANT_ROWS).tensor(*size)
    assert (x == x[..., :1]).all()
    assert x.unique().numel() == x.numel() // size[-1]


def test_signed_zeros():
    x = sampler("float16", Distribution.SIGNED_ZEROS).tensor(40000)
    zero = x == 0
    negative = zero & torch.signbit(x)
    assert zero.double().mean().item() == pytest.approx(0.5, abs=0.02)
    assert negative.double().mean().item() == pytest.approx(0.25, abs=0.02)


@given(rows=st.integers(1, 40), length=st.integers(1, 40), seed=st.integers(0, 1000))
@settings(max_examples=50, deadline=None)
def test_specials_come_one_in_every_fourth_row(rows, length, seed):
    x = sampler("float32", Distribution.SPECIALS, seed=seed).tensor(rows, length)
    per_row = (~x.isfinite()).sum(-1)
    assert per_row.max() == 1
    assert per_row.sum() == max(1, rows // 4)


def test_specials_are_of_all_three_kinds():
    x = sampler("bfloat16", Distribution.SPECIALS).tensor(64, 8)
    assert x.isnan().any()
    assert (x == math.inf).any()
    assert (x == -math.inf).any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_values_beyond_the_range_are_clamped(dtype):
    x = sampler(dtype, Distribution.LARGE).tensor(1000, scale=1e5).double()
    assert x.isfinite().all()
    assert x.abs().max() <= torch.finfo(sampler().torch_dtype(dtype)).max


def test_the_flavour_of_float8_is_the_platforms():
    one = sampler("float8_e4m3", Distribution.LARGE, dtypes={"float8_e4m3": "float8_e4m3fnuz"}.__getitem__)
    x = one.tensor(4096, scale=4.0)
    assert x.dtype is torch.float8_e4m3fnuz
    assert x.float().abs().max() == 240
    assert sampler("float8_e4m3").tensor(3).dtype is torch.float8_e4m3fn


def test_an_unknown_dtype_is_refused():
    with pytest.raises(ValueError, match="'float7' is not a dtype"):
        sampler().tensor(3, dtype="float7")


@pytest.mark.parametrize("dtype", DTYPES)
def test_padding_shows_when_read(dtype):
    x = sampler(dtype, layout=Layout.STRIDED).tensor(4, 10)
    assert x.stride() == (10 + ROW_PADDING, 1)
    padding = x.as_strided((3, ROW_PADDING), x.stride(), 10).double()
    if dtype in FLOATS:
        assert padding.isnan().all()
    else:
        assert (padding == (1 if dtype == "bool" else torch.iinfo(x.dtype).max)).all()


def test_offset_pointers_are_aligned_to_the_element_only():
    x = sampler("float32", layout=Layout.OFFSET).tensor(64)
    assert x.is_contiguous()
    assert x.data_ptr() % 16 == 4


def test_uniform_ignores_the_distribution():
    x = sampler("float32", Distribution.TINY).uniform(2.0, 6.0, 10000)
    assert x.min() >= 2
    assert x.max() <= 6
    assert x.mean().item() == pytest.approx(4, abs=0.06)


def test_integers():
    x = sampler(layout=Layout.STRIDED).integers(3, 9, 100, 10)
    assert x.dtype is torch.int64
    assert x.unique().tolist() == [3, 4, 5, 6, 7, 8]
    assert x.stride() == (10 + ROW_PADDING, 1)
    assert sampler().integers(0, 2, 5, dtype="int32").dtype is torch.int32
    with pytest.raises(ValueError, match="no integer"):
        sampler().integers(4, 4, 10)


def test_mask():
    x = sampler().mask(100, 100, p=0.2)
    assert x.dtype is torch.bool
    assert x.double().mean().item() == pytest.approx(0.2, abs=0.02)


def test_integer_dtypes_are_spread():
    x = sampler("int32").tensor(10000)
    assert x.double().std().item() == pytest.approx(16, rel=0.05)


def test_a_judge_can_place_tensors_in_memory_of_its_own():
    arena = torch.zeros(1 << 16, dtype=torch.uint8)
    used = []

    class Placed(Sampler):
        def _allocate(self, size, stride, offset, dtype):
            start = 4096 * len(used) + 64
            room = arena[start : start + (offset + extent(size, stride)) * dtype.itemsize].view(dtype)
            used.append(start)
            return room.as_strided(size, stride, room.storage_offset() + offset)

    shape = Shape(dims={}, dtype="float16", layout=Layout.STRIDED)
    placed, own = Placed(shape, 3), Sampler(shape, 3)
    for size in ((5, 6), (7,), (2, 3, 4)):
        a, b = placed.tensor(*size), own.tensor(*size)
        assert torch.equal(a, b)
        assert a.untyped_storage().data_ptr() == arena.data_ptr()
    assert len(used) == 3
    assert (arena[:64] == 0).all()
