"""Judging what a run has not judged yet. The one place where the cluster and the store meet."""

from __future__ import annotations

import contextlib
import importlib
import io
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelarena.cli.plan import count, describe
from kernelarena.cli.progress import SweepProgress
from kernelarena.cluster.cell import Cell, ordered, unobtainable
from kernelarena.cluster.worker import JUDGE
from kernelarena.errors import InfraError, InputError
from kernelarena.platforms.backend import availability
from kernelarena.store import Run

if TYPE_CHECKING:
    from kernelarena.cluster.schedule import Use


@dataclass(frozen=True)
class Options:
    """What may differ from one continuation of a run to the next."""

    ray_address: str | None = None
    workers: int | None = None
    """None: what the run's configuration says."""
    factory: str = JUDGE


def execute(
    run: Run,
    options: Options,
    *,
    say: Callable[[str], None],
    stopped: Callable[[], bool] = lambda: False,
    ready: Callable[[], None] = lambda: None,
) -> bool:
    """Judge every cell of ``run`` that has no final verdict, and store each verdict the moment it arrives.

    Parameters
    ----------
    run
        Open for writing.
    options
        Where and with how many workers.
    say
        Takes lines for the user.
    stopped
        Asked regularly; once true, the work ends early.
    ready
        Called when the workers' machinery is up.

    Returns
    -------
    bool
        Whether every cell has a verdict now. The run is then marked as finished.

    Raises
    ------
    InputError
        If the hidden seed of the run is not kept here, or a task's own code does not work.
    InfraError
        If Ray does not start, or a verdict cannot be stored.
    """
    data = run.data()
    config = data.manifest.sweep
    done = run.done()
    left = [
        Cell(kernel, data.tasks[kernel.task], data.platforms[platform_id])
        for kernel_id, platform_id in run.cells()
        if (kernel_id, platform_id) not in done
        for kernel in [data.kernels[kernel_id]]
    ]
    available = {key: availability(platform).sought(config.evidence) for key, platform in data.platforms.items()}
    for line in describe(len(data.kernels), available, config.require):
        say(line)
    if done:
        say(f"{count(len(done), 'cell')} done already")
    seed = run.hidden_seed()
    if seed is None:  # every run draws one
        raise InputError(f"{run.path}: its manifest names no hidden seed, so it cannot be continued")

    judged = []
    for cell in left:
        verdict = unobtainable(cell, available[cell.platform.id], config.require)
        if verdict is None:
            judged.append(cell)
        else:
            run.record(verdict)
    if judged:
        _load_ray()
        from kernelarena.cluster.placement import announcement
        from kernelarena.cluster.schedule import sweep
        from kernelarena.cluster.session import session
        from kernelarena.cluster.tryouts import Tryouts

        say("starting Ray …" if options.ray_address is None else f"joining Ray at {options.ray_address} …")
        here = announcement({cell.platform.id: cell.platform for cell in judged}.values())
        with (
            Tryouts(judged, config) as tryouts,
            session(
                options.ray_address,
                workers=options.workers or config.workers,
                devices=here,
                per_device=config.per_device,
            ) as ray,
        ):
            broken = tryouts.broken()
            ready()
            with SweepProgress(cell.key for cell in judged) as progress:
                for verdict in sweep(
                    ordered(judged, available),
                    ray,
                    config=config,
                    hidden_seed=seed,
                    available=available,
                    broken=broken,
                    stopped=stopped,
                    factory=options.factory,
                    used=lambda use: say(_used(use)),
                ):
                    run.record(verdict)
                    progress.advance(verdict)
    complete = len(run.statuses()) == len(run.cells())
    if complete and (left or run.manifest.finished is None):
        run.finish()
    return complete


def _used(use: Use) -> str:
    """Say how well a device was used: ``mi300: 84 kernels in 190 s, 2.3 s each; it waited 1 % of the time``."""
    name = use.resource.partition(":")[2]
    each = use.seconds / max(1, use.cells)
    what = f"{count(use.cells, 'kernel')} in {use.seconds:.0f} s, {each:.1f} s each"
    return f"{name}: {what}; the device had none for {use.idle:.0%} of the time"


def _load_ray() -> None:
    """Import Ray, which takes its time and therefore waits until it is needed.

    It imports what it finds of vendors' libraries, and one of those that is installed on a host without its driver may
    raise anything, or print to standard output.
    """
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            importlib.import_module("ray")
    except Exception as error:  # see above: whatever it is, the user's installation is what to look at
        culprit = traceback.extract_tb(error.__traceback__)[-1].filename
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InfraError(f"Ray cannot be imported: {reason} ({culprit}); repair or remove that package") from error
