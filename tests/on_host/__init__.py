"""Runs kernels in C++ without any chip: their source, built for the host, where fibers play the threads of a block.

What they compute is seen so for warps of any width, and slowly. It says nothing about a chip's compiler, its arithmetic
or its memory.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import torch

from kernelarena.judge.arena import dtype_name
from kernelarena.judge.problems import Problem
from kernelarena.platforms.toolchains.cpp.compiler import INCLUDE
from kernelarena.platforms.toolchains.cpp.entry import EXPORTED, signature, source
from kernelarena.spec import Kernel

COMPILER = "c++"
_HEADERS = Path(__file__).parent / "include"
_LAUNCH = re.compile(r"(\w+(?:<[^<>;]*>)?)<<<(.*?)>>>\((.*?)\);", re.DOTALL)
_OF_CUDA = re.compile(r"\bcuda(?=[A-Z])")
_DTYPES = {
    name.lower(): int(number)
    for name, number in re.findall(r"KA_(\w+) = (\d+)", (INCLUDE / "kernelarena.h").read_text())
}
_GUARD = 64  # elements before and after an output


class Tensor(ctypes.Structure):
    """``ka_tensor`` of ``kernelarena.h``."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("size", ctypes.POINTER(ctypes.c_int64)), ("stride", ctypes.POINTER(ctypes.c_int64)),
    ]  # fmt: skip


class OnHost:
    """A kernel, built and loaded.

    Parameters
    ----------
    kernel
        In HIP, or in CUDA with names that are HIP's but for the first letters.
    problem
        Any of its task: it says what the entry takes.
    folder
        Where to build.
    """

    def __init__(self, kernel: Kernel, problem: Problem, folder: Path) -> None:
        place = folder / kernel.id
        place.mkdir()
        for name, text in kernel.files.items():
            launches = _LAUNCH.sub(r"host::launch([=] { \1(\3); }, \2);", text)
            (place / name).write_text(_OF_CUDA.sub("hip", launches))
        inputs = [(name, None if isinstance(value, torch.Tensor) else value) for name, value in problem.inputs.items()]
        wanted = signature(kernel.function, inputs, len(problem.truth.outputs))
        dialect = SimpleNamespace(prelude="#include <hip/hip_runtime.h>", error_type="hipError_t")
        unit, library = place / "unit.cpp", place / "unit.so"
        unit.write_text(source(dialect, wanted, kernel.file))  # type: ignore[arg-type]
        include = [f"-I{path}" for path in (_HEADERS, INCLUDE, place)]
        options = ["-std=c++17", "-O1", "-fPIC", "-shared", "-D__HIPCC__"]
        subprocess.run([COMPILER, *options, *include, "-o", library, unit], check=True)
        self._library = ctypes.CDLL(str(library))

    def answer(self, problem: Problem, lanes: int) -> list[torch.Tensor]:
        """Return what the entry writes, on warps of so many lanes.

        Raises
        ------
        RuntimeError
            If it returns an error, or writes beyond an output.
        """
        guarded = [_poisoned(output.size, output.dtype) for output in problem.truth.outputs]
        outputs = [inside for inside, _, _ in guarded]
        self._library.ka_lanes(lanes)
        status = self._library[EXPORTED](*map(_argument, (*problem.inputs.values(), *outputs)), None)
        if status != 0:
            raise RuntimeError(f"the entry returned {status}")
        if not all(torch.equal(around, before) for _, around, before in guarded):
            raise RuntimeError("it writes beyond an output")
        return outputs


def _poisoned(size: tuple[int, ...], dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return a tensor of ones' bits, the bytes around it, and a copy of those."""
    count = torch.Size(size).numel()
    guard = _GUARD * dtype.itemsize
    memory = torch.full((2 * guard + count * dtype.itemsize,), 0xFF, dtype=torch.uint8)
    inside = memory[guard : len(memory) - guard].view(dtype).view(size)
    around = torch.as_strided(memory, (2, guard), (len(memory) - guard, 1))
    return inside, around, around.clone()


def _argument(value: torch.Tensor | float) -> object:
    if isinstance(value, bool):
        return ctypes.c_bool(value)
    if isinstance(value, int):
        return ctypes.c_int64(value)
    if isinstance(value, float):
        return ctypes.c_double(value)
    rank = value.dim()
    size, stride = (ctypes.c_int64 * rank)(*value.shape), (ctypes.c_int64 * rank)(*value.stride())
    return ctypes.byref(
        Tensor(data=value.data_ptr(), dtype=_DTYPES[dtype_name(value.dtype)], ndim=rank, size=size, stride=stride)
    )
