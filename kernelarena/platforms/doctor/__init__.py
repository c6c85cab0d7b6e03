"""What a host has for measuring, what it lacks, and what to do about it.

Checks are functions that yield findings, one idea each, in three lists: of the host (``host``), of the runtime of a
vendor's chips (``runtime``), and of one device (``device``). Nothing here opens a device or loads a vendor's library in
the calling process: processes with a deadline do (``worker``).
"""

from kernelarena.platforms.doctor.examination import concerned, examine
from kernelarena.platforms.doctor.finding import SCHEMA, Diagnosis, Finding, State, missing, ok, warning

__all__ = ["SCHEMA", "Diagnosis", "Finding", "State", "concerned", "examine", "missing", "ok", "warning"]
