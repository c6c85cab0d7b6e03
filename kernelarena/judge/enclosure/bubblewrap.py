"""One enclosure for all candidates of a zygote, where a host lets nobody make one but the program ``bwrap``."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from kernelarena.judge.enclosure.visible import View

_START_SECONDS = 10.0


def command(view: View) -> list[str] | None:
    """Return what a command is preceded by to run enclosed; None where that is not possible.

    Parameters
    ----------
    view
        What of the host is shown.
    """
    program = shutil.which("bwrap")
    if program is None:
        return None
    words = [
        program,
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--cap-drop",
        "ALL",
    ]
    words += ["--tmpfs", "/tmp", "--dir", "/var/tmp", "--chdir", "/"]
    for path, target in view.links.items():
        words += ["--symlink", target, path]
    for path in sorted({*view.read_only, *view.hidden}, key=lambda path: Path(path).parts):
        words += ["--tmpfs", path] if path in view.hidden else ["--ro-bind", path, path]
    for path in view.devices:
        words += ["--dev-bind-try", path, path]
    return words if _works(words) else None


def _works(words: list[str]) -> bool:
    quiet = subprocess.DEVNULL
    try:
        tried = subprocess.run(
            [*words, sys.executable, "-c", ""], stdin=quiet, stdout=quiet, stderr=quiet, timeout=_START_SECONDS,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0
