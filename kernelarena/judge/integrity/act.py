"""What a candidate process may notice about the kernel that it runs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kernelarena.spec import Reason
from kernelarena.spec.base import Model


class Act(Model):
    """Something that the kernel did and that no kernel has a reason for. A claim: it can fail a kernel, and no more."""

    reason: Reason
    """The kind of tampering."""
    detail: Annotated[str, Field(max_length=600)]
    """What was seen, where, and what to do about it."""
    file: str = ""
    """The kernel's file, relative to its folder; empty where that is not known."""
    line: int | None = None
    """Of that file, from 1."""
