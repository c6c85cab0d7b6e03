"""A run folder: ``run.yaml``, ``results.sqlite``, ``artifacts/``. Safe to be killed at any moment."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import shutil
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType

from kernelarena.errors import InfraError, InputError, KernelArenaError
from kernelarena.spec import textfile, yamlfile
from kernelarena.spec.condensed import condensed
from kernelarena.spec.kernel import Kernel
from kernelarena.spec.places import Place, look, refusal
from kernelarena.spec.platform import Platform
from kernelarena.spec.run import RUN_SCHEMA, Manifest, RunData
from kernelarena.spec.shape import Shape
from kernelarena.spec.task import TaskSource
from kernelarena.spec.verdict import Verdict
from kernelarena.spec.vocabulary import Status
from kernelarena.store import seeds
from kernelarena.store.database import Database, newer

MANIFEST = "run.yaml"
RESULTS = "results.sqlite"
ARTIFACTS = "artifacts"
_LARGEST = 1 << 28
"""Bytes of a manifest, which names every kernel."""

Cell = tuple[str, str]
"""Kernel id, platform id."""


def new_id(now: datetime | None = None) -> str:
    """Return an id that sorts by time: ``20261130-142530-ab12`` (UTC)."""
    moment = now or datetime.now(timezone.utc)
    return f"{moment:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def timestamp() -> str:
    """Return the time as a manifest holds it: ISO 8601, UTC, whole seconds."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


class Run:
    """An open run folder. Close it, or use it as a context manager.

    One process at a time may write to a run; any number may read it meanwhile.
    """

    def __init__(self, path: Path, manifest: Manifest, database: Database, lock: int | None) -> None:
        self.path = path
        self.manifest = manifest
        self._database = database
        self._lock = lock

    @classmethod
    def create(
        cls,
        path: Path,
        manifest: Manifest,
        platforms: Mapping[str, Platform],
        tasks: Mapping[str, TaskSource],
        kernels: Iterable[Kernel],
        *,
        hidden_seed: int | None = None,
    ) -> Run:
        """Create a run folder with everything that resuming and reporting need, and open it for writing.

        Parameters
        ----------
        path
            The folder; it must not exist. It appears complete or not at all.
        manifest
            Its ``hidden_seed_sha256`` is filled in here, and a seed in its ``sweep`` is taken out, because
            the folder is readable while the run goes on.
        platforms, tasks, kernels
            What the run judges.
        hidden_seed
            Kept outside the folder until ``finish``; None where the hidden gate is off.

        Raises
        ------
        InputError
            If ``path`` exists, or cannot be created, or the seed cannot be kept.
        InfraError
            If there is no room for it.
        """
        if look(path) is not Place.NOTHING or path.is_symlink():
            raise _taken(path)
        manifest = manifest.model_copy(
            update={
                "hidden_seed_sha256": None if hidden_seed is None else seeds.sha256(hidden_seed),
                "sweep": manifest.sweep.model_copy(
                    update={"hidden": manifest.sweep.hidden.model_copy(update={"seed": None})}
                ),
            }
        )
        draft = path.with_name(textfile.draft_name(path))
        kept = False
        made = _missing_parents(path)
        try:
            draft.mkdir(parents=True)
            (draft / ARTIFACTS).mkdir()
            textfile.replace(draft / MANIFEST, yamlfile.dump(manifest))
            Database.create(
                draft / RESULTS,
                {"platforms": platforms, "tasks": tasks, "kernels": {kernel.id: kernel for kernel in kernels}},
            ).close()
            if hidden_seed is not None:
                seeds.keep(manifest.id, hidden_seed)
                kept = True
            draft.rename(path)
        except BaseException as error:
            shutil.rmtree(draft, ignore_errors=True)
            for folder in made:
                with contextlib.suppress(OSError):  # someone else may have put something there
                    folder.rmdir()
            if kept:
                seeds.forget(manifest.id)
            if (explained := _explained(path, error)) is not None:
                raise explained from None
            raise
        return cls.open(path, writable=True)

    @classmethod
    def open(cls, path: Path, *, writable: bool = False) -> Run:
        """Open an existing run folder.

        Raises
        ------
        InputError
            If it is not a run, is damaged, is from a newer schema, or (``writable``) is being written by another
            process.
        """
        place = look(path)
        if place is not Place.FOLDER:
            raise InputError(
                f"{path}: {'no such run folder' if place is Place.NOTHING else f'is {place}, no run folder'}"
            )
        if look(path / MANIFEST) is not Place.FILE:
            raise InputError(f"{path}: is not a run folder (it has no {MANIFEST})")
        lock = _take_lock(path) if writable else None
        try:
            manifest = _read_manifest(path / MANIFEST)
            database = Database.open(path / RESULTS, writable=writable)
        except BaseException:
            if lock is not None:
                os.close(lock)
            raise
        return cls(path, manifest, database, lock)

    @property
    def artifacts(self) -> Path:
        """The folder for compiler output and logs."""
        return self.path / ARTIFACTS

    def hidden_seed(self) -> int | None:
        """Return the hidden seed, from the manifest where it has been published, else from where it is kept.

        Raises
        ------
        InputError
            If the run has one that is not kept here, or has published another than it announced.
        """
        published, digest = self.manifest.hidden_seed, self.manifest.hidden_seed_sha256
        if published is not None:
            if digest is None or seeds.sha256(published) != digest:
                raise InputError(f"{self.path / MANIFEST}: hidden_seed: not the one that the run announced")
            return published
        return None if digest is None else seeds.recall(self.manifest.id, digest)

    def record(self, verdict: Verdict) -> None:
        """Store a verdict; it survives whatever happens to this process afterwards.

        Raises
        ------
        InfraError
            If it cannot be stored (a full disk).
        """
        if verdict.log:
            log = self.artifacts / verdict.kernel / f"{verdict.platform}.log"
            try:
                log.parent.mkdir(parents=True, exist_ok=True)
                textfile.replace(log, verdict.log)
            except OSError as error:
                raise InfraError(f"{log}: cannot be written: {error.strerror}") from None
        self._database.append(verdict)

    def statuses(self) -> dict[Cell, Status]:
        """Return the status of every cell of the run that has a verdict.

        Raises
        ------
        InputError
            If the results are damaged.
        """
        found = self._database.statuses()
        try:
            return {cell: Status(found[cell]) for cell in self.cells() if cell in found}
        except ValueError as error:
            raise InputError(f"{self.path}: its results cannot be read: {error}") from None

    def done(self) -> set[Cell]:
        """Return the cells whose latest verdict is final; infrastructure failures are not."""
        return {cell for cell, status in self.statuses().items() if status is not Status.INFRA}

    def cells(self) -> list[Cell]:
        """Return every cell of the run: kernels in the manifest's order, then platforms in theirs."""
        return [(kernel, platform) for kernel in self.manifest.kernels for platform in self.manifest.platforms]

    def finish(self) -> None:
        """Note that the run has ended, publish its hidden seed, and stop keeping it elsewhere.

        Raises
        ------
        InfraError
            If that cannot be written; the run can then be resumed.
        """
        ended = self.manifest.model_copy(update={"finished": timestamp(), "hidden_seed": self.hidden_seed()})
        try:
            textfile.replace(self.path / MANIFEST, yamlfile.dump(ended))
        except OSError as error:
            raise InfraError(f"{self.path / MANIFEST}: cannot be written: {error.strerror}") from None
        self.manifest = ended
        seeds.forget(self.manifest.id)  # last: killed before this, the seed is kept twice and lost never

    def data(self, *, condense: bool = False) -> RunData:
        """Return everything that a report is made from.

        Parameters
        ----------
        condense
            Whether to count the calls that went well instead of keeping them (`spec.condensed`), for want of room.

        Raises
        ------
        InputError
            If the results are damaged.
        """
        shapes: dict[Shape, Shape] = {}
        verdicts = self._database.verdicts((lambda verdict: condensed(verdict, shapes)) if condense else None)
        tasks = self._database.snapshot("tasks", TaskSource)
        kernels = self._database.snapshot("kernels", Kernel, self.manifest.kernels)
        for kernel in kernels.values():
            if kernel.task not in tasks:
                place = self.path / RESULTS
                raise InputError(f"{place}: lacks the task '{kernel.task}' of kernel '{kernel.id}', so it is damaged")
        return RunData(
            manifest=self.manifest,
            platforms=self._database.snapshot("platforms", Platform, self.manifest.platforms),
            tasks=tasks,
            kernels=kernels,
            verdicts=tuple(verdicts[cell] for cell in self.cells() if cell in verdicts),
        )

    def close(self) -> None:
        """Close the results and let others write to the run."""
        self._database.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _taken(path: Path) -> InputError:
    """Return the error for a place where a run shall be created and something is."""
    if (path / MANIFEST).is_file():
        return InputError(f"{path}: is a run already; continue it with --resume {path}, or choose another --out")
    return InputError(f"{path}: exists and is not a run; choose another --out, or remove it")


