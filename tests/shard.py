"""Which of the many shipped tasks a run of the tests looks at closely: an eighth of them, the same for every change.

``make test-all`` looks at all (``ALL_TASKS=1``), and is to be run each night; ``SHARD=3`` looks at another eighth.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

SHARDS = 8


def shard(names: Iterable[str]) -> list[str]:
    """Return a share of some names, sorted; all of them if ``ALL_TASKS`` is set."""
    if os.environ.get("ALL_TASKS"):
        return sorted(names)
    return sorted(names)[int(os.environ.get("SHARD", "0")) % SHARDS :: SHARDS]
