"""Drawing the inputs of one trial: their values, by a distribution, and their place in memory, by a layout.

A task's ``inputs(shape, rng)`` gets a :class:`Sampler` as ``rng`` and says only what it needs ("an M by N tensor");
which numbers come and how they lie in memory is the trial's business. Everything follows from the seed, so that a
trial can be drawn again, on the same kind of device, from what the run writes down.

Values
------
========================  ==========================================================================================
``normal``                standard normal
``uniform``               uniform on [-1, 1)
``large``                 normal, standard deviation 2**6. ``exp`` overflows float32 beyond 88, so a softmax that does
                          not subtract the row's maximum fails; squares (up to about 2**17) overflow float16, so an
                          intermediate kept in half fails; sums of 2**18 of them stay far inside float32
``tiny``                  normal, standard deviation 2**-12. Squares (2**-24) lie far below an epsilon of 1e-5 and
                          vanish in float16, yet are normal in float32; a fifth of the values are subnormal in float16
                          (its smallest normal is 2**-14), none to speak of in bfloat16 and float32, whose subnormals
                          hardware may flush
``constant-rows``         one standard normal value for each row (the last dimension): variance zero, maximum tied
``signed-zeros``          +0 and -0 a quarter each, the rest standard normal
``specials``              standard normal with one inf, -inf or nan in every fourth row, at least one in all
========================  ==========================================================================================

Layouts
-------
``contiguous``; ``strided``, in which the rows of tensors of two or more dimensions are padded by 16 elements, and
the padding holds a value that shows (nan, the largest integer) in the result of a kernel that reads it; ``offset``,
contiguous but one element into its storage, so that the pointer is aligned to the element and to nothing more.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from kernelarena.spec.platform import torch_name
from kernelarena.spec.shape import Shape
from kernelarena.spec.vocabulary import Distribution, Layout

LARGE = 2.0**6
"""Standard deviation of the ``large`` distribution."""
TINY = 2.0**-12
"""Standard deviation of the ``tiny`` distribution."""
ROW_PADDING = 16
"""Elements between the rows of a strided tensor: rows stay as aligned as they were, only no longer adjacent."""
INTEGER_SPREAD = 16.0
"""Standard deviation of :meth:`Sampler.tensor` where the dtype is an integer's and the distribution normal."""


