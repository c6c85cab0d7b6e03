"""``results.sqlite``: what a run was asked to judge, and every verdict in the order in which it arrived.

Append-only, by triggers: a verdict that is superseded (a cell that was tried again) stays where it is, and the latest
one counts. Write-ahead logging with full synchronisation makes each verdict one durable transaction.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from kernelarena.errors import InfraError, InputError, KernelArenaError
from kernelarena.spec.places import Place, look
from kernelarena.spec.verdict import Verdict

SCHEMA = 1
"""``PRAGMA user_version``. A change that older readers cannot take raises it."""
SNAPSHOTS = ("platforms", "tasks", "kernels")

_APPEND_ONLY = "\n".join(
    f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END;"
    for table in ("verdicts", *SNAPSHOTS)
    for verb in ("UPDATE", "DELETE")
)
_DECLARATION = f"""
CREATE TABLE verdicts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kernel TEXT NOT NULL,
    platform TEXT NOT NULL,
    status TEXT NOT NULL,
    gate TEXT,
    reason TEXT,
    evidence TEXT,
    created TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX cells ON verdicts (kernel, platform, seq);
{"".join(f"CREATE TABLE {table} (id TEXT PRIMARY KEY, body TEXT NOT NULL);" for table in SNAPSHOTS)}
{_APPEND_ONLY}
PRAGMA user_version = {SCHEMA};
"""
_SHORTAGES = ("database or disk is full", "disk I/O error", "database is locked")
"""What SQLite says where the host fails it, and not the file."""
_LATEST = "SELECT MAX(seq) FROM verdicts GROUP BY kernel, platform"

M = TypeVar("M", bound=BaseModel)


class Database:
    """One connection to a run's results."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @classmethod
    def create(cls, path: Path, snapshots: Mapping[str, Mapping[str, BaseModel]]) -> Database:
        """Create the file with what the run judges; ``snapshots`` holds models by table and id."""
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript("BEGIN;" + _DECLARATION + "COMMIT;")
            connection.execute("BEGIN")
            for table in SNAPSHOTS:
                connection.executemany(
                    f"INSERT INTO {table} VALUES (?, ?)",
                    [(key, model.model_dump_json()) for key, model in snapshots[table].items()],
                )
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return cls(path, connection)

    @classmethod
    def open(cls, path: Path, *, writable: bool) -> Database:
        """Open an existing file.

        Raises
        ------
        InputError
            If it is missing, damaged, or of a newer schema.
        """
        if look(path) is not Place.FILE:
            raise InputError(f"{path}: no such file; the run folder is incomplete")
        with _readable(path):
            connection = _connect(path, writable)
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA:
                raise InputError(newer(path, version))
            if version != SCHEMA:
                raise InputError(f"{path}: not the results of a run (schema {version})")
            return cls(path, connection)

    def append(self, verdict: Verdict) -> None:
        """Store a verdict in one transaction; it is on disk when this returns.

        Raises
        ------
        InfraError
            If it cannot be stored (a full disk).
        """
        row = (
            verdict.kernel,
            verdict.platform,
            verdict.status.value,
            verdict.gate and verdict.gate.value,
            verdict.reason and verdict.reason.value,
            verdict.evidence and verdict.evidence.value,
            datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            verdict.model_dump_json(),
        )
        try:
            self._connection.execute(
                "INSERT INTO verdicts (kernel, platform, status, gate, reason, evidence, created, body)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )
        except sqlite3.Error as error:
            raise InfraError(f"{self.path}: a verdict cannot be stored: {error}") from None

    def statuses(self) -> dict[tuple[str, str], str]:
        """Return the status of the latest verdict of each cell, by (kernel, platform)."""
        with _readable(self.path):
            rows = self._connection.execute(f"SELECT kernel, platform, status FROM verdicts WHERE seq IN ({_LATEST})")
            return {(kernel, platform): status for kernel, platform, status in rows}

    def verdicts(self, keep: Callable[[Verdict], Verdict] | None = None) -> dict[tuple[str, str], Verdict]:
        """Return the latest verdict of each cell, by (kernel, platform): what ``keep`` makes of it, where given."""
        query = f"SELECT kernel, platform, status, body FROM verdicts WHERE seq IN ({_LATEST}) ORDER BY seq"
        found = {}
        with _readable(self.path):
            for kernel, platform, status, body in self._connection.execute(query):
                verdict = self._parsed("verdicts", f"{kernel} on {platform}", body, Verdict)
                if (verdict.kernel, verdict.platform, verdict.status) != (kernel, platform, status):
                    raise self._damaged("verdicts", f"{kernel} on {platform}", "it contradicts itself")
                found[kernel, platform] = verdict if keep is None else keep(verdict)
        return found

    def snapshot(self, table: str, model: type[M], ids: Iterable[str] | None = None) -> dict[str, M]:
        """Return what the run was asked to judge, by id, in the order of ``ids`` where given."""
        with _readable(self.path):
            rows = dict(self._connection.execute(f"SELECT id, body FROM {table} ORDER BY rowid").fetchall())
            wanted = list(rows if ids is None else ids)
            for key in wanted:
                if key not in rows:
                    raise InputError(f"{self.path}: the table {table} lacks '{key}', so the file is damaged")
            return {key: self._parsed(table, key, rows[key], model) for key in wanted}

    def _parsed(self, table: str, key: str, body: str, model: type[M]) -> M:
        try:
            return model.model_validate_json(body)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise self._damaged(table, key, f"{where}: {first['msg']}" if where else first["msg"]) from None

    def _damaged(self, table: str, key: str, why: str) -> InputError:
        return InputError(f"{self.path}: the row '{key}' of the table {table} cannot be read: {why}")

    def close(self) -> None:
        """Close the connection; SQLite folds its log into the file when the last one closes."""
        self._connection.close()


def newer(path: Path, version: object) -> str:
    """Return the message for a run that this version cannot read."""
    return f"{path}: was written by a newer kab-mc (schema {version}; this one reads {SCHEMA}): upgrade kernelarena"


def _connect(path: Path, writable: bool) -> sqlite3.Connection:
    if writable:
        connection = sqlite3.connect(path, isolation_level=None, timeout=30)
        connection.execute("PRAGMA synchronous = FULL")
    elif os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        # Even a reader of a write-ahead log shares memory with the writer, by a file that the last one removes.
        connection = sqlite3.connect(path, isolation_level=None, timeout=30)
        connection.execute("PRAGMA query_only = ON")
    else:
        # An archived run has no room for that file. Without a log beside it nothing is pending, and the file can be
        # read as it stands.
        pending = path.with_name(path.name + "-wal").exists()
        uri = f"{path.resolve().as_uri()}?{'mode=ro' if pending else 'immutable=1'}"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30)
    return connection


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        kind: type[KernelArenaError] = InfraError if str(error).startswith(_SHORTAGES) else InputError
        raise kind(f"{path}: cannot be read: {error}") from None
    except UnicodeDecodeError:  # where a name in the schema is what is damaged
        raise InputError(f"{path}: cannot be read: it holds text that is none") from None
