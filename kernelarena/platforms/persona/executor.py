"""Runs on this host what Triton compiles for a chip that is not there: launches go to the emulator of that chip.

The host code is given the same face as under the compile gate, and its tensors lie in this process's memory, where the
emulator finds them at their own addresses.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from kernelarena.platforms.emulator import Memory, Program, launch, load
from kernelarena.platforms.emulator.fault import Fault, Unsupported
from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.persona.launches import Launches
from kernelarena.platforms.persona.observer import Observer
from kernelarena.platforms.persona.traffic import Traffic
from kernelarena.platforms.toolchains.artefact import read_amdgcn

_TEXT = "amdgcn"
"""What Triton calls the assembly text of the chips that there is an emulator of."""


class Executor(Launches):
    """Has launches run.

    Parameters
    ----------
    observer
        Told of what launches do; its ledger knows which tensors play the device's.
    """

    def __init__(self, observer: Observer) -> None:
        super().__init__(observer.ledger)
        self._observer = observer
        self._made: list[Any] = []
        self._programs: dict[int, Program] = {}

    def compiling(self, compile_: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap Triton's ``compile`` so that what it makes can be run."""

        def kept(src: Any, target: Any = None, options: Any = None, **rest: Any) -> Any:
            made = compile_(src, target=target, options=options, **rest)
            src._persona_number = len(self._made)
            self._made.append(made)
            self._needs[made.kernel] = read_amdgcn(made.asm[_TEXT])
            return made

        return kept

    def launched(
        self, number: int, grid: tuple[int, int, int], tensors: Sequence[torch.Tensor], arguments: Sequence[Any]
    ) -> None:
        """Run a launch.

        Parameters
        ----------
        number
            Of the specialisation.
        grid
            Blocks along each axis.
        tensors
            Those among the arguments.
        arguments
            Of the kernel, those that are compiled in included.

        Raises
        ------
        kernelarena.platforms.emulator.Fault
            If it does what a chip would not survive, or must not be relied on.
        kernelarena.platforms.emulator.fault.Unsupported
            If it holds what the emulator does not know.
        """
        if self._tuning:  # an autotuner's trials all take the same time here, whatever they do
            return
        made = self._made[number]
        program = self._programs.get(number)
        if program is None:
            with _blaming_itself():
                program = load(made.asm[_TEXT])
            self._programs[number] = program
        name, passed = str(made.metadata.name), list(_passed(made.src, arguments))
        run(
            self._observer,
            program,
            name,
            grid,
            (int(made.metadata.num_warps) * int(made.metadata.warp_size), 1, 1),
            [_plain(value) for _, value in passed],
            [(label, value) for label, value in passed if isinstance(value, torch.Tensor)],
            shared=int(made.metadata.shared),
        )


def run(
    observer: Observer,
    program: Program,
    kernel: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    arguments: Sequence[int | float | bytes],
    tensors: Sequence[tuple[str, torch.Tensor]],
    *,
    shared: int,
    workspaces: Sequence[tuple[int, int]] = (),
) -> None:
    """Run a launch in the emulator, before the observer's eyes.

    Parameters
    ----------
    observer
        Told of what the launch does.
    program, kernel
        What is launched.
    grid, block
        Blocks, and threads of a block, along each axis.
    arguments
        Of the kernel, in order.
    tensors
        Those that it may touch, by what people call them.
    shared
        Bytes of dynamic shared memory.
    workspaces
        Address and bytes of other memory that it may touch.

    Raises
    ------
    kernelarena.platforms.emulator.Fault
        If it does what a chip would not survive, or must not be relied on.
    kernelarena.platforms.emulator.fault.Unsupported
        If it holds what the emulator does not know.
    """
    if kernel not in program.kernels:
        raise Unsupported("; ".join(program.missing.get(kernel, ("no such kernel",))))
    handed = [tensor for _, tensor in tensors]
    traffic = Traffic(handed)
    memory = _Metered(traffic)
    for label, tensor in _storages(tensors):
        storage = tensor.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        memory.add(start, size, f"{label}, {_form(tensor)}", slack=-(start + size) % 4)
    for number, (address, size) in enumerate(workspaces):
        memory.add(address, size, f"workspace {number}")
    with observer.interpreting(handed, kernel, traffic), _blaming_itself():
        launch(program, kernel, grid, block, arguments, memory, dynamic_lds=shared)


@contextlib.contextmanager
def _blaming_itself() -> Iterator[None]:
    """Have what the emulator trips over count as what it does not know, and not as the kernel's doing."""
    try:
        yield
    except (Fault, Unsupported, MemoryError):
        raise
    except Exception as error:
        raise Unsupported(f"{type(error).__name__} of its own: {error}") from error


class _Metered(Memory):
    """Memory of which is noted what a launch does to it."""

    def __init__(self, traffic: Traffic) -> None:
        super().__init__()
        self._traffic = traffic

    def read(self, addresses: Array, size: int) -> Array:
        self._traffic.load(addresses.view(np.uint64), _EVERY, size)
        return super().read(addresses, size)

    def write(self, addresses: Array, values: Array, size: int) -> None:
        self._traffic.store(addresses.view(np.uint64), _EVERY)
        super().write(addresses, values, size)


_EVERY = np.True_
"""A mask that leaves nothing out."""


def _passed(source: Any, arguments: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and value of the arguments that are passed at a launch, those in tuples one by one."""
    for (name, kind), value in zip(source.signature.items(), arguments, strict=False):
        yield from _leaves(str(name), kind, value)


def _leaves(name: str, kind: Any, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(kind, tuple):
        for number, (inner, part) in enumerate(zip(kind, value, strict=True)):
            yield from _leaves(f"{name}[{number}]", inner, part)
    elif kind != "constexpr":
        yield name, value.base if isinstance(getattr(value, "base", None), torch.Tensor) else value


def _storages(tensors: Sequence[tuple[str, torch.Tensor]]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield a tensor for each piece of memory."""
    seen = set()
    for name, tensor in tensors:
        storage = tensor.untyped_storage()
        if storage.nbytes() and storage.data_ptr() not in seen:
            seen.add(storage.data_ptr())
            yield name, tensor


def _form(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"


def _plain(value: Any) -> int | float:
    """Return an argument as the number that the kernel gets: a tensor's address, or the value itself."""
    if isinstance(value, torch.Tensor):
        return value.data_ptr()
    if not isinstance(value, int | float):
        raise Unsupported(f"a launch argument of type {type(value).__name__}")
    return value
