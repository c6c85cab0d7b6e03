"""A finding: where a source assumes something that is not so everywhere, what breaks, and what to write instead."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from kernelarena.spec.base import Model, StrEnum

SCHEMA: Final = "kernelarena.findings/1"
"""The form of the document; fields are added, never renamed."""


class Severity(StrEnum):
    """How sure it is that the kernel does not carry over."""

    ERROR = "error"
    """It does not build there, is refused at the launch, or computes something else."""
    WARNING = "warning"
    """It may: what it rests on holds there by accident, or to another precision."""


class Finding(Model):
    """One place in one file."""

    rule: str
    """The rule's id; ``docs/rules/<id>.md`` explains it."""
    severity: Severity
    path: str
    """As the user named it, or found below what the user named."""
    line: int = Field(gt=0)
    """Of the first character, from 1."""
    column: int = Field(gt=0)
    """Of the first character in its line, from 1, in Unicode characters."""
    end_line: int = Field(gt=0)
    end_column: int = Field(gt=0)
    """Of the character after the last."""
    text: str
    """The line in the source."""
    breaks: str
    """What goes wrong, in one sentence."""
    platforms: tuple[str, ...] = Field(min_length=1)
    """Ids of the platforms, of those asked about, on which it does."""
    instead: str
    """What to write."""


class Examination(Model):
    """What came of looking at files."""

    schema_version: Literal["kernelarena.findings/1"] = SCHEMA
    platforms: tuple[str, ...]
    """Those that were asked about."""
    files: int = Field(ge=0)
    """How many were looked at."""
    unreadable: tuple[str, ...] = ()
    """Files that cannot be read, or do not parse, so that nothing, or nothing beyond their findings, can be said: the
    place, and why."""
    findings: tuple[Finding, ...]
    """In the order of the files, and of the lines within each."""
