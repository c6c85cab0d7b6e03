"""Trying the tasks of a sweep before anything is judged, while Ray starts.

A judge evaluates references in its own process. One that loops, leaves or crashes would take the judge along, over and
over, and look as if the kernels had done it. Here it is tried in a process of its own first.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from kernelarena.cluster.cell import Cell
from kernelarena.errors import InfraError, InputError
from kernelarena.judge.user_code import Ended, Server
from kernelarena.spec import Sweep

SECONDS = 30.0
"""For one task, at least; as long as a call of a kernel may take, if that is more."""
MEMORY = 4 << 30
"""Bytes for one task."""


class Tryouts:
    """Tries the tasks of some cells in the background, from entering the context on.

    Parameters
    ----------
    cells
        Whose tasks to try, each once.
    config
        Its deadline of a call counts, and whether a broken task is to end the run.
    function
        What tries a task, as :class:`~kernelarena.judge.user_code.Server` takes it.
    """

    def __init__(self, cells: Iterable[Cell], config: Sweep, function: str = "kernelarena.judge.tryout:run") -> None:
        self._cells = {cell.task.task.id: cell for cell in cells}
        self._seconds = max(SECONDS, config.deadlines.call)
        self._keep_going = config.keep_going
        self._function = function

    def __enter__(self) -> Tryouts:
        self._server = Server(self._function)
        self._pool = ThreadPoolExecutor(1, "tryouts")
        self._found: Future[dict[str, str]] = self._pool.submit(self._all)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()  # at which the thread, if it still waits for an answer, gets none
        self._pool.shutdown()

    def broken(self) -> dict[str, str]:
        """Wait until all are tried; return what is wrong with those that do not work, by task id.

        Raises
        ------
        InputError
            If there is any, unless the run is to keep going.
        InfraError
            If the process that tries them does not start.
        """
        try:
            found = self._found.result()
        except RuntimeError as error:
            raise InfraError(str(error)) from error
        if found and not self._keep_going:
            raise InputError(*found.values())
        return found

    def _all(self) -> dict[str, str]:
        wrong = {task_id: self._wrong_with(cell) for task_id, cell in self._cells.items()}
        return {task_id: why for task_id, why in wrong.items() if why}

    def _wrong_with(self, cell: Cell) -> str:
        """Return what is wrong with a task, or nothing."""
        at = why = ""
        job = {"task": cell.task.model_dump(mode="json"), "platform": cell.platform.model_dump(mode="json")}
        try:
            for message in self._server.run(job, seconds=self._seconds, memory=MEMORY):
                at = message.get("at", at)
                why = message.get("unusable", why)
        except Ended as ended:
            return str(ended.blame(cell.task, at))
        return why
