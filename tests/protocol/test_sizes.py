"""Sizes shrink by about half and stay what they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.protocol.sizes import after, at_most, is_free, is_misaligned, is_prime, smaller, smallest
from kernelarena.spec.task import Dim


@pytest.mark.parametrize(
    ("size", "expected"),
    [(1, 1), (2, 1), (3, 1), (4, 2), (64, 32), (65, 33), (63, 31), (4097, 2049), (383, 191), (96, 48), (100, 48),
     (12, 4), (15, 7), (45, 23), (4099, 2039), (1000, 496), (128256, 64128), (50257, 25121)],
)  # fmt: skip
def test_smaller(size, expected):
    assert smaller(size) == expected


@given(st.integers(2, 1 << 20))
def test_smaller_halves_and_ends_at_one(size):
    less = smaller(size)
    assert 1 <= less < size
    assert size // 4 <= less <= size // 2 + 1
    if size % 2:
        assert less % 2 or less == 2
    if size > 64 and is_misaligned(size):
        assert is_misaligned(less)


@given(st.integers(0, 3000))
def test_primes(size):
    assert is_prime(size) == (size > 1 and not any(size % factor == 0 for factor in range(2, size)))


@st.composite
def a_dim(draw):
    low = draw(st.integers(0, 50))
    high = draw(st.integers(low, 200))
    if draw(st.booleans()):
        return Dim(min=low, max=high, choices=draw(st.lists(st.integers(low, high), min_size=1).map(tuple)))
    step = draw(st.integers(1, 8))
    return Dim(min=low, max=high + step, multiple_of=step)


@given(a_dim(), st.integers(0, 300))
def test_steps_agree_with_the_set_of_sizes(dim, size):
    allowed = [one for one in range(400) if dim.allows(one)]
    assert smallest(dim) == allowed[0]
    assert at_most(dim, size) == max((one for one in allowed if one <= size), default=allowed[0])
    assert is_free(dim) == (len(allowed) > 1)
    here = at_most(dim, size)
    assert after(dim, here) == min((one for one in allowed if one > here), default=here)
