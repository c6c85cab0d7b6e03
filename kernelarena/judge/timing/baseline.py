"""What a kernel is timed beside: programs for the same task, in processes of their own under the same conditions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from kernelarena.spec import Baseline, Kernel, Language, TaskSource

_CALL = "{function}(**dict(zip(NAMES, values, strict=True)))"
_EAGER = f"""\
from reference import reference

NAMES = {{names}}


def entry(*values):
    return {_CALL.format(function="reference")}
"""
# As a user of torch.compile would call it, but for two things that would make an eager call of it without a word: a
# function is compiled a few times only, and one of which nothing can be compiled is left as it is. Sizes are taken as
# they are, since those of published shapes are few. Everything is compiled in this process, and kept in its own folder;
# headers for a host's compiler are not compiled ahead, which would take longer than all that ever includes them here.
_COMPILED = f"""\
import os
import tempfile

os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"

import torch
import torch._dynamo
import torch._inductor.config
from reference import reference
from torch._dynamo.utils import counters

NAMES = {{names}}
torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 1 << 20
if hasattr(torch._inductor.config, "cpp_cache_precompile_headers"):
    torch._inductor.config.cpp_cache_precompile_headers = False
compiled = torch.compile(reference, dynamic=False)


def entry(*values):
    made = {_CALL.format(function="compiled")}
    if not counters["stats"]["unique_graphs"]:
        raise RuntimeError("torch.compile found nothing in it to compile")
    return made
"""


class NoBaseline(Exception):
    """There is nothing that a kernel can be timed beside, or nothing that can be believed."""


@dataclass(frozen=True)
class Opponent:
    """A program that kernels are timed beside.

    Attributes
    ----------
    name
        What reports call it; what stands before a colon is its kind.
    kernel
        The program.
    given
        Whether it is the task's reference, which is right by definition. Others have to pass first.
    compiled
        Whether it is compiled when it is first called, which takes as long as compiling may take.
    doubted
        Whether the kernel's author may have written it as well.
    """

    name: str
    kernel: Kernel
    given: bool = False
    compiled: bool = False
    doubted: bool = False


def opponents(baseline: Baseline, kernel: Kernel, task: TaskSource, names: Iterable[str]) -> list[Opponent]:
    """Return what a kernel may be timed beside, the first choice first.

    Parameters
    ----------
    baseline
        The run's choice.
    kernel
        The kernel.
    task
        Its task.
    names
        Of the task's inputs, in the order of a kernel's arguments.

    Raises
    ------
    NoBaseline
        If there is none.
    """
    if baseline is Baseline.EAGER:
        return [eager(task, names)]
    if baseline is Baseline.COMPILE:
        return [Opponent("pytorch-compile", _reference(task, names, _COMPILED), given=True, compiled=True)]
    if baseline is Baseline.SHIPPED:
        shipped = sorted(task.kernels, key=lambda other: other.language is not kernel.language)
        if not shipped:
            raise NoBaseline(f"no kernel comes with the task {task.task.id}")
        return [Opponent(f"shipped:{other.id}", other) for other in shipped]
    if kernel.original is None:
        raise NoBaseline("it names no original; add 'original: FILE::FUNCTION' to its declaration")
    file, _, function = kernel.original.partition("::")
    original = kernel.model_copy(update={"file": file, "function": function})
    return [Opponent(f"original:{kernel.id}", original, doubted=True)]


def eager(task: TaskSource, names: Iterable[str]) -> Opponent:
    """Return the task's reference as PyTorch runs it; the names are those of its inputs, in order."""
    return Opponent("pytorch-eager", _reference(task, names, _EAGER), given=True)


def _reference(task: TaskSource, names: Iterable[str], source: str) -> Kernel:
    return Kernel(
        id="reference",
        task=task.task.id,
        language=Language.TORCH,
        file="baseline.py",
        function="entry",
        files={"baseline.py": source.format(names=json.dumps(list(names))), "reference.py": task.reference},
        origin=task.origin,
    )
