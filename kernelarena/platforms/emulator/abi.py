"""What a wave finds in its registers when it begins, and what the kernarg segment holds.

From LLVM's *User Guide for AMDGPU Backend*, "Initial Kernel Execution State" and "Kernel Argument Metadata": user
scalar registers by the descriptor's enable bits, preloaded arguments, workgroup indices, work-item indices packed into
v0 (gfx90a and later), hidden arguments from the shape of the launch.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelarena.errors import InputError
from kernelarena.platforms.emulator.assembly import Argument, KernelText
from kernelarena.platforms.emulator.assembly.operands import EXEC, FLAT_SCRATCH, VECTOR
from kernelarena.platforms.emulator.lanes import LANES, Array
from kernelarena.platforms.emulator.state import State

Dim = tuple[int, int, int]
Value = int | float | bytes

_BEFORE_ARGUMENTS = (
    ("user_sgpr_private_segment_buffer", 4), ("user_sgpr_dispatch_ptr", 2), ("user_sgpr_queue_ptr", 2),
    ("user_sgpr_kernarg_segment_ptr", 2), ("user_sgpr_dispatch_id", 2), ("user_sgpr_flat_scratch_init", 2),
    ("user_sgpr_private_segment_size", 1),
)  # fmt: skip
"""Optional user registers in their order, and how many each takes."""
_HIDDEN = {
    "hidden_block_count_x": ("grid", 0), "hidden_block_count_y": ("grid", 1), "hidden_block_count_z": ("grid", 2),
    "hidden_group_size_x": ("block", 0), "hidden_group_size_y": ("block", 1), "hidden_group_size_z": ("block", 2),
}  # fmt: skip
_SWIZZLED_RESOURCE = (1 << 31, 0xFFFF_FFFF, 1 << 23)


@dataclass(frozen=True)
class Launch:
    """What a kernel is launched with.

    Attributes
    ----------
    grid, block
        Workgroups, and work-items of one.
    kernarg, packet
        Addresses of the kernarg segment and of the dispatch packet.
    kernarg_bytes
        What the former holds.
    scratch
        Where a batch's scratch begins.
    """

    grid: Dim
    block: Dim
    kernarg: int
    packet: int
    kernarg_bytes: bytes
    scratch: int = 0

    @property
    def waves_each(self) -> int:
        """Waves of a workgroup."""
        threads = self.block[0] * self.block[1] * self.block[2]
        return -(-threads // LANES)


def kernarg_segment(kernel: KernelText, values: Sequence[Value], grid: Dim, block: Dim, dynamic_lds: int) -> bytes:
    """Lay out the kernarg segment.

    Parameters
    ----------
    kernel
        Whose arguments.
    values
        One for each argument of its metadata that is not hidden; a pointer is a number. Those that are left out at the
        end are zero, as Triton's scratch pointers are.
    grid, block, dynamic_lds
        What hidden arguments tell.

    Raises
    ------
    InputError
        If there are more values than arguments, or one does not fit.
    """
    visible = [one for one in kernel.arguments if not one.kind.startswith("hidden_")]
    if len(values) > len(visible):
        raise InputError(f"{kernel.name}: takes {len(visible)} arguments; it is launched with {len(values)}")
    size = kernel.descriptor.get("kernarg_size", 0)
    segment = bytearray(max(size, max((one.offset + one.size for one in kernel.arguments), default=0)))
    for argument, value in zip(visible, values, strict=False):
        segment[argument.offset : argument.offset + argument.size] = _encoded(kernel, argument, value)
    for argument in kernel.arguments:
        if argument.kind.startswith("hidden_"):
            hidden = _hidden(argument.kind, grid, block, dynamic_lds)
            segment[argument.offset : argument.offset + argument.size] = hidden.to_bytes(argument.size, "little")
    return bytes(segment)


def _encoded(kernel: KernelText, argument: Argument, value: Value) -> bytes:
    if isinstance(value, bytes):
        if len(value) != argument.size:
            raise InputError(f"{kernel.name}: an argument of {argument.size} bytes is given {len(value)}")
        return value
    if isinstance(value, float):
        form = {2: "<e", 4: "<f", 8: "<d"}.get(argument.size)
        if form is None:
            raise InputError(f"{kernel.name}: an argument of {argument.size} bytes is no float")
        return struct.pack(form, value)
    return (int(value) & ((1 << 8 * argument.size) - 1)).to_bytes(argument.size, "little")


def _hidden(kind: str, grid: Dim, block: Dim, dynamic_lds: int) -> int:
    if kind in _HIDDEN:
        of, axis = _HIDDEN[kind]
        return (grid if of == "grid" else block)[axis]
    if kind == "hidden_grid_dims":
        return 1 + max(axis for axis in range(3) if axis == 0 or grid[axis] * block[axis] > 1)
    return dynamic_lds if kind == "hidden_dynamic_lds_size" else 0  # remainders, offsets and services: none


def dispatch_packet(grid: Dim, block: Dim, kernarg: int) -> bytes:
    """Return what the dispatch pointer points to (HSA, ``hsa_kernel_dispatch_packet_t``)."""
    sizes = [grid[axis] * block[axis] for axis in range(3)]
    return struct.pack("<HHHHHHIIIIIQQQQ", 0, 3, *block, 0, *sizes, 0, 0, 0, kernarg, 0, 0)


def begin(state: State, kernel: KernelText, launch: Launch) -> set[int]:
    """Fill the registers of a batch, and return those that hold something.

    Parameters
    ----------
    state
        Of the batch.
    kernel
        What runs.
    launch
        How.
    """
    descriptor = kernel.descriptor
    values: dict[str, Sequence[int]] = {
        "user_sgpr_private_segment_buffer": _resource(launch.scratch),
        "user_sgpr_dispatch_ptr": _halves(launch.packet),
        "user_sgpr_kernarg_segment_ptr": _halves(launch.kernarg),
    }
    given: set[int] = set()
    place = 0

    def put(words: Sequence[int] | Sequence[Array] | Array) -> None:
        nonlocal place
        for word in words:
            state.scalars[:, place] = word
            given.add(place)
            place += 1

    for name, count in _BEFORE_ARGUMENTS:
        if descriptor.get(name, 0):
            put(values.get(name, [0] * count))
    length, offset = (descriptor.get(f"user_sgpr_kernarg_preload_{what}", 0) for what in ("length", "offset"))
    put(np.frombuffer(launch.kernarg_bytes, np.uint32, length, offset * 4) if length else [])
    place = max(place, descriptor.get("user_sgpr_count", place))
    each = state.seats.waves_each
    groups = np.repeat(state.seats.workgroups, each, axis=0)
    for axis, name in enumerate("xyz"):
        if descriptor.get(f"system_sgpr_workgroup_id_{name}", int(axis == 0)):
            put([groups[:, axis].astype(np.uint32)])
    if descriptor.get("system_sgpr_workgroup_info", 0):
        put([0])
    if descriptor.get("enable_private_segment", descriptor.get("system_sgpr_private_segment_wavefront_offset", 0)):
        size = descriptor.get("private_segment_fixed_size", 0) * LANES
        put([(np.arange(len(groups)) * size).astype(np.uint32)])
    _begin_lanes(state, descriptor, launch, given)
    return given


def _begin_lanes(state: State, descriptor: dict[str, int], launch: Launch, given: set[int]) -> None:
    """Put the numbers of work-items into v0, and disable lanes beyond the last one."""
    each, (x, y, z) = launch.waves_each, launch.block
    flat = np.arange(each * LANES).reshape(each, LANES)
    packed = flat % x
    dims = descriptor.get("system_vgpr_workitem_id", 0)
    if dims > 0:
        packed = packed | flat // x % y << 10
    if dims > 1:
        packed = packed | flat // (x * y) << 20
    groups = len(state.seats.workgroups)
    state.vectors[VECTOR][:] = np.tile(packed.astype(np.uint32), (groups, 1))
    state.exec[:] = np.tile(flat < x * y * z, (groups, 1))
    state.pairs[:, EXEC // 2] = np.packbits(state.exec, axis=1, bitorder="little").view(np.uint64)[:, 0]
    given |= {VECTOR, EXEC, EXEC + 1, FLAT_SCRATCH, FLAT_SCRATCH + 1}


def _halves(address: int) -> tuple[int, int]:
    return address & 0xFFFF_FFFF, address >> 32


def _resource(base: int) -> tuple[int, int, int, int]:
    """Return a descriptor under which each lane has bytes of its own."""
    low, high = _halves(base)
    swizzle, records, by_thread = _SWIZZLED_RESOURCE
    return low, high | swizzle, records, by_thread
