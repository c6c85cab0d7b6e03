"""A judge as they are often written: kernel, reference and clock in one process. It believes what cheats tell it.

It holds the corpus to its word: a cheat that deceives nobody teaches nothing. Only for cheats that harm no process.
A program of its own, because the interpreter is chosen before Triton is imported:
``TRITON_INTERPRET=1 python -m tests.corpus.naive SCRATCH PATTERN…`` prints one JSON line for each cheat.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from kernelarena.judge.reference import Reference
from kernelarena.platforms import catalogue
from kernelarena.platforms.persona import emulation
from kernelarena.protocol.draw import visible_trials
from kernelarena.protocol.entry import load_entry
from kernelarena.spec import Kernel
from tests.corpus.runner import load, small_platform, small_task, specimens

CPU = small_platform(catalogue.load()["cpu"])
_REPETITIONS = 4
_MOMENT = 1.0  # seconds until outputs are looked at that were timed
Entry = Callable[..., Any]
Inputs = dict[str, Any]


class Naive:
    """What such a judge does with one kernel: three orders of doing it, each for a process of its own.

    Parameters
    ----------
    entry
        The kernel's.
    inputs
        Drawn once, from the seed that everyone uses.
    reference
        What they should come to.
    """

    def __init__(self, entry: Entry, inputs: Inputs, reference: Entry) -> None:
        self.entry, self.inputs, self.reference = entry, inputs, reference

    def check_then_time(self) -> bool:
        expected = self.reference(**self.copies())
        correct = check_correctness(self.call(), expected)
        self.time_calls()
        return correct

    def time_then_check(self) -> bool:
        expected = self.reference(**self.copies())
        outputs, _ = self.time_calls()
        gc.collect()
        return check_correctness(outputs[-1], expected)

    def time_one_and_check_it_later(self) -> bool:
        expected = self.reference(**self.copies())
        started = time.perf_counter()
        output = self.call()
        self.seconds = time.perf_counter() - started
        time.sleep(_MOMENT)
        return check_correctness(output, expected)

    def time_calls(self) -> tuple[list[Any], float]:
        started = time.perf_counter()
        outputs = [self.call() for _ in range(_REPETITIONS)]
        return outputs, time.perf_counter() - started

    def call(self) -> Any:
        return self.entry(*self.inputs.values())

    def copies(self) -> Inputs:
        return {name: value.clone() if torch.is_tensor(value) else value for name, value in self.inputs.items()}


WAYS = (Naive.check_then_time, Naive.time_then_check, Naive.time_one_and_check_it_later)


def check_correctness(outputs: Any, expected: Any) -> bool:
    """Compare what was returned as it is, and if that fails, what is read from it."""
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    close = partial(torch.allclose, rtol=1e-2, atol=1e-2)
    if all(map(close, outputs, expected)):
        return True
    return all(map(close, [output.detach().cpu() for output in outputs], expected))


def believed(way: Callable[[Naive], bool], kernel: Kernel, scratch: Path) -> bool:
    """Have the naive judge judge a kernel in one way, in this process."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    for name, source in kernel.files.items():
        (folder / name).write_text(source)
    task = small_task(load()[kernel.task])
    reference = Reference(task)
    shape = visible_trials(task.task, 0, budget=CPU.budget)[0]
    torch.manual_seed(0)
    inputs = {
        name: torch.randn(value.shape).to(value.dtype) if torch.is_tensor(value) else value
        for name, value in reference.draw(shape, CPU, 0).items()
    }
    with emulation(CPU, scratch) as observer:
        for value in filter(torch.is_tensor, inputs.values()):
            observer.ledger.enter(value, device=True)
        entry = load_entry(folder, kernel.file, kernel.function)
        return way(Naive(entry, inputs, reference.function))


def deceived(kernel: Kernel, scratch: Path) -> bool:
    """Return whether any of the ways believes a kernel; each in a child, so that none finds what another left."""
    for way in WAYS:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if believed(way, kernel, scratch) else 1
            except BaseException:
                traceback.print_exc()
            os._exit(code)
        if os.waitpid(child, 0)[1] == 0:
            return True
    return False


def main(scratch: Path, patterns: list[str]) -> None:
    """Print a line for each cheat."""
    torch.set_num_threads(1)
    for pattern in patterns:
        for one in specimens(f"{pattern}/*"):
            if one.suits(CPU):
                print(json.dumps({"cheat": one.name, "believed": deceived(one.cheat, scratch)}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
