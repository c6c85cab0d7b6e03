"""A task: an operator to implement, declared in ``tasks/<group>/<op>/``."""

from __future__ import annotations

import hashlib
from typing import Annotated

from pydantic import Field, model_validator

from kernelarena.spec.base import Identifier, Model, StrEnum
from kernelarena.spec.expression import Expression, evaluate, names_in
from kernelarena.spec.kernel import Kernel
from kernelarena.spec.law import Law
from kernelarena.spec.shape import Shape
from kernelarena.spec.vocabulary import Distribution, Layout

ITEMSIZE = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3": 1, "float8_e5m2": 1,
    "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1, "bool": 1,
}  # fmt: skip
"""Bytes per element of each canonical dtype."""


class Kind(StrEnum):
    """What sort of operator a task is; reports group by it."""

    ELEMENTWISE = "elementwise"
    REDUCTION = "reduction"
    SCAN = "scan"
    GATHER_SCATTER = "gather-scatter"
    MATMUL = "matmul"
    ATTENTION = "attention"
    NORMALISATION = "normalisation"
    LOSS = "loss"
    QUANTISATION = "quantisation"
    SORT = "sort"
    RANDOM = "random"
    CREATION = "creation"
    VIEW = "view-or-metadata"


class Aspect(StrEnum):
    """What of an output a task asks for, besides its size and dtype."""

    VALUES = "values"
    STRIDES = "strides"


class Origin(Model):
    """The suite that the operator is known from."""

    suite: str
    name: str


class Dim(Model):
    """The range of one dimension."""

    min: Annotated[int, Field(ge=0)] = 1
    max: Annotated[int, Field(ge=0)]
    multiple_of: Annotated[int, Field(ge=1)] = 1
    """Only multiples are drawn (a rotary head dimension is even)."""
    choices: tuple[int, ...] = ()
    """Where only a few sizes make sense (an attention head dimension); ``min`` and ``max`` still bound them."""

    @model_validator(mode="after")
    def _ordered(self) -> Dim:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is larger than max {self.max}")
        if outside := [size for size in self.choices if not self.min <= size <= self.max]:
            raise ValueError(f"choices {outside} lie outside {self.min}..{self.max}")
        return self

    def allows(self, size: int) -> bool:
        """Return whether ``size`` is in the range."""
        in_range = self.min <= size <= self.max and size % self.multiple_of == 0
        return in_range and (not self.choices or size in self.choices)


class Work(Model):
    """The least work that the operator can take, as expressions over the dims and ``itemsize``."""

    flops: Expression
    """Floating-point operations."""
    bytes: Expression
    """Bytes through device memory: each input read once, each output written once."""


