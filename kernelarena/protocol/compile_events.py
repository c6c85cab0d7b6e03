"""What a candidate process reports while it goes through the compile gate. Claims, until they are checked.

Each event is a flat mapping of plain data whose ``event`` says which it is. They are sent as things happen, so that a
process that dies or hangs has already told what it was at.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from kernelarena.protocol.entry import EntryFault
from kernelarena.spec.base import Model

Count = Annotated[int, Field(ge=0, lt=2**63)]
Line = Annotated[int, Field(ge=1, lt=2**31)]
Text = Annotated[str, Field(max_length=8000)]
FileName = Annotated[str, Field(max_length=500)]


class Arg(Model):
    """One argument of the entry: a tensor's description, or a number."""

    name: str
    dtype: str | None = None
    """torch's name; None for a number."""
    size: tuple[Count, ...] = ()
    stride: tuple[Count, ...] = ()
    offset: Count = 0
    """Elements between the start of the storage and the first element."""
    value: bool | int | float | None = None
    """Of a number."""


class TensorSpec(Model):
    """The form of an output."""

    dtype: Annotated[str, Field(max_length=100)]
    size: tuple[Count, ...]
    stride: tuple[Count, ...] | None = None
    """In elements; None where it is of no interest, or not known."""


class LoadFailed(Model):
    """The kernel's module does not give an entry."""

    event: Literal["load-failed"] = "load-failed"
    fault: EntryFault
    message: Text
    file: FileName | None = None
    line: Line | None = None


class Compiling(Model):
    """A specialisation is handed to the compiler."""

    event: Literal["compiling"] = "compiling"
    number: Count
    kernel: Text
    signature: Text
    warps: Count
    stages: Count | None = None
    tuning: bool = False
    unit: bool = False
    """Whether it is a whole file, whose kernels are told of when they are launched."""
    file: FileName | None = None
    line: Line | None = None


class Compiled(Model):
    """It was built."""

    event: Literal["compiled"] = "compiled"
    number: Count
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    warps: Count
    """In all, those that the compiler added for specialised work included."""
    shared: Count
    """Bytes per block, static and dynamic."""
    registers: Count | None = None
    scalar_registers: Count | None = None
    spills: Count | None = None
    scratch: Count | None = None
    complaint: Text = ""
    """An error that the compiler printed although it returned a binary."""


class CompileFailed(Model):
    """It was refused."""

    event: Literal["compile-failed"] = "compile-failed"
    number: Count
    error: Text
    message: Text
    log: Text = ""
    """What the compiler's native code printed."""
    file: FileName | None = None
    line: Line | None = None


class Launched(Model):
    """A specialisation is launched for the first time, as a trial of an autotuner or for good."""

    event: Literal["launch"] = "launch"
    number: Count
    grid: tuple[Count, Count, Count]
    tuning: bool = False


class CallBegins(Model):
    """The entry is called."""

    event: Literal["call-begins"] = "call-begins"
    index: Count


class Failure(Model):
    """An exception that reached the entry's caller."""

    type: Text
    message: Text
    file: FileName | None = None
    line: Line | None = None
    number: Count | None = None
    """The specialisation that it is about."""
    resource: Literal["shared memory", "threads", "tensor memory", "registers", "grid", "memory"] | None = None
    """What was exhausted."""
    compiling: bool = False
    """Whether the compiler raised it."""


class Use(Model):
    """What one framework operator did."""

    calls: Count
    elements: Count
    flops: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class CallEnds(Model):
    """The entry returned or raised."""

    event: Literal["call-ends"] = "call-ends"
    index: Count
    failure: Failure | None = None
    outputs: tuple[TensorSpec | None, ...] = ()
    """None for what is not a tensor."""
    derived: tuple[bool, ...] = ()
    """Of each output, whether it can have come out of a launch."""
    kept: tuple[bool, ...] = ()
    """Of each output, whether it lies in memory that was there before the call, and is no argument."""
    launches: tuple[tuple[Count, Count], ...] = ()
    """Specialisations and how often each was launched."""
    launched_elements: Count = 0
    kernels: tuple[Annotated[str, Field(max_length=1000)], ...] = ()
    """Names of the device functions that were launched, each once."""
    operators: dict[Annotated[str, Field(max_length=200)], Use] = {}


class Ended(Model):
    """All calls were made, or those left were skipped."""

    event: Literal["ended"] = "ended"
    sources: dict[Annotated[str, Field(max_length=4096)], Annotated[str, Field(max_length=64)]] = {}
    """Files that the kernel imported from outside its folder and the usual libraries, with their SHA-256."""


Event = LoadFailed | Compiling | Compiled | CompileFailed | Launched | CallBegins | CallEnds | Ended
_adapter: TypeAdapter[Any] = TypeAdapter(Annotated[Event, Field(discriminator="event")])


def parse(event: object) -> Event:
    """Return the event that plain data describes.

    Raises
    ------
    pydantic.ValidationError
        If it is none.
    """
    parsed: Event = _adapter.validate_python(event)
    return parsed
