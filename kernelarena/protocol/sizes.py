"""Arithmetic on the sizes of dimensions: what makes one awkward, and how to make it smaller without taming it."""

from __future__ import annotations

from kernelarena.spec.task import Dim

TILES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
"""Block sizes that kernels commonly work in."""


def is_prime(size: int) -> bool:
    """Tell whether ``size`` is prime."""
    return size > 1 and all(size % factor for factor in range(2, int(size**0.5) + 1))


def previous_prime(size: int) -> int:
    """Return the largest prime up to ``size``, or 2."""
    while size > 2 and not is_prime(size):
        size -= 1
    return max(size, 2)


def is_misaligned(size: int) -> bool:
    """Tell whether a size is prime, or one off a power of two or a multiple of 16: where masks go wrong."""
    return size > 2 and (is_prime(size) or any(_is_power(size + side) for side in (-1, 1)) or size % 16 in (1, 15))


def smaller(size: int) -> int:
    """Return about half of ``size``, of the same character.

    A power of two stays one; one off a power of two or a multiple of 16 stays so, on the same side; a prime stays
    prime; an odd number stays odd; a multiple of a power of two up to 16 stays one. Sizes up to 1 stay themselves.
    """
    if size <= 2:
        return min(size, 1)
    half = size // 2
    if _is_power(size):
        return half
    for side in (1, -1):
        if _is_power(size - side) and size - side > 2:
            return (size - side) // 2 + side
    for side in (1, -1):
        if (size - side) % 16 == 0 and size > 32:
            return (size - side) // 32 * 16 + side
    if is_prime(size):
        return previous_prime(half)
    if size % 2:
        return half | 1
    step = min(size & -size, 16)
    while step > half:
        step //= 2
    return half - half % step


def at_most(dim: Dim, size: int) -> int:
    """Return the largest size of the dimension up to ``size``, or its smallest."""
    if dim.choices:
        known = sorted(choice for choice in dim.choices if dim.allows(choice))
        return max((choice for choice in known if choice <= size), default=known[0] if known else dim.min)
    size = min(size, dim.max)
    size -= size % dim.multiple_of
    return size if size >= dim.min else smallest(dim)


def smallest(dim: Dim) -> int:
    """Return the smallest size of the dimension."""
    if dim.choices:
        return at_most(dim, dim.min)
    return -(-dim.min // dim.multiple_of) * dim.multiple_of


def after(dim: Dim, size: int) -> int:
    """Return the next larger size of the dimension, or ``size`` if there is none."""
    if dim.choices:
        return min((choice for choice in dim.choices if choice > size and dim.allows(choice)), default=size)
    larger = (size // dim.multiple_of + 1) * dim.multiple_of
    return larger if dim.allows(larger) else size


def is_free(dim: Dim) -> bool:
    """Tell whether the dimension has more than one size."""
    low = smallest(dim)
    return after(dim, low) != low


def _is_power(size: int) -> bool:
    return size > 0 and size & (size - 1) == 0
