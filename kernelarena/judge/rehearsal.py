"""Timed calls in a candidate: their inputs lie ready in places of their own, and results wait to be looked at.

Which call is looked at is asked when all are done, so that none can be told from one that does not matter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, islice
from typing import Any

from kernelarena.judge.arena import Allocator
from kernelarena.judge.device_stage import DeviceStage
from kernelarena.judge.memory import Window
from kernelarena.judge.timed import Run


class Rehearsal:
    """Calls of an entry, made ready once for each place that inputs lie in.

    Parameters
    ----------
    stage
        Where they run.
    entry
        The kernel's.
    places
        Arguments, for each place.
    inputs
        The memory of each place.
    outputs
        Where outputs are returned.
    returned
        From which byte of it on.
    """

    def __init__(
        self,
        stage: DeviceStage,
        entry: Callable[..., Any],
        places: Sequence[Sequence[Any]],
        inputs: Sequence[Window],
        outputs: Window,
        returned: int,
    ) -> None:
        self._stage = stage
        self._inputs = inputs
        self._outputs = outputs
        self._returned = returned
        # Once for each place: what is made anew for each request would count by the judge's clock.
        self._calls = [partial(entry, *arguments) for arguments in places]
        self._results: deque[Any] = deque(maxlen=len(places))
        self._replay: Callable[[], None] | None = None

    def time(self, first: int, runs: int, calls: int, *, flush: bool, pause: float) -> list[Run]:
        """Time some runs of so many calls each, beginning at a place and going round."""
        self._results.clear()
        for window in self._inputs:
            window.fetch()
        order = islice(cycle(self._calls), first, None)
        return [
            self._stage.time(list(islice(order, calls)), self._results, flush=flush, pause=pause) for _ in range(runs)
        ]

    def record(self, calls: int) -> bool:
        """Record so many calls, to be repeated without the host; return whether that can be."""
        order = list(islice(cycle(self._calls), calls))
        self._replay = self._stage.record(lambda: [call() for call in order])
        return self._replay is not None

    def repeat(self, times: int) -> None:
        """Have what was recorded done so often."""
        assert self._replay is not None
        self._stage.repeat(self._replay, times)

    def result(self, back: int) -> Any:
        """Return what one of the last calls returned; 1 is the last."""
        return self._results[-back]

    def allocator(self) -> Allocator:
        """Return what outputs that are to be looked at are given back by."""
        self._outputs.fetch()
        return Allocator(self._outputs.bytes, self._returned, self._stage.exchange.alignment)

    def publish(self) -> None:
        """Have the judge see what became of inputs and outputs."""
        for window in (*self._inputs, self._outputs):
            window.publish()
