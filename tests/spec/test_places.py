"""What lies at a path is told, or refused in one line."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kernelarena.errors import InfraError, InputError
from kernelarena.spec import paths
from kernelarena.spec.places import Place, look, refusal


def test_what_lies_at_a_path(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "dangling").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe")
    assert look(tmp_path) is Place.FOLDER
    assert look(tmp_path / "file") is look(tmp_path / "link") is Place.FILE
    assert look(tmp_path / "pipe") is look(Path("/dev/null")) is Place.OTHER
    assert look(tmp_path / "dangling") is look(tmp_path / "none") is look(tmp_path / "file" / "x") is Place.NOTHING


@pytest.mark.parametrize(
    ("name", "said"),
    [("x" * 300, "File name too long"), ("loop", "Too many levels"), ("a\0b", "cannot be the name of a file")],
)
def test_what_cannot_be_told(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match=said):
        look(tmp_path / name)


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.EACCES, InputError), (errno.EROFS, InputError), (errno.ENOSPC, InfraError), (errno.EIO, InfraError)],
)
def test_whose_fault_a_refusal_is(number: int, kind: type[Exception]) -> None:
    error = refusal(Path("a/b"), OSError(number, os.strerror(number)), "cannot be written")
    assert type(error) is kind
    assert str(error) == f"a/b: cannot be written: {os.strerror(number)}"


def test_folders_for_state_and_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert paths.state_dir() == tmp_path / "state/kernelarena"
    assert paths.cache_dir() == tmp_path / ".cache/kernelarena"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert paths.state_dir() == tmp_path / ".local/state/kernelarena"
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)  # an id without an account, as containers have them
    with pytest.raises(InputError, match="XDG_STATE_HOME: not set, and this user has no home folder"):
        paths.state_dir()
