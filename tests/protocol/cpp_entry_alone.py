"""A process that calls a kernel's entry as on a device, for ``test_cpp_entry.py``; prints what came of it."""

from __future__ import annotations

import contextlib
import ctypes
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import torch

from kernelarena.judge.outline import compile_job
from kernelarena.platforms import catalogue
from kernelarena.platforms.persona import persona
from kernelarena.platforms.persona.memory import lazy_zeros
from kernelarena.platforms.toolchains.cpp.compiler import RECORDER
from kernelarena.platforms.toolchains.cpp.finding import find
from kernelarena.platforms.toolchains.cpp.objects import Objects
from kernelarena.platforms.toolchains.cpp.recorded import Recorder
from kernelarena.protocol.cpp_entry import load
from kernelarena.protocol.cpp_on_device import Device
from kernelarena.protocol.entry import EntryError
from kernelarena.spec import Kernel
from tests.judge.test_judge import ADD_ONE


def runtime(folder, compiler, chip):
    """Load the recorder for all, in the place of the vendor's runtime."""
    built, library = folder / "runtime.o", folder / "libruntime.so"
    subprocess.run(compiler.host(RECORDER, built), check=True)
    subprocess.run(["c++", "-shared", "-o", str(library), str(built)], check=True)
    return Recorder(ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL), chip)


def main(folder, file, function, language, platform):
    chip = catalogue.load()[platform]
    source = (folder / "kernel" / file).read_text()
    kernel = Kernel(
        id="alone", task="add_one", language=language, file=file, function=function, files={file: source},
        origin="a test",
    )  # fmt: skip
    job = compile_job(kernel, ADD_ONE, chip)
    call, going_to = job.calls[0], []
    with contextlib.ExitStack() as until:
        worn = until.enter_context(persona(chip, folder=folder, scratch=folder, emit=lambda event: None))
        recorder = runtime(folder, find(kernel.language, chip.arch), worn.facts)
        watch = SimpleNamespace(observer=worn.observer, going_to=going_to.append)
        try:
            entry = load(job, folder / "kernel", folder / "compile", Device(watch), until, Objects(folder / "built"))
        except EntryError as error:
            return {"fault": [error.fault.value, error.file, error.line, str(error)]}
        if hasattr(entry, "expect"):
            entry.expect([output.model_dump() for output in call.outputs])
        given = [lazy_zeros(arg.size, arg.stride, getattr(torch, arg.dtype), arg.offset) for arg in call.args]
        for tensor in given:
            worn.ledger.enter(tensor, device=True, argument=True)
        with worn.observer.call() as observed:
            try:
                made = entry(*given)
            except RuntimeError as error:
                return {"raised": f"{type(error).__name__}: {error}"}
        returned = made if isinstance(made, tuple) else (made,)
        return {
            "returned": [[str(each.dtype).removeprefix("torch."), list(each.shape)] for each in returned],
            "reached": [
                {"function": seen.function, "grid": seen.grid, "block": seen.block} for seen in recorder.launches()
            ],
            "going_to": going_to,
            "observed": observed.summary(returned),
        }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), *sys.argv[2:])))
