"""A shape: concrete dimensions, dtype, input distribution and memory layout."""

from __future__ import annotations

from kernelarena.spec.base import Model
from kernelarena.spec.vocabulary import Distribution, Family, Layout


class Shape(Model):
    """One concrete problem that a kernel is asked to solve."""

    dims: dict[str, int]
    """Every dimension of the task by name."""
    dtype: str
    """The task's dtype under test, by its canonical name (``float16``, ``float8_e4m3``, …)."""
    family: Family = Family.VISIBLE
    """Published, or the family in which it was drawn."""
    distribution: Distribution = Distribution.NORMAL
    """How floating-point inputs are filled."""
    layout: Layout = Layout.CONTIGUOUS
    """How inputs lie in memory."""

    def __hash__(self) -> int:
        return hash((tuple(sorted(self.dims.items())), self.dtype, self.family, self.distribution, self.layout))

    def __getitem__(self, dim: str) -> int:
        """Return the size of a dimension."""
        return self.dims[dim]

    def __str__(self) -> str:
        """``M=1024 N=4096 float16`` and, where they are not the default, distribution and layout."""
        words = [f"{name}={size}" for name, size in self.dims.items()] + [self.dtype]
        if self.distribution is not Distribution.NORMAL:
            words.append(self.distribution.value)
        if self.layout is not Layout.CONTIGUOUS:
            words.append(self.layout.value)
        return " ".join(words)

    def with_(self, **changes: object) -> Shape:
        """Return a copy with some fields replaced."""
        return self.model_copy(update=changes)
