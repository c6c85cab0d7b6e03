"""Which of the many shipped tasks a run of the tests looks at closely: an eighth of them, another one each day.

``make test-all`` looks at all (``ALL_TASKS=1``), and is to be run each night.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable

SHARDS = 8


def shard(names: Iterable[str]) -> list[str]:
    """Return today's share of some names, sorted; all of them if ``ALL_TASKS`` is set."""
    if os.environ.get("ALL_TASKS"):
        return sorted(names)
    day = datetime.datetime.now(datetime.timezone.utc).date().toordinal()
    return sorted(names)[day % SHARDS :: SHARDS]
