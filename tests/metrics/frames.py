"""Frames written by hand: one line a cell."""

from __future__ import annotations

import pandas as pd

from kernelarena.metrics import CELL_COLUMNS, TIMING_COLUMNS


def frame(*rows: dict[str, object]) -> pd.DataFrame:
    """Cells that passed on their chip, but for what each row says."""
    usual = {"task": "softmax", "evidence": "measured", "status": "pass", "gate": "hidden"}
    full = pd.DataFrame([usual | row for row in rows], columns=list(CELL_COLUMNS))
    numbers = CELL_COLUMNS[CELL_COLUMNS.index("visible_passed") :]
    return full.astype(dict.fromkeys(numbers, "float64"))


def lost(kernel: str, platform: str, gate: str = "correctness", **fields: object) -> dict[str, object]:
    return {"kernel": kernel, "platform": platform, "status": "fail", "gate": gate, **fields}


def timed(
    kernel: str, platform: str, shape: str, seconds: float, baseline: float, **fields: object
) -> dict[str, object]:
    usual = {"task": "softmax", "evidence": "measured", "status": "pass"}
    own = {"kernel": kernel, "platform": platform, "shape": shape, "seconds": seconds, "baseline_seconds": baseline}
    return usual | own | fields


def timing_frame(*rows: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(TIMING_COLUMNS))