def _explained(path: Path, error: BaseException) -> KernelArenaError | None:
    """Return what to tell the user of a failure to create a run; None where it is told already, or a bug of ours."""
    if isinstance(error, sqlite3.Error):  # on a new file, it can only be the host's doing
        return InfraError(f"{path}: cannot be created: {error}")
    if not isinstance(error, OSError):
        return None
    if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR) and look(path) is not Place.NOTHING:
        return _taken(path)  # since a moment ago: another sweep was quicker
    return refusal(path, error, "cannot be created")


def _missing_parents(path: Path) -> list[Path]:
    """Return the folders above ``path`` that do not exist yet, the innermost first."""
    return [folder for folder in path.parents if look(folder) is Place.NOTHING]


def _read_manifest(path: Path) -> Manifest:
    text = textfile.read(path, limit=_LARGEST)
    family, _, ours = RUN_SCHEMA.rpartition("/")
    # Looked for in the text, because what a newer version writes need not fit this one's model.
    written = re.search(rf"^schema_version:\s*['\"]?{re.escape(family)}/(\d+)", text, re.MULTILINE)
    if written and int(written[1]) > int(ours):
        raise InputError(newer(path.parent, written[1]))
    return yamlfile.read(path, Manifest, text=text)


def _take_lock(path: Path) -> int:
    """Take the run's lock, which the kernel drops when this process ends, however it ends."""
    if not os.access(path, os.W_OK):  # the lock's own file may be open to all, and be there already
        raise InputError(f"{path}: cannot be written to: it is read-only for this user")
    try:
        handle = os.open(path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise InputError(f"{path}: cannot be written to: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise InputError(f"{path}: another kab-mc is writing to this run; wait for it, or end it") from None
    except OSError as error:
        os.close(handle)
        raise InputError(f"{path}: cannot be locked: {error.strerror}; choose a file system that has locks") from None
    return handle
