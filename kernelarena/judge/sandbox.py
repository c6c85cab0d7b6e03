"""What of the judge's surroundings reaches the processes that kernels run in."""

from __future__ import annotations

import os

from kernelarena.judge.enclosure.privileges import Quota
from kernelarena.platforms.toolchains.cpp import places

__all__ = ["KEPT_VARIABLES", "Quota", "environment"]

KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "TZ", *places.VARIABLES)
"""What of the environment reaches a candidate; nothing of the run, of the user's tokens or of the cluster does."""

# One thread: several candidates run side by side, and a forked pool of threads would hang.
_SINGLE_THREADED = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def environment() -> dict[str, str]:
    """Return the environment of the process that candidates are forked from."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {**kept, **_SINGLE_THREADED, "PYTHONHASHSEED": "0"}
