"""``task.yaml``: a task, with the inputs and the reference that it declares instead of writing them in Python."""

from __future__ import annotations

import keyword

from pydantic import Field, model_validator

from kernelarena.spec.base import Identifier
from kernelarena.spec.declared import Input, free_names, render
from kernelarena.spec.task import ITEMSIZE, Task


class TaskFile(Task):
    """What ``task.yaml`` holds, the family's keys among it."""

    family: Identifier | None = None
    """``NAME`` of the file ``NAME.family.yaml`` in the group's folder, which holds the keys that are left out here."""
    inputs: dict[str, Input] | None = Field(default=None, min_length=1)
    """The entry's arguments, in order; ``reference.py`` defines ``inputs(shape, rng)`` where they are left out."""
    reference: str | None = None
    """The output as an expression over the inputs, ``torch`` and ``math``; ``reference.py`` defines
    ``reference(**inputs)`` where it is left out."""

    @property
    def task(self) -> Task:
        """The task alone."""
        return Task.model_construct(**{name: getattr(self, name) for name in Task.model_fields})

    @property
    def undeclared(self) -> set[str]:
        """The functions that ``reference.py`` has to define."""
        return {name for name in ("inputs", "reference") if getattr(self, name) is None}

    def text(self) -> str:
        """Return the declared functions as Python text."""
        return render(self.inputs, self.reference, self.dims)

    @model_validator(mode="after")
    def _refers_to_what_there_is(self) -> TaskFile:
        if self.inputs is None:
            if self.reference is not None:
                raise ValueError("a declared reference needs declared inputs")
            return self
        for name, one in self.inputs.items():
            if not name.isidentifier() or keyword.iskeyword(name):
                raise ValueError(f"the input '{name}' is no name of a Python argument")
            if strange := sorted(one.names - self.dims.keys()):
                raise ValueError(f"the input '{name}' names {', '.join(strange)}, which is not a dim")
            if one.dtype is not None and one.dtype not in ITEMSIZE:
                raise ValueError(f"the input '{name}' has the dtype {one.dtype}, not among {', '.join(ITEMSIZE)}")
        parameters = {} if self.law is None else self.law.parameters
        for which, named in (("in_place", self.in_place), *parameters.items()):
            if isinstance(named, str) and named not in self.inputs:
                raise ValueError(f"{which} names '{named}', which is no input; there are {', '.join(self.inputs)}")
        if self.reference is not None and (strange := sorted(free_names(self.reference) - self.inputs.keys())):
            raise ValueError(f"the reference names {', '.join(strange)}, which is no input, and not torch or math")
        return self
