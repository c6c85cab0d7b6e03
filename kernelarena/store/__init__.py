"""The run folder: configuration, results and artefacts on disk."""

from kernelarena.store.environment import environment
from kernelarena.store.run import Run, new_id

__all__ = ["Run", "environment", "new_id"]
