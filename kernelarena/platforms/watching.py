"""Watches what a kernel does on a real device: its launches, and the framework operators beside them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kernelarena.platforms.persona.ledger import Ledger
from kernelarena.platforms.persona.observer import Observer
from kernelarena.platforms.persona.patching import Patches

_BEFORE_ARGUMENTS = 9
"""Of what Triton hands a launcher: the grid, the stream, the function, two kinds of metadata, and two hooks."""


@contextlib.contextmanager
def watched(scratch: Path) -> Iterator[Observer]:
    """Observe every operator and every launch within the block; nothing is pretended.

    The observer is that of a persona, so that one rule decides what was left to the framework, whatever the evidence.

    Parameters
    ----------
    scratch
        Where Triton may write.
    """
    observer = Observer(Ledger(), real=True)
    with Patches() as patches, observer:
        with contextlib.suppress(ImportError):  # kernels in other languages need no Triton
            _watch_triton(patches, observer, scratch)
        yield observer


def _watch_triton(patches: Patches, observer: Observer, scratch: Path) -> None:
    import triton.runtime

    from kernelarena.platforms.toolchains.triton import native_driver

    patches.set(triton.runtime.cache.knobs.cache, dir=str(scratch / "triton"))
    try:
        driver = native_driver() or triton.runtime.driver.active
    except Exception:  # Triton knows no device here: a kernel that launches something is told so
        return
    patches.set(triton.runtime.driver, _active=driver, _default=driver)
    tuning = _Tuning(driver.get_benchmarker)
    patches.set(driver, launcher_cls=_launchers(driver.launcher_cls, observer, tuning), get_benchmarker=tuning.get)


class _Tuning:
    """Tells the launches of an autotuner's trials from those that count.

    Parameters
    ----------
    get_benchmarker
        The driver's own.
    """

    def __init__(self, get_benchmarker: Callable[[], Callable[..., Any]]) -> None:
        self._get = get_benchmarker
        self._depth = 0

    def __bool__(self) -> bool:
        return self._depth > 0

    def get(self) -> Callable[..., Any]:
        """Return what the driver does, noting when it runs."""
        benchmark = self._get()

        def noted(*args: Any, **kwargs: Any) -> Any:
            self._depth += 1
            try:
                return benchmark(*args, **kwargs)
            finally:
                self._depth -= 1

        return noted


def _launchers(original: Callable[..., Any], observer: Observer, tuning: _Tuning) -> Callable[..., Any]:
    def make(source: Any, metadata: Any) -> _Launcher:
        return _Launcher(original(source, metadata), observer, tuning)

    return make


class _Launcher:
    """Triton's own launcher, with a note taken of what each launch is handed."""

    def __init__(self, launcher: Any, observer: Observer, tuning: _Tuning) -> None:
        self._launcher = launcher
        self._observer = observer
        self._tuning = tuning

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Launch, then note it: a launch that raises is none."""
        from kernelarena.platforms.persona.driver import pointers

        made = self._launcher(*args, **kwargs)
        self._observer.launched(list(pointers(args[_BEFORE_ARGUMENTS:])), tuning=bool(self._tuning))
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._launcher, name)
