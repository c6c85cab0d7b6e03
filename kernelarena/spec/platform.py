"""A platform: one chip as a user names it, declared in ``platforms/<id>.yaml``."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, field_validator, model_validator

from kernelarena.errors import nearest
from kernelarena.spec.base import Identifier, Model
from kernelarena.spec.task import ITEMSIZE


def _of_a_chip(value: float) -> float:
    if not 1e9 <= value <= 1e21:  # also where it is not a number
        raise ValueError(f"no chip does {value:g} a second; give B/s or FLOP/s, without a prefix (5.3e12)")
    return value


_Count = Annotated[int, Field(gt=0)]
# The upper ends lie far above any chip: they catch a slip of the unit, not a chip of next year.
Positive = Annotated[_Count, Field(le=1 << 20)]
Bytes = Annotated[_Count, Field(le=1 << 50)]
OnChipBytes = Annotated[_Count, Field(le=1 << 28)]
Rate = Annotated[float, AfterValidator(_of_a_chip)]
"""Per second, without a prefix: 5.3e12 and not 5.3."""


class Source(Model):
    """Where figures of the file come from."""

    title: str
    """The document: a datasheet, a white paper, an ISA guide."""
    section: str | None = None
    """The table, page or section inside it."""
    figures: tuple[str, ...] = ()
    """The keys of this file that it backs; empty means all that no other source names."""


class Detect(Model):
    """How a device of this platform is recognised on a host that has one."""

    names: tuple[str, ...] = ()
    """Words that the name which the runtime reports holds, any of them: ``MI250`` is not found in ``MI250X``."""
    unless: tuple[str, ...] = ()
    """Words that tell a sibling apart: an ``RTX 4090`` unless ``Laptop``."""
    arch: str | None = None
    """The architecture that the runtime reports (``gfx942``, ``sm_90``)."""


class RayPlacement(Model):
    """How Ray finds hosts that carry this chip."""

    accelerator_type: str | None = None
    """Ray's own label for the chip (``ray.util.accelerators``), where it has one."""
    resource: str
    """The custom resource that a host announces, ``platform:<id>``."""


class Limits(Model):
    """What one launch may ask of the chip."""

    warp_size: Annotated[Positive, Field(le=128)]
    """Lanes that run in lockstep (warp, wavefront)."""
    max_threads_per_block: Positive
    shared_memory_per_block: OnChipBytes
    """Bytes of shared memory (LDS) that one block may opt in to."""
    registers_per_thread: Positive
    """32-bit registers that one thread may hold (on AMD: VGPRs of the unified file)."""

    @field_validator("warp_size")
    @classmethod
    def _lanes_are_a_power_of_two(cls, value: int) -> int:
        if value & (value - 1):
            raise ValueError(f"{value} is not a power of two, and lanes that run in lockstep always are")
        return value

    @model_validator(mode="after")
    def _whole_warps(self) -> Limits:
        if self.max_threads_per_block % self.warp_size:
            raise ValueError(f"max_threads_per_block {self.max_threads_per_block} is no multiple of warp_size")
        return self


class Occupancy(Model):
    """What one multiprocessor (SM, CU) holds; what occupancy follows from."""

    multiprocessors: Positive
    """How many the chip has."""
    partitions: Positive
    """Schedulers (SM sub-partitions, SIMDs) that a multiprocessor is divided into."""
    max_warps: Positive
    """Resident warps per multiprocessor."""
    max_blocks: Positive
    """Resident blocks per multiprocessor."""
    registers: Annotated[_Count, Field(le=1 << 26)]
    """32-bit registers per multiprocessor, summed over lanes and partitions."""
    register_granularity: Positive
    """Registers per thread are allocated in steps of this many."""
    shared_memory: OnChipBytes
    """Bytes of shared memory per multiprocessor."""
    shared_memory_granularity: Positive = 1
    """Shared memory is allocated in steps of this many bytes."""
    shared_memory_reserved: Annotated[int, Field(ge=0)] = 0
    """Bytes that the system takes from every block's share."""


class Memory(Model):
    """Device memory."""

    bytes: Bytes
    """Capacity, B."""
    bandwidth: Rate | None = None
    """Peak bandwidth, B/s. None where nobody has published or measured it: there is no roofline then."""
    cache_bytes: Bytes | None = None
    """Bytes that a flush must cover: the last-level cache. None where the vendor does not say."""


