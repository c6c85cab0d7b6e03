"""A kernel: a submission for one task, as its author wrote it down and as the harness carries it about."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

from pydantic import Field, field_validator

from kernelarena.spec.base import Identifier, Model, StrEnum


class Language(StrEnum):
    """What a kernel is written in."""

    TRITON = "triton"
    TORCH = "torch"
    HIP = "hip"
    CUDA = "cuda"

    @property
    def is_cpp(self) -> bool:
        """Whether it is C++, built whole by a compiler before anything of it runs."""
        return self in (Language.HIP, Language.CUDA)


class Tokens(Model):
    """What a model read and wrote to produce the kernel."""

    input: Annotated[int, Field(ge=0)] | None = None
    output: Annotated[int, Field(ge=0)] | None = None


class Provenance(Model):
    """Who or what wrote the kernel; unknown stays unknown."""

    agent: str | None = None
    model: str | None = None
    tokens: Tokens = Tokens()
    iterations: Annotated[int, Field(ge=0)] | None = None
    created: str | None = None
    note: str | None = None

    @field_validator("created", mode="before")
    @classmethod
    def _dates_are_text(cls, value: object) -> object:
        return value.isoformat() if hasattr(value, "isoformat") else value


class KernelFile(Model):
    """``kernel.yaml``, or one line of a JSON Lines file (which carries ``source`` as well)."""

    id: Identifier | None = None
    """Defaults to the folder's name, or to the task's and a number."""
    task: Identifier
    language: Language
    entry: str
    """``kernel.py::softmax``: the file and the callable in it. The file may be left out where there is only one."""
    original: str | None = None
    """``original.py::softmax``: what it was optimised from, among its own files, to be timed beside."""
    home: Identifier | None = None
    """The platform that it was written and tuned on."""
    provenance: Provenance = Provenance()
    source: str | None = None
    """The program text itself (JSON Lines only)."""
    expect: Any = None
    """The verdict that its author expects; read by tests, never by the harness."""


class Kernel(Model):
    """A kernel with its sources in hand, so that it can be judged on any host and kept with the run."""

    id: Identifier
    """Unique within a run."""
    task: Identifier
    language: Language
    file: str
    """The file that holds the entry, relative to the kernel's folder."""
    function: str
    """The callable in it."""
    original: str | None = None
    """``FILE::FUNCTION``: what it was optimised from, among its files."""
    home: Identifier | None = None
    provenance: Provenance = Provenance()
    files: dict[str, str]
    """Every source file by its path relative to the kernel's folder."""
    origin: str
    """Where the user keeps it, for messages."""

    @property
    def digest(self) -> str:
        """SHA-256 of everything that its behaviour depends on, hex."""
        text = hashlib.sha256()
        for part in (self.task, self.language.value, self.file, self.function):
            text.update(part.encode() + b"\0")
        for path, source in sorted(self.files.items()):
            text.update(path.encode() + b"\0" + source.encode("utf-8", "surrogatepass") + b"\0")
        return text.hexdigest()
