"""Makes Triton answer as if the chip's driver were there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import triton
import triton.compiler
import triton.compiler.compiler
import triton.runtime
import triton.testing

from kernelarena.platforms.persona.patching import Patches
from kernelarena.platforms.persona.traffic import Meter
from kernelarena.platforms.toolchains.built import FOLDER

if TYPE_CHECKING:
    from kernelarena.platforms.persona.capture import Recorder
    from kernelarena.platforms.persona.driver import PersonaDriver
    from kernelarena.platforms.persona.executor import Executor
    from kernelarena.platforms.persona.observer import Interpreted, Observer


@contextlib.contextmanager
def triton_face(driver: PersonaDriver, recorder: Recorder | Executor | None, scratch: Path) -> Iterator[None]:
    """Install ``driver``, keep Triton's files below ``scratch``, and have ``recorder`` see every compilation."""
    config = triton.runtime.driver
    with Patches() as patches:
        patches.set(config, _active=driver, _default=driver)
        patches.set(
            triton.testing,
            do_bench=driver.do_bench,
            do_bench_cudagraph=driver.do_bench,
        )
        if hasattr(triton.testing, "do_bench_proton"):
            patches.set(triton.testing, do_bench_proton=driver.do_bench)
        patches.set(triton.runtime.cache.knobs.cache, dir=str(scratch / FOLDER))
        triton.compiler.compiler.max_shared_mem.cache_clear()
        if recorder is not None:
            recorded = recorder.compiling(triton.compiler.compile)
            patches.set(triton.compiler, compile=recorded)
            patches.set(triton, compile=recorded)
        yield
    triton.compiler.compiler.max_shared_mem.cache_clear()


def _told_apart(grid: Any, launch: Interpreted) -> Any:
    """Return a grid; where it is a function, what that does is the host code's and not the launch's."""
    if not callable(grid):
        return grid

    def told_apart(meta: Any) -> Any:
        with launch.interrupted():
            return grid(meta)

    return told_apart


@contextlib.contextmanager
def interpreter_face(observer: Observer) -> Iterator[None]:
    """Note the launches of Triton's interpreter, which never reach a driver, and spare it half of its work.

    The interpreter replaces the builtins of ``triton.language`` at every call of a device function, ``tl.sum``
    included, although nothing puts them back before the launch ends. Once for each function and launch is enough.
    """
    from triton.runtime import interpreter

    from kernelarena.platforms.persona.device_code import Refused, hold_to_compiler

    run, patch = interpreter.GridExecutor.__call__, interpreter._patch_lang
    patched: set[Any] = set()
    meter = Meter()

    def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        from kernelarena.platforms.persona.driver import pointers

        patched.clear()
        if not launchable(self.fn):
            raise Refused("only what @triton.jit makes can be launched")
        tensors = list(pointers((*args, *kwargs.values())))
        name = getattr(self.fn, "__name__", "")
        try:
            with meter.launch(tensors) as traffic, observer.interpreting(tensors, name, traffic) as launch:
                self.grid = _told_apart(self.grid, launch)
                return run(self, *args, **kwargs)
        finally:
            patched.clear()

    def patch_once(function: Any) -> Any:
        if function in patched:
            return None
        patched.add(function)
        return patch(function)

    with Patches() as patches:
        launchable = hold_to_compiler(patches)
        meter.install(patches, interpreter)
        patches.set(interpreter.GridExecutor, __call__=noted)
        patches.set(interpreter, _patch_lang=patch_once)
        yield
