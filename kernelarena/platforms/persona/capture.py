"""Records what Triton compiles and launches under a persona, as plain events."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import torch

from kernelarena.platforms.persona.launches import Launches
from kernelarena.platforms.persona.ledger import Ledger
from kernelarena.platforms.persona.observer import Observer
from kernelarena.platforms.persona.source import line_of, place_of
from kernelarena.platforms.toolchains.artefact import Needs, read_amdgcn, read_cubin

Emit = Callable[[dict[str, object]], None]

_LOG_LIMIT = 4000  # characters of compiler output kept with a failure
_TEXT_LIMIT = 2000


class Recorder(Launches):
    """Tells of what is compiled and launched, as it happens.

    Parameters
    ----------
    emit
        Called with each event as it happens.
    folder
        The kernel's own folder; places in it are reported relative to it.
    ledger, observer
        Told of the tensors that are handed to launches.
    """

    def __init__(self, emit: Emit, folder: Path, ledger: Ledger, observer: Observer) -> None:
        super().__init__(ledger)
        self._emit = emit
        self._folder = folder
        self._observer = observer
        self._compiled = 0
        self._told: set[tuple[int, bool]] = set()
        self.counts: dict[int, int] = {}
        self.last_loaded: int | None = None

    def compiling(self, compile_: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap Triton's ``compile`` so that every compilation is told of."""

        def recorded(src: Any, target: Any = None, options: Any = None, **rest: Any) -> Any:
            function = getattr(src, "fn", None)
            if function is None:  # a file of IR, which a few kernels hand to the compiler themselves
                return compile_(src, target=target, options=options, **rest)
            number = self._compiled
            self._compiled += 1
            src._persona_number = number
            file, line = place_of(function, self._folder)
            options = dict(options or {})
            self._emit(
                {
                    "event": "compiling", "number": number, "kernel": str(function.__name__)[:200],
                    "signature": signature_of(src)[:_TEXT_LIMIT], "warps": int(options.get("num_warps", 4)),
                    "stages": options.get("num_stages"), "tuning": self._tuning > 0, "file": file, "line": line,
                }
            )  # fmt: skip
            begun = time.monotonic()
            log = _Log()
            try:
                with log:
                    made = compile_(src, target=target, options=options, **rest)
            except Exception as error:
                error._persona_number = number  # type: ignore[attr-defined]
                where = line_of(error, self._folder) or (file, line)
                self._emit(
                    {
                        "event": "compile-failed", "number": number, "error": type(error).__name__,
                        "message": message_of(error), "log": log.text, "file": where[0], "line": where[1],
                    }
                )  # fmt: skip
                raise
            needs = _needs(made)
            self._needs[made.kernel] = needs
            metadata = made.metadata
            self._emit(
                {
                    "event": "compiled", "number": number, "seconds": time.monotonic() - begun,
                    "warps": int(metadata.num_warps), "shared": int(metadata.shared) + needs.static_shared,
                    "registers": needs.registers, "scalar_registers": needs.scalar_registers,
                    "spills": needs.spills, "scratch": needs.scratch, "complaint": _complaint(log.text),
                }
            )  # fmt: skip
            return made

        return recorded

    def loading(self, source: Any) -> int:
        """Remember which was loaded last: what fails next is its fault."""
        self.last_loaded = super().loading(source)
        return self.last_loaded

    def launched(
        self,
        number: int,
        grid: tuple[int, int, int],
        tensors: Sequence[torch.Tensor],
        arguments: Sequence[Any] = (),
    ) -> None:
        """Note a launch; what other arguments it has does not matter here."""
        tuning = self._tuning > 0
        self._observer.launched(tensors, tuning=tuning)
        if not tuning:
            self.counts[number] = self.counts.get(number, 0) + 1
        if (number, tuning) not in self._told:
            self._told.add((number, tuning))
            self._emit({"event": "launch", "number": number, "grid": [int(size) for size in grid], "tuning": tuning})

    def take_counts(self) -> dict[int, int]:
        """Return how often each specialisation was launched since the last time."""
        counts, self.counts = self.counts, {}
        return counts


def message_of(error: BaseException) -> str:
    """Return the innermost message of a chain, which is the one that says what is wrong."""
    deepest = error
    while isinstance(deepest.__cause__, Exception) and type(deepest).__name__ == "CompilationError":
        deepest = deepest.__cause__
    own = getattr(deepest, "error_message", None)
    try:
        text = str(own if isinstance(own, str) and own else deepest)
    except BaseException:  # a kernel's own exception may do anything when it is looked at
        text = f"(its message cannot be shown: {type(deepest).__name__})"
    if own is None and deepest is not error:
        text = f"{type(deepest).__name__}: {text}"
    return text.strip()[:_TEXT_LIMIT]


def signature_of(source: Any) -> str:
    """Describe a specialisation: ``x: *fp16 (16-byte aligned), n: i32, BLOCK=1024``."""
    words = []
    for index, (name, kind) in enumerate(source.signature.items()):
        if kind == "constexpr":
            value = source.constants.get((index,))
            words.append(f"{name}={getattr(value, '__name__', value)}")
            continue
        text = f"{name}: {kind}" if not isinstance(kind, tuple) else f"{name}: ({', '.join(map(str, kind))})"
        divisibility = next((step for key, step in source.attrs.get((index,), []) if key == "tt.divisibility"), None)
        if divisibility is not None:
            text += f" ({divisibility}-byte aligned)" if str(kind).startswith("*") else f" (multiple of {divisibility})"
        words.append(text)
    return ", ".join(words)


def _complaint(log: str) -> str:
    """Return the first error that the compiler printed although it went on to return a binary.

    LLVM's code generators do so, for example when inline assembly names a register class that the chip lacks: they
    leave the instruction out, and what comes back runs and computes something else.
    """
    return next((line[:_TEXT_LIMIT] for line in log.splitlines() if line.startswith("error:")), "")


def _needs(made: Any) -> Needs:
    if "amdgcn" in made.asm:
        return read_amdgcn(made.asm["amdgcn"])
    return read_cubin(made.kernel, made.name)


class _Log:
    """Catches what the compiler's native code prints on file descriptor 2, without keeping it from getting there.

    Where the descriptor is a regular file it is read in place, so that the last words of a compiler that aborts the
    process stand where whoever reads the file will look for them.
    """

    text = ""

    def __enter__(self) -> None:
        self._own: IO[bytes] | None = None
        self._begin = 0
        status = os.fstat(2)
        if stat.S_ISREG(status.st_mode):
            with contextlib.suppress(OSError):
                self._own = open("/proc/self/fd/2", "rb")
                self._begin = status.st_size
                self._saved = None
                return
        self._own = tempfile.TemporaryFile()
        self._saved = os.dup(2)
        os.dup2(self._own.fileno(), 2)

    def __exit__(self, *_: object) -> None:
        assert self._own is not None
        if self._saved is not None:
            os.dup2(self._saved, 2)
        self._own.seek(self._begin)
        said = self._own.read()
        self._own.close()
        if self._saved is not None:
            if said:
                os.write(self._saved, said)
            os.close(self._saved)
        self.text = said.decode("utf-8", "replace")[-_LOG_LIMIT:]
