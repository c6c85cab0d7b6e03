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

if TYPE_CHECKING:
    from kernelarena.platforms.persona.capture import Recorder
    from kernelarena.platforms.persona.driver import PersonaDriver
    from kernelarena.platforms.persona.observer import Observer


@contextlib.contextmanager
def triton_face(driver: PersonaDriver, recorder: Recorder | None, scratch: Path) -> Iterator[None]:
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
        patches.set(triton.runtime.cache.knobs.cache, dir=str(scratch / "triton"))
        triton.compiler.compiler.max_shared_mem.cache_clear()
        if recorder is not None:
            recorded = recorder.compiling(triton.compiler.compile)
            patches.set(triton.compiler, compile=recorded)
            patches.set(triton, compile=recorded)
        yield
    triton.compiler.compiler.max_shared_mem.cache_clear()


@contextlib.contextmanager
def interpreter_face(observer: Observer) -> Iterator[None]:
    """Note the launches of Triton's interpreter, which never reach a driver."""
    from triton.runtime import interpreter

    run = interpreter.GridExecutor.__call__

    def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        from kernelarena.platforms.persona.driver import pointers

        observer.launched(list(pointers((*args, *kwargs.values()))), tuning=False)
        return run(self, *args, **kwargs)

    with Patches() as patches:
        patches.set(interpreter.GridExecutor, __call__=noted)
        yield
