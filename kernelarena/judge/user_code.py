"""Running a task's own code where it can do no harm: in a process that has a deadline and a bound on its memory.

A ``reference.py`` is a user's, not an adversary's, but it may loop for ever, fill the memory, call ``os._exit`` or
crash an extension. A server process imports what is needed once and forks a child for each job; a child's messages
travel as lines of JSON, and how it ended is said by the server. When the user's process ends, all of them do.

Run as a program: ``python -m kernelarena.judge.user_code module:function`` serves jobs on standard input.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO

from kernelarena.errors import InputError
from kernelarena.judge import stacks
from kernelarena.judge.enclosure.forking import leave_after
from kernelarena.judge.enclosure.population import end_below, end_group, private_bytes
from kernelarena.judge.enclosure.privileges import adopt_orphans, die_with_parent
from kernelarena.judge.ending import signal_name
from kernelarena.judge.printed import PAUSE, Printed
from kernelarena.spec import TaskSource

_TICK = 0.2  # seconds between looks at the memory in use
_MERCY = 0.5  # seconds to print a stack before the end
_PATIENCE = 100  # looks, a hundredth of a second apart, at what was killed and has not ended
_START = {"ready": True}


class Ended(Exception):
    """A job ended otherwise than by finishing; the message is the end of a sentence about the user's code.

    Parameters
    ----------
    words
        What happened.
    stack
        Files and lines that were being executed, innermost first, where the process could still say so.
    """

    def __init__(self, words: str, stack: tuple[tuple[str, int], ...] = ()) -> None:
        super().__init__(words)
        self.words = words
        self.stack = stack

    def blame(self, task: TaskSource, at: str = "") -> InputError:
        """Return what the user is told: the file, its line where that is known, and what happened.

        Parameters
        ----------
        task
            Whose code it was.
        at
            What it was doing, where that is known.
        """
        where = task.where
        lines = self.stack if where.endswith(".py") else ()
        line = next((f":{line}" for file, line in lines if file == where), "")
        return InputError(f"{where}{line}: {at and at + ': '}the task's own code {self.words}")


class Server:
    """Runs a function of the package on one argument after the other, each time in a fresh process.

    It starts in the background; the first job waits until it has.

    Parameters
    ----------
    function
        ``module:name`` of a function that takes a JSON object and yields JSON objects. If the module has a function
        ``preload``, it is called once, before anything is forked.
    environment
        Of its processes; this process's own where None is given.

    """

    def __init__(self, function: str, environment: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kernelarena.judge.user_code", function],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
            env=environment,
        )  # fmt: skip
        self._ready = False

    def run(self, argument: dict[str, Any], *, seconds: float, memory: int) -> Iterator[dict[str, Any]]:
        """Run one job and yield what the function yields; to be read to its end before the next job.

        Parameters
        ----------
        argument
            For the function.
        seconds
            Deadline.
        memory
            Bytes that the process may use beyond what it is forked with.

        Raises
        ------
        Ended
            If the process did not get to the end of the function.
        RuntimeError
            If the server did not start, or the function itself raised, which is a bug of ours.
        """
        assert self._process.stdin is not None
        self._await_start()
        job = {"argument": argument, "seconds": seconds, "memory": memory}
        try:
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Ended("could not be run: what was run before it took the process for that along") from None
        for message in self._messages():
            if "finished" in message:
                return
            if "ended" in message:
                raise Ended(message["ended"], tuple((file, line) for file, line in message["stack"]))
            if "broken" in message:
                raise RuntimeError(message["broken"])
            yield message["yielded"]
        raise Ended("took the process that runs it down with it")

    def _await_start(self) -> None:
        if not self._ready and next(self._messages(), None) != _START:
            code = self._process.wait()
            raise RuntimeError(f"the process for a task's own code did not start (exit code {code})")
        self._ready = True

    def _messages(self) -> Iterator[dict[str, Any]]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):  # a line that was cut short by the end of its writer
                yield json.loads(line)

    def close(self) -> None:
        """End the server and everything below it."""
        end_below(self._process.pid)
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def main(name: str) -> None:
    """Serve until standard input ends."""
    die_with_parent()
    adopt_orphans()
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever imports print is not for the other side
    module, _, attribute = name.partition(":")
    code = importlib.import_module(module)
    function = getattr(code, attribute)
    getattr(code, "preload", lambda: None)()
    _say(out, _START)
    for line in sys.stdin.buffer:
        job = json.loads(line)
        printed = Printed()
        pid = os.fork()
        if pid == 0:
            leave_after(partial(_work, function, job["argument"], out, printed), broken=_BROKEN)
        os.close(printed.writer)
        ended = _watch(pid, job["seconds"], job["memory"], printed)
        _clear()
        printed.drain()
        if ended is None:
            _say(out, {"finished": True})
        elif ended == _how(_BROKEN << 8):
            _say(out, {"broken": printed.text()})
        else:
            _say(out, {"ended": ended, "stack": stacks.last(printed.text())})
        printed.close()


def _work(function: Callable[[Any], Iterator[Any]], argument: Any, out: BinaryIO, printed: Printed) -> int:
    """Do a job in the forked process; return what that is to end with."""
    os.setsid()
    die_with_parent()
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for stream in (1, 2):
        os.dup2(printed.writer, stream)
    os.close(printed.writer)
    printed.close()
    stacks.print_when_asked()
    for message in function(argument):
        _say(out, {"yielded": message})
    return _DONE


_DONE, _BROKEN = 83, 84  # unlike 0 and 1, what nobody exits with by chance


def _watch(pid: int, seconds: float, memory: int, printed: Printed) -> str | None:
    """Wait for a job; return None if it finished, else how it ended."""
    deadline = time.monotonic() + seconds
    inherited = private_bytes(pid)
    looked = 0.0
    polling = select.poll()
    polling.register(printed, select.POLLIN)
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return None if os.WIFEXITED(status) and os.WEXITSTATUS(status) == _DONE else _how(status)
        now = time.monotonic()
        late, large = now >= deadline, False
        if now - looked >= _TICK:
            looked = now
            large = private_bytes(pid) - inherited > memory
        if late or large:
            stacks.ask(pid)
            time.sleep(_MERCY)
            end_group(pid)
            os.waitpid(pid, 0)
            if late:
                return f"did not finish within {seconds:g} s"
            return f"used more than the {memory >> 20} MiB of memory that it may use"
        if printed.open:  # its end closes the pipe, unless it has left children behind
            polling.poll(min(_TICK, deadline - now) * 1000)
        if not (printed.open and printed.drain()):
            time.sleep(PAUSE)


def _clear() -> None:
    """End and reap what a job started and left behind, which became ours when it ended."""
    end_below(os.getpid())
    with contextlib.suppress(ChildProcessError):
        for _ in range(_PATIENCE):
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"crashed ({signal_name(os.WTERMSIG(status))})"
    return f"ended the process with exit code {os.WEXITSTATUS(status)}"


def _say(out: BinaryIO, message: dict[str, Any]) -> None:
    out.write(json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1])
