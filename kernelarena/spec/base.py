"""What every model of the package shares: frozen, closed, and documented by its attribute docstrings."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, StringConstraints

NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$"
Identifier = Annotated[str, StringConstraints(pattern=NAME, max_length=120)]
"""A name that is safe as a file name, a URL fragment and a table cell."""


class Model(BaseModel):
    """An immutable record whose unknown keys are errors, so that a typing mistake in a file never passes silently."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        ser_json_inf_nan="constants",
    )


class StrEnum(str, Enum):
    """``enum.StrEnum`` of Python 3.11, for Python 3.10: members are, print as and compare as their value."""

    def __str__(self) -> str:
        return str(self.value)
