"""What the backends have in common whose chips Triton compiles for without one being there."""

from __future__ import annotations

import importlib.metadata
from abc import abstractmethod
from typing import ClassVar

from kernelarena.platforms.backend import Availability
from kernelarena.platforms.toolchains.triton import version as triton_version
from kernelarena.platforms.torch_backend import TorchBackend
from kernelarena.spec import Evidence, Platform

OLDEST_TRITON = (3, 6)


class GpuBackend(TorchBackend):
    """Compiled evidence by Triton, measured evidence through torch."""

    torch_kind = "cuda"
    triton_backend: ClassVar[str]
    """Entry point of the group ``triton.backends`` that compiles for these chips."""

    @abstractmethod
    def triton_target(self, platform: Platform) -> tuple[str, int | str, int] | None:
        """Return Triton's target, or None where ``platform.arch`` is not one that this backend knows."""

    def availability(self, platform: Platform) -> Availability:
        """Return ``measured`` where the chip is here, ``compiled`` where Triton can build for it, and why not more."""
        problem = self._why_not_built(platform)
        if problem is not None:
            return Availability((), problem)
        unlimited = None if platform.limits else f"{platform.id}.yaml has no 'limits' to hold a compiled kernel against"
        compiled = () if unlimited else (Evidence.COMPILED,)
        absent = self._why_not_measured(platform)
        if absent is None:
            return Availability((Evidence.MEASURED, *compiled))
        return Availability(compiled, unlimited or absent)

    def _why_not_built(self, platform: Platform) -> str | None:
        version = triton_version()
        if version is None:
            return "Triton is not installed: pip install 'kernelarena[triton]'"
        if triton_release(version) < OLDEST_TRITON:
            return f"Triton {version} is too old: {'.'.join(map(str, OLDEST_TRITON))} or newer is needed"
        if self.triton_backend not in triton_backends():
            return f"the installed Triton {version} has no backend '{self.triton_backend}'"
        if self.triton_target(platform) is None:
            return f"Triton has no target for arch '{platform.arch}' of backend '{self.name}'"
        return None


def triton_backends() -> set[str]:
    """Return the names of the compilers that the installed Triton would load, without importing it."""
    return {entry.name for entry in importlib.metadata.entry_points(group="triton.backends")}


def triton_release(version: str) -> tuple[int, ...]:
    """Return the release of a version: ``(3, 9)`` of ``3.9.0+git1234``."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
