"""The device driver that Triton meets under a persona: it answers as the chip and records launches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime import _allocation

from kernelarena.platforms.persona.facts import PersonaFacts

if TYPE_CHECKING:
    from kernelarena.platforms.persona.capture import Recorder
    from kernelarena.platforms.persona.executor import Executor

_MILLISECONDS = 1.0  # of any tuning configuration: a constant, so that the choice is the same every time


class GridTooLarge(RuntimeError):
    """A grid that the runtime refuses, which it does with a bare ``invalid argument``."""

    name = "grid"


class PersonaDriver(DriverBase):  # type: ignore[misc]
    """Answers as the chip of ``facts``.

    Parameters
    ----------
    facts
        The chip.
    recorder
        Takes note of loads and launches, or has those run; None where they never come here (in the interpreter).
    """

    def __init__(self, facts: PersonaFacts, recorder: Recorder | Executor | None) -> None:
        self._facts = facts
        self._recorder = recorder
        self.utils = _Utils(facts, recorder)
        self.binary_ext = "hsaco" if facts.hip_version else "cubin"

    @classmethod
    def is_active(cls) -> bool:
        """Say yes: it is, where it is installed."""
        return True

    def launcher_cls(self, source: Any, metadata: Any) -> Any:
        """Return what Triton calls to launch."""
        assert self._recorder is not None
        return Launcher(self._facts, self._recorder, source, metadata)

    def map_python_to_cpp_type(self, ty: str) -> str:
        """Return the C type of an argument."""
        return "void*" if ty.startswith("*") else {"fp32": "float", "fp64": "double"}.get(ty, ty)

    def get_current_target(self) -> Any:
        """Return the chip."""
        return GPUTarget(*self._facts.target)

    def get_active_torch_device(self) -> torch.device:
        """Return the only device."""
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        """Return torch's own, which a persona answers for."""
        return torch.cuda

    def get_device_capability(self, device: object = None) -> tuple[int, int]:
        """Return the capability as torch does."""
        return self._facts.capability

    def get_current_device(self) -> int:
        """Return the only device."""
        return 0

    def set_current_device(self, device: object) -> None:
        """Stay with the only device."""

    def get_current_stream(self, device: object = None) -> int:
        """Return the default stream."""
        return 0

    def get_benchmarker(self) -> Callable[..., Any]:
        """Return what an autotuner measures with."""
        return self.benchmark

    def benchmark(self, kernel_call: Callable[[], Any], *, quantiles: Sequence[float] | None = None, **_: Any) -> Any:
        """Run the call once, so that the configuration is compiled, and return a constant time."""
        if self._recorder is None:
            kernel_call()
        else:
            with self._recorder.tuning():
                kernel_call()
        return [_MILLISECONDS] * len(quantiles) if quantiles else _MILLISECONDS

    def do_bench(
        self,
        fn: Callable[[], Any],
        *_: Any,
        quantiles: Sequence[float] | None = None,
        return_mode: str = "mean",
        **__: Any,
    ) -> Any:
        """Stand in for ``triton.testing.do_bench``, which host code may call by itself."""
        if return_mode == "all" and not quantiles:
            return [self.benchmark(fn)]
        return self.benchmark(fn, quantiles=quantiles)

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        """Return a buffer to clear between measurements."""
        return torch.empty(1, dtype=torch.int, device="cuda")

    def clear_cache(self, cache: torch.Tensor) -> None:
        """Clear nothing."""

    def assemble_tensormap_to_arg(self, tensormaps_info: object, args: Any) -> Any:
        """Pass arguments on."""
        return args

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: object) -> torch.Tensor:
        """Return memory for a profiler."""
        return torch.empty(size, dtype=torch.int8, device="cuda")


class _Utils:
    """The driver's native half."""

    def __init__(self, facts: PersonaFacts, recorder: Recorder | Executor | None) -> None:
        self._facts = facts
        self._recorder = recorder

    def get_device_properties(self, device: object = None) -> dict[str, object]:
        """Return what Triton asks of a device."""
        return dict(self._facts.triton_properties)

    def load_binary(self, name: str, binary: bytes, shared: int, device: object) -> tuple[int, int, int, int, int]:
        """Return module, function, registers, spills and the most threads that the kernel can have."""
        assert self._recorder is not None
        needs = self._recorder.needs_of(binary)
        registers = needs.registers or 0
        threads = self._facts.max_threads
        return 1, 1, registers, needs.spills or 0, threads

    def unload_module(self, module: object) -> None:
        """Unload nothing."""

    def set_printf_fifo_size(self, size: int) -> None:
        """Nothing prints."""

    def fill_tma_descriptor(self, *args: object) -> int:
        """Return a descriptor that nobody reads."""
        return 0

    fill_tma_descriptor_tiled = fill_tma_descriptor
    fill_1d_tma_descriptor = fill_tma_descriptor
    fill_2d_tma_descriptor = fill_tma_descriptor

    def cuOccupancyMaxActiveClusters(self, *args: object) -> int:
        """Return that clusters fit."""
        return 1


class Launcher:
    """Hands a launch to whoever records or runs it, after the checks that the runtime would make."""

    def __init__(self, facts: PersonaFacts, recorder: Recorder | Executor, source: Any, metadata: Any) -> None:
        self._facts = facts
        self._recorder = recorder
        self._number = recorder.loading(source)
        self._metadata = metadata

    def __call__(
        self, x: int, y: int, z: int, stream: Any, function: Any, packed: Any, launch_metadata: Any,
        enter_hook: Any, exit_hook: Any, *args: Any,
    ) -> None:  # fmt: skip
        """Launch a grid of ``x * y * z`` blocks; Triton's signature."""
        if enter_hook is not None:
            enter_hook(launch_metadata)
        tensors = list(pointers(args))
        for position, argument in enumerate(args):
            for tensor in pointers((argument,)):
                if not self._recorder.ledger.on_device(tensor):
                    raise ValueError(f"Pointer argument (at {position}) cannot be accessed from Triton (cpu tensor?)")
        self._check_grid((x, y, z))
        scratch = getattr(self._metadata, "global_scratch_size", 0)
        blocks = x * y * z
        if scratch and blocks:
            allocate = _allocation._allocator.get()
            allocate(
                blocks * getattr(self._metadata, "num_ctas", 1) * scratch, self._metadata.global_scratch_align, stream
            )
        self._recorder.launched(self._number, (x, y, z), tensors, args)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _check_grid(self, grid: tuple[int, int, int]) -> None:
        threads = int(self._metadata.num_warps) * self._facts.target[2]
        for axis, size, most in zip("xyz", grid, self._facts.max_grid, strict=True):
            if self._facts.max_grid_threads is not None:
                most = min(most, self._facts.max_grid_threads // threads)
            if size > most:
                shown = " × ".join(map(str, grid))
                raise GridTooLarge(f"needs a grid of {shown} blocks; the device allows {most} in {axis}")


def pointers(values: Sequence[Any]) -> Iterator[torch.Tensor]:
    """Yield the tensors among launch arguments, also inside tuples, descriptors and reinterpreting wrappers."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, tuple):
            yield from pointers(value)
        elif isinstance(getattr(value, "base", None), torch.Tensor):
            yield value.base
