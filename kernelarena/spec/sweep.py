"""A sweep: what to run, where, and how thoroughly. Written in ``configs/*.yaml`` or on the command line."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kernelarena.spec.base import Model, StrEnum
from kernelarena.spec.vocabulary import Evidence

MOST_PER_DEVICE = 8
"""Judges that a device's memory is divided among."""
_Words = Annotated[str, Field(min_length=1)]


class Hidden(Model):
    """The hidden gate."""

    enabled: bool = True
    count: Annotated[int, Field(ge=1, le=256)] = 8
    """Shapes drawn per task; each family is present where ``count`` allows it."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """Drawn anew for each run when absent. A seed that is written down is not hidden from whoever reads it."""


class Deadlines(Model):
    """Seconds after which a kernel's process is ended."""

    compile: Annotated[float, Field(gt=0, le=86_400)] = 120.0
    """For the whole compile gate of one cell."""
    call: Annotated[float, Field(gt=0, le=86_400)] = 30.0
    """For one call of the kernel, or for loading it."""


class Baseline(StrEnum):
    """What kernels are timed beside."""

    EAGER = "eager"
    """The task's reference, as PyTorch runs it on that platform."""
    COMPILE = "compile"
    """The same, compiled by ``torch.compile``."""
    SHIPPED = "shipped"
    """The kernel that comes with the task, of the same language if there is one that passes on that platform."""
    ORIGINAL = "original"
    """What the kernel says that it was optimised from."""


class Timing(Model):
    """The timing gate, where kernels run on a device."""

    enabled: bool = True
    baseline: Baseline = Baseline.EAGER
    """One for all cells of a run, so that figures are over the same everywhere; a cell without it is not timed."""
    protocol: str = "kernelarena"
    """Or ``agentkernelarena``, that suite's 10 + 100 runs one after the other."""
    seconds: Annotated[float, Field(gt=0)] = 0.25
    """After so long a shape gets no more samples than the protocol's least."""


class Sweep(Model):
    """The configuration of one run."""

    platforms: tuple[_Words, ...] = ()
    kernels: tuple[_Words, ...] = ()
    """Files and folders; a relative one starts from the configuration file. None: the shipped kernels."""
    tasks: tuple[_Words, ...] = ()
    """Globs over task ids, or ``suite:NAME``; none means all that the kernels name."""
    hidden: Hidden = Hidden()
    timing: Timing = Timing()
    deadlines: Deadlines = Deadlines()
    calls: Annotated[int, Field(ge=1, le=3)] | None = None
    """Checked calls of the kernel for each shape: with the second the same question is asked again, with the third
    another one at the same addresses. None: three for the first shape of each dtype and, on a device, for a third of
    the others that nobody can foresee; one for the rest."""
    evidence: Evidence | None = None
    """The strongest that is sought. None: whatever can be had, measured before emulated before compiled; ``compiled``
    is the quick answer. A kernel that the emulator cannot run to the end is only compiled, unless ``emulated`` is asked
    for by name."""
    require: Evidence | None = None
    """Cells that cannot have this evidence are reported as infrastructure, and the run ends with exit code 3."""
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    """How often a cell is tried again after an infrastructure failure."""
    workers: Annotated[int, Field(ge=1, le=1024)] | None = None
    """CPU workers for compilation and emulation; one per core when absent."""
    per_device: Annotated[int, Field(ge=1, le=MOST_PER_DEVICE)] = 1
    """Kernels that are judged side by side on each device, and share its memory. Whoever takes times is alone."""
    cache: bool = True
    """Whether the compile gate may answer from its cache."""
    keep_going: bool = False
    """Whether kernels that cannot be read are left out (and named) instead of ending the run."""

    @property
    def names_emulated(self) -> bool:
        """Whether emulated evidence is asked for by name, so that weaker evidence is no answer."""
        return Evidence.EMULATED in (self.evidence, self.require)
