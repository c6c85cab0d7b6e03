"""What a candidate claims about a call, as plain data of fixed form, and what the judge makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import torch
from pydantic import Field, ValidationError

from kernelarena.judge.arena import Block, OutputArena, Place
from kernelarena.judge.integrity.act import Act
from kernelarena.protocol.compile_events import TensorSpec
from kernelarena.spec import Location, Reason
from kernelarena.spec.base import Model
from kernelarena.spec.vocabulary import ReasonGroup


class Returned(Model):
    """One output as the candidate describes it."""

    type: Annotated[str, Field(max_length=200)] = "Tensor"
    deferred: bool = False
    """Whether it is a tensor of a class that is not torch's own."""
    dtype: str = ""
    size: tuple[int, ...] = ()
    stride: tuple[Annotated[int, Field(ge=0)], ...] | None = None
    place: Place | None = None
    digest: Annotated[str, Field(max_length=64)] = ""
    """Of its elements as the call left them; empty where they say nothing, or are a device's."""

    @property
    def form(self) -> TensorSpec | None:
        """What it is, if it is a tensor."""
        return TensorSpec(dtype=self.dtype, size=self.size, stride=self.stride) if self.type == "Tensor" else None

    def read(self, arena: OutputArena) -> torch.Tensor:
        """Return a copy of its elements.

        Raises
        ------
        ValueError
            If it does not lie where outputs can lie.
        """
        if self.place is None or self.place.size != self.size or self.place.dtype != self.dtype:
            raise ValueError("an output of the right form was not returned")
        return arena.tensor(self.place).clone(memory_format=torch.contiguous_format)


class Outputs(Model):
    """The outputs of a call."""

    id: str
    """Of the request that this answers."""
    acts: tuple[Any, ...] = ()
    """What was noticed of the kernel so far that no kernel has a reason for; see :func:`acted`."""
    outputs: tuple[Returned, ...]
    count: Annotated[int, Field(ge=0, le=1 << 20)]
    """How many there are; not more than some are described."""

    @property
    def forms(self) -> list[TensorSpec | None]:
        """The form of each, including those that are not described."""
        return [output.form for output in self.outputs] + [None] * (self.count - len(self.outputs))


class Answer(Outputs):
    """A call that returned."""

    blocks: tuple[Block, ...]
    observed: dict[str, Any] = {}
    late: bool = False
    """Whether anything was launched between the answer before and this call."""
    loads: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """Of each input, how many bytes launches loaded, where that is known."""
    tables: tuple[tuple[Annotated[int, Field(ge=0)], Annotated[str, Field(max_length=64)], bool], ...] = ()
    """What host code made in the call for launches to load: bytes and a digest of each, and whether launches were
    handed it as numbers with a fraction."""
    seconds: Annotated[float, Field(ge=0)] = 0.0
    """In the entry, by the candidate's clock."""


NO_ANSWER = "the kernel's process answered with something that is not an answer"


@dataclass(frozen=True)
class Finding:
    """What one call came to: nothing wrong, or a reason."""

    reason: Reason | None = None
    detail: str = ""
    location: Location | None = None
    error: float | None = None
    observed: dict[str, Any] = field(default_factory=dict)
    loads: tuple[int, ...] = ()
    tables: tuple[tuple[int, str, bool], ...] = ()

    @property
    def launches(self) -> object:
        """How many launches the candidate saw, if it says so."""
        return self.observed.get("launches")


def acted(message: Mapping[str, Any], locate: Callable[[str, int], Location | None]) -> Finding | None:
    """Return the first thing that a kernel did and no kernel has a reason for, if its process noticed any.

    Parameters
    ----------
    message
        Any answer of the candidate.
    locate
        Returns the line of the kernel's source, of a file and its number.
    """
    acts = message.get("acts", ())
    if not acts:
        return None
    try:
        act = Act.model_validate(acts[0])
    except (ValidationError, TypeError, KeyError):
        return Finding(Reason.JUDGE_TAMPERING, NO_ANSWER)
    # A kernel that forges a claim against itself must not choose how it ends.
    reason = act.reason if act.reason.group is ReasonGroup.INTEGRITY else Reason.JUDGE_TAMPERING
    return Finding(reason, act.detail, locate(act.file, act.line) if act.line is not None else None)