class Sampler:
    """Source of the input tensors of one trial.

    Parameters
    ----------
    shape
        Says the default dtype, the distribution and the layout; its dims are the task's business.
    seed
        From 0 to 2**63 - 1. Equal seeds give equal tensors on the same kind of device.
    dtypes
        Torch's name of a canonical dtype; :meth:`kernelarena.spec.Platform.dtype` of the platform under test.
    device
        Where tensors are made and filled. ``"meta"`` makes tensors that have everything but values.
    """

    def __init__(
        self,
        shape: Shape,
        seed: int,
        *,
        dtypes: Callable[[str], str] = torch_name,
        device: torch.device | str = "cpu",
    ) -> None:
        self.shape = shape
        self.device = torch.device(device)
        self._dtypes = dtypes
        self._seed, self._seeds = seed, 0
        self._generator: torch.Generator | None = None
        if self.device.type != "meta":
            self._generator = torch.Generator(device=self.device)
            self._generator.manual_seed(seed)

    def torch_dtype(self, name: str) -> torch.dtype:
        """Return the torch dtype of a canonical one on the platform under test.

        Raises
        ------
        ValueError
            If this torch has no dtype of that name.
        """
        dtype = getattr(torch, self._dtypes(name), None)
        if not isinstance(dtype, torch.dtype):
            raise ValueError(f"'{name}' is not a dtype that torch {torch.__version__} knows")
        return dtype

    def tensor(self, *size: int, dtype: str | None = None, scale: float = 1.0) -> Tensor:
        """Draw a tensor whose values follow the trial's distribution.

        Parameters
        ----------
        *size
            Elements along each dimension; none for a 0-d tensor.
        dtype
            Canonical name; the shape's dtype if absent. An integer dtype gets the values rounded, after widening
            their spread 16-fold; ``bool`` is true where the value is positive.
        scale
            Factor on every value, for weights that must be smaller than activations.

        Returns
        -------
        Tensor
            Of ``size``, laid out by the trial's layout. Finite values beyond the dtype's range are clamped to it.
        """
        target = self.torch_dtype(dtype or self.shape.dtype)

        def draw() -> Tensor:
            values = self._draw(size, torch.float64 if target is torch.float64 else torch.float32).mul_(scale)
            if target.is_floating_point:
                return _clamped(values, torch.finfo(target).max)
            if target is torch.bool:
                return values > 0
            bounds = torch.iinfo(target)
            wide = values.double().mul_(INTEGER_SPREAD).nan_to_num_(0.0).round_()
            # 2**63 - 1 is no float64; casting the nearest one, 2**63, would wrap around.
            return wide.clamp_(bounds.min, min(bounds.max, 2.0**53))

        return self._place(size, target, draw)

    def uniform(self, low: float, high: float, *size: int, dtype: str | None = None) -> Tensor:
        """Draw floats uniformly from [low, high), whatever the trial's distribution: angles, probabilities.

        Parameters
        ----------
        low, high
            Bounds. Rounding to a narrow dtype may reach ``high``.
        *size
            Elements along each dimension.
        dtype
            Canonical name; the shape's dtype if absent.
        """
        target = self.torch_dtype(dtype or self.shape.dtype)
        wide = torch.float64 if target is torch.float64 else torch.float32
        return self._place(size, target, lambda: self._rand(size, wide).mul_(high - low).add_(low))

    def within(self, low: float, high: float, *size: int, dtype: str | None = None) -> Tensor:
        """Draw floats that keep the character of the trial's distribution inside an interval that is all there is.

        A value v becomes the interval's middle, plus half its width times v / (1 + abs v): large ones lie near the
        ends, tiny ones near the middle, rows that are constant stay so, and what is not finite stays what it is.

        Parameters
        ----------
        low, high
            The interval's bounds, which rounding may reach.
        *size
            Elements along each dimension.
        dtype
            Canonical name; the shape's dtype if absent.
        """
        middle, reach = (low + high) / 2, (high - low) / 2

        def squeeze(values: Tensor) -> Tensor:
            inside = (values / (1 + values.abs())).mul_(reach).add_(middle).clamp_(low, high)
            return torch.where(values.isfinite(), inside, values)

        return self._moved(size, dtype, squeeze)

    def above(self, low: float, *size: int, dtype: str | None = None) -> Tensor:
        """Draw floats from ``low`` on: ``low`` plus the magnitudes of the trial's distribution."""
        return self._moved(size, dtype, lambda values: values.abs_().add_(low))

    def _moved(self, size: Sequence[int], dtype: str | None, move: Callable[[Tensor], Tensor]) -> Tensor:
        target = self.torch_dtype(dtype or self.shape.dtype)
        wide, largest = torch.float64 if target is torch.float64 else torch.float32, torch.finfo(target).max
        return self._place(size, target, lambda: _clamped(move(self._draw(size, wide)), largest))

    def integers(self, low: int, high: int, *size: int, dtype: str = "int64") -> Tensor:
        """Draw integers uniformly from [low, high).

        Raises
        ------
        ValueError
            If no integer lies between the bounds.
        """
        if low >= high:
            raise ValueError(f"no integer lies in [{low}, {high})")
        options = {"dtype": torch.int64, "device": self.device}
        return self._place(
            size,
            self.torch_dtype(dtype),
            lambda: torch.randint(low, high, size, generator=self._generator, **options),  # type: ignore[call-overload]
        )

    def distinct(self, low: int, high: int, *size: int, dtype: str = "int64") -> Tensor:
        """Draw integers from [low, high) of which no row (the last dimension) holds one twice.

        Raises
        ------
        ValueError
            If a row has more elements than there are integers.
        """
        length = size[-1] if size else 1
        if length > high - low:
            raise ValueError(f"a row of {length} distinct integers does not fit into [{low}, {high})")

        def draw() -> Tensor:
            # One row after the other: each takes as many numbers as there are integers to choose from.
            rows = [torch.randperm(high - low, generator=self._generator, device=self.device)[:length]
                    for _ in range(math.prod(size[:-1]))]  # fmt: skip
            return torch.stack(rows).view(tuple(size)).add_(low) if rows else torch.empty(tuple(size))

        return self._place(size, self.torch_dtype(dtype), draw)

    def seed(self) -> int:
        """Return a number from 0 to 2**31 - 1 for an operator that draws numbers itself; another one each time."""
        self._seeds += 1
        digest = hashlib.sha256(f"{self._seed}/{self._seeds}".encode()).digest()
        return int.from_bytes(digest[:4], "big") >> 1

    def mask(self, *size: int, p: float = 0.5) -> Tensor:
        """Draw booleans that are true with probability ``p``."""
        return self._place(size, torch.bool, lambda: self._rand(size, torch.float32) < p)

    def _allocate(self, size: Sequence[int], stride: Sequence[int], offset: int, dtype: torch.dtype) -> Tensor:
        """Return room for a tensor that starts ``offset`` elements into its storage; its values do not matter.

        A judge overrides this to place inputs in memory of its own, with guards around them.
        """
        buffer = torch.zeros(offset + extent(size, stride), dtype=dtype, device=self.device)
        return buffer.as_strided(tuple(size), tuple(stride), offset)

    def _place(self, size: Sequence[int], dtype: torch.dtype, draw: Callable[[], Tensor]) -> Tensor:
        stride = strides(size, self.shape.layout)
        tensor = self._allocate(size, stride, 1 if self.shape.layout is Layout.OFFSET else 0, dtype)
        if self._generator is None:
            return tensor
        if tensor.numel() < (reach := extent(size, stride)):
            tensor.as_strided((reach,), (1,), tensor.storage_offset()).fill_(_conspicuous(dtype))
        return tensor.copy_(draw())

    def _draw(self, size: Sequence[int], dtype: torch.dtype) -> Tensor:
        """Return contiguous values of the trial's distribution, in ``float32`` or ``float64``."""
        match self.shape.distribution:
            case Distribution.NORMAL:
                return self._randn(size, dtype)
            case Distribution.UNIFORM:
                return self._rand(size, dtype).mul_(2.0).sub_(1.0)
            case Distribution.LARGE:
                return self._randn(size, dtype).mul_(LARGE)
            case Distribution.TINY:
                return self._randn(size, dtype).mul_(TINY)
            case Distribution.CONSTANT_ROWS:
                return self._randn((*size[:-1], 1) if size else (), dtype).expand(tuple(size)).contiguous()
            case Distribution.SIGNED_ZEROS:
                values, lot = self._randn(size, dtype), self._rand(size, torch.float32)
                return values.masked_fill_(lot < 0.25, 0.0).masked_fill_(lot >= 0.75, -0.0)
            case Distribution.SPECIALS:
                return self._with_specials(self._randn(size, dtype))

    def _with_specials(self, values: Tensor) -> Tensor:
        """Put one special in every fourth row: operators over rows keep finite rows that can still go wrong."""
        if values.numel() == 0:
            return values
        length = values.shape[-1] if values.dim() else 1
        rows = values.numel() // length
        count = max(1, rows // 4)
        chosen = torch.randperm(rows, generator=self._generator, device=self.device)[:count]
        columns = torch.randint(length, (count,), generator=self._generator, device=self.device)
        kinds = torch.tensor([math.inf, -math.inf, math.nan], dtype=values.dtype, device=self.device)
        first = torch.randint(3, (1,), generator=self._generator, device=self.device)
        kind = kinds[(first + torch.arange(count, device=self.device)) % 3]
        values.view(-1)[chosen * length + columns] = kind
        return values

    def _randn(self, size: Sequence[int], dtype: torch.dtype) -> Tensor:
        return torch.randn(tuple(size), generator=self._generator, device=self.device, dtype=dtype)

    def _rand(self, size: Sequence[int], dtype: torch.dtype) -> Tensor:
        return torch.rand(tuple(size), generator=self._generator, device=self.device, dtype=dtype)


def strides(size: Sequence[int], layout: Layout) -> tuple[int, ...]:
    """Return the stride of each dimension, in elements, of a tensor laid out so."""
    stride, step = [], 1
    for index, length in enumerate(reversed(size)):
        stride.append(step)
        step *= max(length, 1)
        if index == 0 and layout is Layout.STRIDED:
            step += ROW_PADDING
    return tuple(reversed(stride))


def extent(size: Sequence[int], stride: Sequence[int]) -> int:
    """Return how many elements of storage lie from a strided tensor's first element to its last, both included."""
    if 0 in size:
        return 0
    return 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True))


def _clamped(values: Tensor, largest: float) -> Tensor:
    """Clamp finite values to the range; infinities and nans stay."""
    if largest >= torch.finfo(values.dtype).max:
        return values
    return torch.where(values.isinf(), values, values.clamp(-largest, largest))


def _conspicuous(dtype: torch.dtype) -> float | int | bool:
    """Return the value that fills padding: whoever reads it shows."""
    if dtype.is_floating_point:
        return math.nan
    return True if dtype is torch.bool else torch.iinfo(dtype).max
