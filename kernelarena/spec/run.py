"""A run: what ``run.yaml`` holds, and everything of a run that a report is made from."""

from __future__ import annotations

from typing import Final, Literal

from kernelarena.spec.base import Identifier, Model
from kernelarena.spec.kernel import Kernel
from kernelarena.spec.platform import Platform
from kernelarena.spec.sweep import Sweep
from kernelarena.spec.task import TaskSource
from kernelarena.spec.verdict import Verdict

RUN_SCHEMA: Final = "kernelarena.run/1"


class Environment(Model):
    """What the run ran on."""

    versions: dict[str, str] = {}
    """Of the harness, Python, torch, Triton, Ray, compilers and drivers; what is absent is left out."""
    host: str = ""
    """Operating system and processor, for people."""
    git_revision: str | None = None
    """Of the folder that the run was started in, with ``-dirty`` where it had changes."""


class Manifest(Model):
    """``run.yaml``: the resolved configuration and where it ran."""

    schema_version: Literal["kernelarena.run/1"] = RUN_SCHEMA
    id: Identifier
    created: str
    """ISO 8601, UTC."""
    finished: str | None = None
    """None while the run goes on, or when it was interrupted."""
    command: tuple[str, ...] = ()
    """As typed."""
    sweep: Sweep
    platforms: tuple[str, ...]
    """In the order of the columns."""
    kernels: tuple[str, ...]
    """In the order of the rows."""
    hidden_seed_sha256: str | None = None
    """SHA-256 of the decimal text of the seed: published at the start, so that nobody can choose it afterwards."""
    hidden_seed: int | None = None
    """Published when the run has ended."""
    environment: Environment = Environment()
    left_out: tuple[str, ...] = ()
    """Kernels that could not be read, as one line each (``--keep-going``)."""


class RunData(Model):
    """Everything that a report is made from."""

    manifest: Manifest
    platforms: dict[str, Platform]
    tasks: dict[str, TaskSource]
    kernels: dict[str, Kernel]
    verdicts: tuple[Verdict, ...]
    """The latest verdict of each cell that has one: kernels in the manifest's order, then platforms in theirs."""
