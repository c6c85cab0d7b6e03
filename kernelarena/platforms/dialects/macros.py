"""What the preprocessor is told when C++ is compiled for a chip: how source tells chips apart.

Sources: CUDA C++ Programming Guide, "Application Compatibility" and ``__CUDA_ARCH__``; HIP documentation, "HIP porting
guide", section on identifying the compilation target; clang's AMDGPU target (``__gfx942__``, wavefront size); PyTorch's
own ``USE_ROCM``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kernelarena.platforms.dialects.where import AMD, NVIDIA
from kernelarena.spec import Platform

_HIP = ("__HIP__", "__HIPCC__", "__HIP_PLATFORM_AMD__", "__HIP_PLATFORM_HCC__", "USE_ROCM", "__HIP_ROCclr__")
_HIP_DEVICE = ("__HIP_DEVICE_COMPILE__", "__AMDGCN__", "__AMDGPU__")
_CUDA = ("__NVCC__", "__HIP_PLATFORM_NVIDIA__", "__HIP_PLATFORM_NVCC__")


def passes(platform: Platform) -> tuple[Mapping[str, int | None], ...]:
    """Return what is defined in each pass over a source: for the device, and for the host.

    Parameters
    ----------
    platform
        The chip that is compiled for.

    Returns
    -------
    tuple of mappings
        Values by name, None for a name that is certainly not defined; of what is not listed nothing is known. Empty
        where nothing is known of the platform's compiler. ``__CUDACC__`` is left open, since translation to HIP turns
        it into ``__HIPCC__``: it tells device code from host code, not a vendor.
    """
    if platform.backend == NVIDIA:
        number = re.fullmatch(r"sm_(\d+)", platform.arch)
        common: dict[str, int | None] = {**dict.fromkeys(_CUDA, 1), **dict.fromkeys(_HIP + _HIP_DEVICE)}
        return {**common, "__CUDA_ARCH__": 10 * int(number[1]) if number else 1}, {**common, "__CUDA_ARCH__": None}
    if platform.backend == AMD:
        common = {**dict.fromkeys(_HIP, 1), **dict.fromkeys(_CUDA), "__CUDA_ARCH__": None}
        lanes = platform.limits.warp_size if platform.limits is not None else None
        device: dict[str, int | None] = {**dict.fromkeys(_HIP_DEVICE, 1), f"__{platform.arch}__": 1}
        if lanes is not None:  # hosts are told nothing, or anything: what the kernel is compiled with counts
            common |= dict.fromkeys(("__AMDGCN_WAVEFRONT_SIZE", "__AMDGCN_WAVEFRONT_SIZE__"), lanes)
        return {**common, **device}, {**common, **dict.fromkeys(_HIP_DEVICE)}
    return ()


def is_architecture(name: str) -> bool:
    """Return whether a macro stands for one architecture, so that it is not defined on any other."""
    return re.fullmatch(r"__gfx[0-9a-f]+__", name) is not None
