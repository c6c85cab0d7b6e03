"""A run folder: ``run.yaml``, ``results.sqlite``, ``artifacts/``. Safe to be killed at any moment."""

from __future__ import annotations

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

from kernelarena.errors import InfraError, InputError
from kernelarena.spec import textfile, yamlfile
from kernelarena.spec.kernel import Kernel
from kernelarena.spec.platform import Platform
from kernelarena.spec.run import RUN_SCHEMA, Manifest, RunData
from kernelarena.spec.task import TaskSource
from kernelarena.spec.verdict import Verdict
from kernelarena.spec.vocabulary import Status
from kernelarena.store import seeds
from kernelarena.store.database import Database, newer

MANIFEST = "run.yaml"
RESULTS = "results.sqlite"
ARTIFACTS = "artifacts"

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
            If ``path`` exists, or cannot be created.
        """
        if path.exists() or path.is_symlink():
            if (path / MANIFEST).is_file():
                raise InputError(f"{path}: is a run already; continue it with --resume {path}, or choose another --out")
            raise InputError(f"{path}: exists and is not a run; choose another --out, or remove it")
        manifest = manifest.model_copy(
            update={
                "hidden_seed_sha256": None if hidden_seed is None else seeds.sha256(hidden_seed),
                "sweep": manifest.sweep.model_copy(
                    update={"hidden": manifest.sweep.hidden.model_copy(update={"seed": None})}
                ),
            }
        )
        draft = path.with_name(f".{path.name}.{os.getpid()}.new")
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
            draft.rename(path)
        except (OSError, sqlite3.Error) as error:
            seeds.forget(manifest.id)
            raise InputError(f"{path}: cannot be created: {getattr(error, 'strerror', None) or error}") from None
        finally:
            shutil.rmtree(draft, ignore_errors=True)
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
        if not path.is_dir():
            raise InputError(f"{path}: no such run folder")
        if not (path / MANIFEST).is_file():
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
            If the run has one that is not kept here.
        """
        if self.manifest.hidden_seed is not None:
            return self.manifest.hidden_seed
        if self.manifest.hidden_seed_sha256 is None:
            return None
        return seeds.recall(self.manifest.id, self.manifest.hidden_seed_sha256)

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
        """Return the status of every cell that has a verdict."""
        try:
            return {cell: Status(status) for cell, status in self._database.statuses().items()}
        except ValueError as error:
            raise InputError(f"{self.path}: its results cannot be read: {error}") from None

    def done(self) -> set[Cell]:
        """Return the cells whose latest verdict is final; infrastructure failures are not."""
        return {cell for cell, status in self.statuses().items() if status is not Status.INFRA}

    def cells(self) -> list[Cell]:
        """Return every cell of the run: kernels in the manifest's order, then platforms in theirs."""
        return [(kernel, platform) for kernel in self.manifest.kernels for platform in self.manifest.platforms]

    def finish(self) -> None:
        """Note that the run has ended, publish its hidden seed, and stop keeping it elsewhere."""
        self.manifest = self.manifest.model_copy(update={"finished": timestamp(), "hidden_seed": self.hidden_seed()})
        textfile.replace(self.path / MANIFEST, yamlfile.dump(self.manifest))
        seeds.forget(self.manifest.id)  # last: killed before this, the seed is kept twice and lost never

    def data(self) -> RunData:
        """Return everything that a report is made from.

        Raises
        ------
        InputError
            If the results are damaged.
        """
        verdicts = self._database.verdicts()
        return RunData(
            manifest=self.manifest,
            platforms=self._database.snapshot("platforms", Platform, self.manifest.platforms),
            tasks=self._database.snapshot("tasks", TaskSource),
            kernels=self._database.snapshot("kernels", Kernel, self.manifest.kernels),
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


def _read_manifest(path: Path) -> Manifest:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from None
    family, _, ours = RUN_SCHEMA.rpartition("/")
    # Looked for in the text, because what a newer version writes need not fit this one's model.
    written = re.search(rf"^schema_version:\s*['\"]?{re.escape(family)}/(\d+)", text, re.MULTILINE)
    if written and int(written[1]) > int(ours):
        raise InputError(newer(path.parent, written[1]))
    return yamlfile.read(path, Manifest, text=text)


def _take_lock(path: Path) -> int:
    """Take the run's lock, which the kernel drops when this process ends, however it ends."""
    try:
        handle = os.open(path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise InputError(f"{path}: cannot be written to: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise InputError(f"{path}: another kab-mc is writing to this run; wait for it, or end it") from None
    return handle