class Budget(Model):
    """What one emulated trial may cost, so that a kernel takes seconds and not hours."""

    elements: Annotated[_Count, Field(le=1 << 40)]
    """Elements over all inputs and outputs."""
    flops: Annotated[_Count, Field(le=1 << 50)]
    """Operations by the task's work model."""
    outer: Positive | None = None
    """Size of every dimension but the last that the task declares. Kernels commonly start a program for each index of
    an outer dimension, and an interpreter pays by the program, not by the element."""


class Platform(Model):
    """One chip, as data: adding a chip of a known backend takes one file and no code."""

    id: Identifier
    title: str
    """The name on the datasheet."""
    aliases: tuple[Identifier, ...] = ()
    vendor: str
    backend: str
    """The code that knows the vendor's runtime (``cuda``, ``rocm``, ``cpu``, or an entry point's name)."""
    arch: str
    """What the toolchain calls the chip (``gfx942``, ``sm_90``)."""
    detect: Detect = Detect()
    ray: RayPlacement
    limits: Limits | None = None
    """Absent where a launch has no hardware limits (an interpreter) or none are published."""
    occupancy: Occupancy | None = None
    memory: Memory | None = None
    peak_flops: dict[str, Rate] = {}
    """Dense FLOP/s by canonical dtype; a dtype that the chip has no unit for is left out."""
    dtypes: dict[str, str] = {}
    """Where the chip's native flavour of a canonical dtype differs (``float8_e4m3: float8_e4m3fnuz``)."""
    flushes: tuple[str, ...] = ()
    """Floating-point dtypes whose denormals the chip's matrix units take for zero. Inputs hold none of them there:
    PyTorch's own products on such a chip lose them as well, and no kernel is wrong that does."""
    budget: Budget | None = None
    """Set where trials are emulated."""
    persona: Identifier | None = None
    """The platform whose answers host code is given where this one has no device of its own to speak for."""
    source: Annotated[tuple[Source, ...], Field(min_length=1)]
    notes: str | None = None
    """What a reader of the figures should know."""

    @model_validator(mode="before")
    @classmethod
    def _one_source_is_enough(cls, data: object) -> object:
        if isinstance(data, dict) and isinstance(data.get("source"), dict):
            return {**data, "source": [data["source"]]}
        return data

    @field_validator("peak_flops")
    @classmethod
    def _rates_are_of_known_dtypes(cls, value: dict[str, float]) -> dict[str, float]:
        for dtype in value:
            if dtype not in _RATED:
                raise ValueError(f"'{dtype}' is no dtype that a rate is given for; {nearest(dtype, _RATED)}")
        return value

    @field_validator("flushes")
    @classmethod
    def _flushed_are_floats(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for dtype in value:
            if dtype not in _NARROW_FLOATS:
                raise ValueError(f"'{dtype}' is no dtype that matrix units flush; {nearest(dtype, _NARROW_FLOATS)}")
        return value

    @field_validator("dtypes")
    @classmethod
    def _flavours_exist(cls, value: dict[str, str]) -> dict[str, str]:
        for canonical, flavour in value.items():
            if canonical not in ITEMSIZE:
                raise ValueError(f"'{canonical}' is no canonical dtype; {nearest(canonical, ITEMSIZE)}")
            known = _FLAVOURS.get(canonical, (canonical,))
            if flavour not in known:
                raise ValueError(f"{canonical}: '{flavour}' is no flavour of it; known: {', '.join(known)}")
        return value

    def dtype(self, canonical: str) -> str:
        """Return the torch dtype name of a canonical dtype on this chip."""
        return self.dtypes.get(canonical, torch_name(canonical))


_FLAVOURS = {
    "float8_e4m3": ("float8_e4m3fn", "float8_e4m3fnuz"),
    "float8_e5m2": ("float8_e5m2", "float8_e5m2fnuz"),
}
"""What torch has of a canonical dtype, where that is not one dtype of the same name."""
_NARROW_FLOATS = ("float16", "bfloat16")
_RATED = frozenset({*ITEMSIZE, "tfloat32"})
_TORCH_NAMES = {"float8_e4m3": "float8_e4m3fn"}


def torch_name(canonical: str) -> str:
    """Return what torch calls a canonical dtype where no chip says otherwise."""
    return _TORCH_NAMES.get(canonical, canonical)
