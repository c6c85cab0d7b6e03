"""The scores of other suites, so that a run can be set beside what they publish."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kernelarena.metrics._frames import checked, grouped, judged, one_scale, passed, table, with_speed
from kernelarena.spec import Evidence, Gate

_COLUMNS = ("task", "kernel", "platform", "evidence", "status", "gate", "speedup", "baseline")


def agent_kernel_arena_score(cells: pd.DataFrame) -> pd.Series[float]:
    """Return AgentKernelArena's score of each measured cell.

    0 if it does not compile; 20 if it compiles and is wrong; ``120 + 100 × speedup`` if it is right, and 120 where no
    speedup could be told. That suite knows visible shapes only, so that a kernel which fails on hidden ones counts as
    right here; one whose timing was refused has no speedup.

    Parameters
    ----------
    cells
        As `metrics.cells` makes them.

    Returns
    -------
    Series
        ``score``, with the index of the measured rows of ``cells`` whose tasks ask for speed.

    References
    ----------
    Younesian et al.: AgentKernelArena, arXiv:2605.16819, and the scoring rules in that suite's repository.
    """
    checked(cells, _COLUMNS, ("kernel", "platform"))
    told = with_speed(judged(cells, Evidence.MEASURED))
    right = passed(told)
    timed = right | (told["gate"] == Gate.HIDDEN.value)
    correct = timed | (told["gate"] == Gate.TIMING.value)
    score = pd.Series(20.0, index=told.index, name="score")
    score[told["gate"].eq(Gate.COMPILE.value) & ~right] = 0.0
    score[correct] = 120.0
    found: pd.Series[float] = score + 100.0 * told["speedup"].where(timed, 0.0).fillna(0.0)
    return found


def kernel_gen_bench(cells: pd.DataFrame) -> pd.DataFrame:
    r"""Return KernelGenBench's accuracy and speedup on each platform.

    *Accuracy* is the share of tasks for which at least one kernel passes every check. *Speedup* is a geometric mean of
    two levels: first over what one task's passing kernels give, then over tasks, so that a task with many kernels
    weighs no more than one with few:

    .. math::

        S_i = \Big(\prod_{j=1}^{k_i} s_{ij}\Big)^{1/k_i}, \qquad S = \Big(\prod_{i=1}^{n} S_i\Big)^{1/n}

    Returns
    -------
    DataFrame
        ``platform``, ``evidence``, ``tasks`` (judged), ``solved``, ``accuracy``, ``speedup``; one row for each kind of
        evidence. NaN where nothing was timed.

    References
    ----------
    KernelGenBench, documentation: Evaluation metrics (docs.flagos.io, project kernelgenbench).
    """
    checked(cells, _COLUMNS, ("kernel", "platform"))
    rows = []
    for shared, group in grouped(judged(cells), ("platform", "evidence")):
        right = one_scale(group)[passed(group)]
        solved, tasks = right["task"].nunique(), group["task"].nunique()
        logs = np.log(right["speedup"]).groupby(right["task"]).mean().dropna()
        speedup = float(np.exp(logs.mean())) if len(logs) else float("nan")
        rows.append({**shared, "tasks": tasks, "solved": solved, "accuracy": solved / tasks, "speedup": speedup})
    return table(rows, columns=["platform", "evidence", "tasks", "solved", "accuracy", "speedup"])


def degradation(cells: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return how much accuracy is lost from one platform to each other one: ``(a_ref - a_p) / a_ref``.

    Over the tasks that were judged on both, with the same kind of evidence, so that a platform with another set of
    tasks is neither favoured nor punished. Negative where accuracy is gained; NaN where nothing is solved on the
    reference.

    Parameters
    ----------
    cells
        As `metrics.cells` makes them.
    reference
        The platform that the others are held against.

    Returns
    -------
    DataFrame
        ``platform``, ``evidence``, ``tasks`` (matched), ``reference_accuracy``, ``accuracy``, ``drop`` (the difference)
        and ``degradation`` (its share).

    Raises
    ------
    ValueError
        If nothing was judged on the reference.
    """
    checked(cells, _COLUMNS, ("kernel", "platform"))
    told = judged(cells)
    if not (told["platform"] == reference).any():
        raise ValueError(f"nothing was judged on {reference}")
    told = told.assign(solved=passed(told))
    tasks = told.groupby(["platform", "evidence", "task"], sort=False)["solved"].any().reset_index()
    there = tasks[tasks["platform"] == reference].drop(columns="platform")
    pairs = tasks[tasks["platform"] != reference].merge(there, on=["evidence", "task"], suffixes=("", "_reference"))
    rows = []
    for shared, pair in grouped(pairs, ("platform", "evidence")):
        at_reference, here = float(pair["solved_reference"].mean()), float(pair["solved"].mean())
        lost = at_reference - here
        share = lost / at_reference if at_reference else float("nan")
        rows.append((*shared.values(), len(pair), at_reference, here, lost, share))
    columns = ["platform", "evidence", "tasks", "reference_accuracy", "accuracy", "drop", "degradation"]
    return table(rows, columns=columns)
