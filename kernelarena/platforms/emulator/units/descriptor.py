"""Buffer descriptors, and which accesses through them are in range.

From the ISA guides, "Vector memory buffer instructions": V# in four scalar registers. A raw buffer (no stride) is in
range where offset + 4 fits into the number of records, dword by dword; what is not reads as zero and is not written.
"""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.lanes import Array

_STRIDE, _SWIZZLE, _ADD_THREAD = 0x3FFF, 1 << 31, 1 << 23


class Descriptor:
    """Descriptors of several waves.

    Parameters
    ----------
    words
        ``uint32[waves, 4]``.

    Attributes
    ----------
    base, stride, records
        ``int64[waves]``.
    swizzled, by_thread
        Whether any has these bits set.
    """

    def __init__(self, words: Array) -> None:
        low, high = words[:, 0].astype(np.int64), words[:, 1].astype(np.int64)
        self.base: Array = low | (high & 0xFFFF) << 32
        self.stride: Array = high >> 16 & _STRIDE
        self.records: Array = words[:, 2].astype(np.int64)
        self.swizzled = bool((words[:, 1] & np.uint32(_SWIZZLE)).any())
        self.by_thread = bool((words[:, 3] & np.uint32(_ADD_THREAD)).any())

    def addresses(self, index: Array | None, offset: Array, scalar: Array, size: int) -> tuple[Array, Array]:
        """Return where lanes access, and which of their words are in range.

        Parameters
        ----------
        index
            ``int64[waves, 64]`` or None: the element, where the instruction has ``idxen``.
        offset
            ``int64[waves, 64 or 1]``: of the lane and the instruction, in bytes.
        scalar
            ``int64[waves, 1]``: of the wave.
        size
            Bytes of the access.

        Returns
        -------
        addresses
            ``int64[waves, 64]``.
        inside
            ``bool[waves, 64, words]``.
        """
        base, stride, records = self.base[:, None], self.stride[:, None], self.records[:, None]
        width = min(size, 4)
        starts = np.arange(0, size, width)
        within = offset[..., None] + starts + width
        if index is None:
            addresses = base + scalar + offset
            inside = within <= (records - scalar)[..., None]
        else:
            addresses = base + scalar + index * stride + offset
            by_record = (index < records)[..., None] & ((within <= stride[..., None]) | (stride == 0)[..., None])
            raw = within + (index * stride)[..., None] <= (records - scalar)[..., None]
            inside = np.where((stride == 0)[..., None], raw, by_record)
        return np.broadcast_to(addresses, (len(base), 64)), np.broadcast_to(inside, (len(base), 64, len(starts)))
