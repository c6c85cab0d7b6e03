"""Watches what a kernel does on a real device: its launches, and the framework operators beside them."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from kernelarena.platforms.persona.ledger import Ledger, Work
from kernelarena.platforms.persona.observer import Observer
from kernelarena.platforms.persona.patching import Patches
from kernelarena.platforms.persona.threads import enter_in_threads
from kernelarena.platforms.toolchains.built import FOLDER

_COPIES = (torch.ops.aten.copy_, torch.ops.aten._to_copy)
_STREAM = 3
_BEFORE_ARGUMENTS = 9
"""Of what Triton hands a launcher: the grid, the stream, the function, two kinds of metadata, and two hooks."""


class _DeviceObserver(Observer):  # type: ignore[no-untyped-call]
    """Also counts what goes to the host and back: whatever is computed there, and by whom, no launch did it."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = super().__torch_dispatch__(func, types, args, kwargs)
        if func.overloadpacket in _COPIES and isinstance(made, torch.Tensor):
            source = args[1] if func.overloadpacket is torch.ops.aten.copy_ else args[0]
            if isinstance(source, torch.Tensor) and source.device.type != made.device.type:
                work = Work("host code", elements=made.numel(), flops=0.0, sources=())
                entry = self.ledger.find(made)
                if entry is not None:
                    entry.work.append(work)
                self.observed.charge(work)
        return made


class Watch:
    """What is known of a kernel at work.

    Attributes
    ----------
    observer
        The account of operators and launches.
    elsewhere
        Called before each launch, and each replay of a graph, with the handle of the stream that it goes to; not while
        a graph is captured. None while nobody wants to know.
    """

    def __init__(self) -> None:
        # That of a persona, so that one rule decides what was left to the framework, whatever the evidence.
        self.observer = _DeviceObserver(Ledger(), real=True)
        self.elsewhere: Callable[[int], object] | None = None

    def going_to(self, stream: int) -> None:
        """Tell whoever wants to know that something is about to be launched."""
        if self.elsewhere is not None and not torch.cuda.is_current_stream_capturing():
            self.elsewhere(stream)


@contextlib.contextmanager
def watched(scratch: Path) -> Iterator[Watch]:
    """Observe every operator and every launch within the block; nothing is pretended.

    Parameters
    ----------
    scratch
        Where Triton may write.
    """
    watch = Watch()
    with Patches() as patches, watch.observer:
        graphs = _Graphs(watch)
        enter_in_threads(patches, watch.observer)
        patches.set(torch.cuda.CUDAGraph, capture_begin=graphs.begin, capture_end=graphs.end, replay=graphs.replay)
        with contextlib.suppress(ImportError):  # kernels in other languages need no Triton
            _watch_triton(patches, watch, graphs, scratch)
        yield watch


def _watch_triton(patches: Patches, watch: Watch, graphs: _Graphs, scratch: Path) -> None:
    import triton.runtime

    from kernelarena.platforms.toolchains.triton import native_driver

    patches.set(triton.runtime.cache.knobs.cache, dir=str(scratch / FOLDER))
    try:
        driver = native_driver() or triton.runtime.driver.active
    except Exception:  # Triton knows no device here: a kernel that launches something is told so
        return
    patches.set(triton.runtime.driver, _active=driver, _default=driver)
    tuning = _Tuning(driver.get_benchmarker)

    def make(source: Any, metadata: Any) -> _Launcher:
        return _Launcher(launcher(source, metadata), watch, graphs, tuning)

    launcher = driver.launcher_cls
    patches.set(driver, launcher_cls=make, get_benchmarker=tuning.get)


class _Graphs:
    """Takes a replay for the launches that were captured.

    Parameters
    ----------
    watch
        Told of replays.
    """

    def __init__(self, watch: Watch) -> None:
        own = torch.cuda.CUDAGraph
        begin, end, replay = own.capture_begin, own.capture_end, own.replay
        captured: weakref.WeakKeyDictionary[Any, list[torch.Tensor]] = weakref.WeakKeyDictionary()
        self._capturing: list[list[torch.Tensor]] = []

        def noted_begin(graph: Any, *args: Any, **kwargs: Any) -> None:
            self._capturing.append(captured.setdefault(graph, []))
            try:
                begin(graph, *args, **kwargs)
            except BaseException:
                self._capturing.pop()
                raise

        def noted_end(graph: Any) -> None:
            if self._capturing:
                self._capturing.pop()
            end(graph)

        def noted_replay(graph: Any) -> None:
            watch.going_to(int(torch.cuda.current_stream().cuda_stream))
            replay(graph)
            if tensors := captured.get(graph):
                watch.observer.launched(tensors, tuning=False)

        self.begin, self.end, self.replay = noted_begin, noted_end, noted_replay

    def capture(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Note what a launch is handed if it is being captured; return whether it is."""
        if not self._capturing:
            return False
        self._capturing[-1].extend(tensors)
        return True


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


class _Launcher:
    """Triton's own launcher, with a note taken of what each launch is handed."""

    def __init__(self, launcher: Any, watch: Watch, graphs: _Graphs, tuning: _Tuning) -> None:
        self._launcher = launcher
        self._watch = watch
        self._graphs = graphs
        self._tuning = tuning

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Launch, then note it: a launch that raises is none. What is captured is launched by each replay."""
        from kernelarena.platforms.persona.driver import pointers

        self._watch.going_to(int(args[_STREAM]))
        made = self._launcher(*args, **kwargs)
        tensors = list(pointers(args[_BEFORE_ARGUMENTS:]))
        if not self._graphs.capture(tensors):
            self._watch.observer.launched(tensors, tuning=bool(self._tuning))
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._launcher, name)
