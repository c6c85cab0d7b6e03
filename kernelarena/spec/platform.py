"""A platform: one chip as a user names it, declared in ``platforms/<id>.yaml``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from kernelarena.spec.base import Identifier, Model

Positive = Annotated[int, Field(gt=0)]
PositiveFloat = Annotated[float, Field(gt=0)]


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

    warp_size: Positive
    """Lanes that run in lockstep (warp, wavefront)."""
    max_threads_per_block: Positive
    shared_memory_per_block: Positive
    """Bytes of shared memory (LDS) that one block may opt in to."""
    registers_per_thread: Positive
    """32-bit registers that one thread may hold (on AMD: VGPRs of the unified file)."""


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
    registers: Positive
    """32-bit registers per multiprocessor, summed over lanes and partitions."""
    register_granularity: Positive
    """Registers per thread are allocated in steps of this many."""
    shared_memory: Positive
    """Bytes of shared memory per multiprocessor."""
    shared_memory_granularity: Positive = 1
    """Shared memory is allocated in steps of this many bytes."""
    shared_memory_reserved: Annotated[int, Field(ge=0)] = 0
    """Bytes that the system takes from every block's share."""


class Memory(Model):
    """Device memory."""

    bytes: Positive
    """Capacity, B."""
    bandwidth: PositiveFloat
    """Peak bandwidth, B/s."""
    cache_bytes: Positive | None = None
    """Bytes that a flush must cover: the last-level cache. None where the vendor does not say."""


class Budget(Model):
    """What one emulated trial may cost, so that a kernel takes seconds and not hours."""

    elements: Positive
    """Elements over all inputs and outputs."""
    flops: Positive
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
    peak_flops: dict[str, PositiveFloat] = {}
    """Dense FLOP/s by canonical dtype; a dtype that the chip has no unit for is left out."""
    dtypes: dict[str, str] = {}
    """Where the chip's native flavour of a canonical dtype differs (``float8_e4m3: float8_e4m3fnuz``)."""
    budget: Budget | None = None
    """Set where trials are emulated."""
    persona: Identifier | None = None
    """The platform whose answers host code is given where this one has no device of its own to speak for."""
    source: tuple[Source, ...]
    notes: str | None = None
    """What a reader of the figures should know."""

    @model_validator(mode="before")
    @classmethod
    def _one_source_is_enough(cls, data: object) -> object:
        if isinstance(data, dict) and isinstance(data.get("source"), dict):
            return {**data, "source": [data["source"]]}
        return data

    def dtype(self, canonical: str) -> str:
        """Return the torch dtype name of a canonical dtype on this chip."""
        return self.dtypes.get(canonical, torch_name(canonical))


_TORCH_NAMES = {"float8_e4m3": "float8_e4m3fn"}


def torch_name(canonical: str) -> str:
    """Return what torch calls a canonical dtype where no chip says otherwise."""
    return _TORCH_NAMES.get(canonical, canonical)