class Task(Model):
    """An operator to implement: what it computes, on which shapes and dtypes, and how much work that is."""

    id: Identifier
    title: str
    kind: Kind
    source: Origin
    suites: tuple[str, ...] = ()
    """The collections that it belongs to (``mc``, ``ms``, ``llm``)."""
    signature: str
    """For people: ``softmax(x: [M, N]) -> y: [M, N]``. The entry is called with the inputs in this order."""
    dtypes: Annotated[tuple[str, ...], Field(min_length=1)]
    dims: Annotated[dict[str, Dim], Field(min_length=1)]
    constraints: tuple[Expression, ...] = ()
    visible: Annotated[tuple[dict[str, int], ...], Field(min_length=1)]
    """Published shapes."""
    production: tuple[dict[str, int], ...] = ()
    """Shapes of real models, from which the hidden family of that name is drawn."""
    work: Work
    distributions: Annotated[tuple[Distribution, ...], Field(min_length=1)] = (
        Distribution.NORMAL,
        Distribution.UNIFORM,
        Distribution.LARGE,
        Distribution.TINY,
        Distribution.CONSTANT_ROWS,
        Distribution.SIGNED_ZEROS,
    )
    """Those for which the operator is defined; the first is the default."""
    layouts: Annotated[tuple[Layout, ...], Field(min_length=1)] = tuple(Layout)
    """Those that a kernel must accept."""
    allow_reduced_precision: bool = False
    """Whether tf32 or half-precision accumulation is good enough."""
    framework: tuple[str, ...] = ()
    """ATen operators (``aten::mm``) that a kernel may leave to the framework."""
    in_place: str | None = None
    """The input that the operator changes, and which then holds the output; what the entry returns does not matter."""
    law: Law | None = None
    """What the output is drawn from, where it is random; ``kind`` is then ``random``."""
    contract: Annotated[tuple[Aspect, ...], Field(min_length=1)] = (Aspect.VALUES,)
    """What of the output counts: its strides as well where they are what the operator is about, and no values where it
    gives none (``empty_strided``)."""

    @property
    def computes(self) -> bool:
        """Whether the operator takes a kernel: what only says how memory is looked at launches and takes nothing."""
        return self.kind is not Kind.VIEW

    @property
    def timed(self) -> bool:
        """Whether the timing gate applies: it repeats calls, which may neither change their inputs nor draw numbers."""
        return self.computes and self.in_place is None and self.law is None

    @model_validator(mode="after")
    def _consistent(self) -> Task:
        if unknown := [dtype for dtype in self.dtypes if dtype not in ITEMSIZE]:
            raise ValueError(f"dtypes {unknown} are not among {', '.join(ITEMSIZE)}")
        for text in (*self.constraints, self.work.flops, self.work.bytes):
            if free := names_in(text) - self.dims.keys() - {"itemsize"}:
                raise ValueError(f"'{text}' names {', '.join(sorted(free))}, which is not a dim")
        for where, shapes in (("visible", self.visible), ("production", self.production)):
            for dims in shapes:
                if problem := self.why_not(dims):
                    raise ValueError(f"{where} shape {dims}: {problem}")
        if (self.law is not None) != (self.kind is Kind.RANDOM):
            raise ValueError("a task of kind 'random' needs a law, and no other may have one")
        for shape in self.shapes():  # an expression that cannot be computed is found here and not in mid-run
            if self.flops(shape) < 0 or self.bytes(shape) < 0:
                raise ValueError(f"work is negative for {shape}")
        return self

    def why_not(self, dims: dict[str, int]) -> str | None:
        """Return why ``dims`` is not a shape of this task, or None if it is one."""
        if dims.keys() != self.dims.keys():
            return f"it must name exactly {', '.join(self.dims)}"
        for name, dim in self.dims.items():
            if not dim.allows(dims[name]):
                return f"{name}={dims[name]} is outside its dim"
        for constraint in self.constraints:
            if not evaluate(constraint, dims):
                return f"it breaks the constraint '{constraint}'"
        return None

    def shapes(self) -> list[Shape]:
        """Return the visible shapes in every dtype, in the order of the file (dtype outermost)."""
        return [Shape(dims=dims, dtype=dtype) for dtype in self.dtypes for dims in self.visible]

    def flops(self, shape: Shape) -> float:
        """Return the operations that ``shape`` takes at least."""
        return float(evaluate(self.work.flops, {**shape.dims, "itemsize": ITEMSIZE[shape.dtype]}))

    def bytes(self, shape: Shape) -> float:
        """Return the bytes that ``shape`` must move at least."""
        return float(evaluate(self.work.bytes, {**shape.dims, "itemsize": ITEMSIZE[shape.dtype]}))


class TaskSource(Model):
    """A task with the text of its reference, so that a judge on any host can work from it."""

    task: Task
    reference: str
    """Python that defines ``inputs(shape, rng)`` and ``reference(**inputs)``: the text of ``reference.py``, or what
    :mod:`kernelarena.spec.declared` makes of a declaration."""
    origin: str
    """The task's folder, for messages."""
    file: str = "reference.py"
    """Where in it a user finds what ``reference`` says."""
    kernels: tuple[Kernel, ...] = ()
    """Those that come with the task, where kernels are timed beside them. They change nothing of what it asks for."""

    @property
    def where(self) -> str:
        """The path of the file that the reference is from, for messages."""
        return f"{self.origin}/{self.file}"

    @property
    def digest(self) -> str:
        """SHA-256 of the declaration and the reference, hex."""
        return hashlib.sha256((self.task.model_dump_json() + "\0" + self.reference).encode()).hexdigest()
