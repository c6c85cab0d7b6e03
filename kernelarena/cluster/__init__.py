"""Ray actors, and the hand-out of cells to them.

``cell`` and ``placement`` know nothing of Ray and are cheap to import; ``session`` and ``schedule`` import it.
"""

import os

# Ray reads these when it is imported, which only modules below do, and hands them to its daemons. Whoever has set one
# keeps it.
for _name, _value in {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",  # its C++ side writes to our standard error, past every setting for Python
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # nor may it tell of lost workers on standard output: their verdicts do
    "RAY_process_group_cleanup_enabled": "true",  # a worker that dies takes along what it has started
}.items():
    os.environ.setdefault(_name, _value)
