"""``kab-mc check``: one kernel, in this process's tree and without a run folder."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import click

from kernelarena import report
from kernelarena.cli import options, plan
from kernelarena.cluster.cell import Cell, unobtainable
from kernelarena.cluster.worker import JUDGE, Judge, load
from kernelarena.errors import InfraError, InputError
from kernelarena.platforms.backend import availability
from kernelarena.report import words
from kernelarena.report.text import clean, one_line
from kernelarena.spec import Hidden, Manifest, RunData, Status, Sweep, Verdict
from kernelarena.store import environment, new_id, seeds
from kernelarena.store.run import timestamp

_COLOUR = {Status.PASS: "green", Status.FAIL: "red", Status.SKIPPED: None, Status.INFRA: "yellow"}
_LOG_LINES = 12

_HELP = """Judge one kernel and print what came of it, at once.

The gates are those of a sweep; nothing is written. A kernel that fails is a result: the exit code is 0 unless --strict
asks for 1.

\b
Examples:
  kab-mc check softmax.py --task softmax
  kab-mc check softmax.py::my_softmax --task softmax --platforms mi300,h100
  kab-mc check kernels/my-softmax/ --strict
"""


@click.command(help=_HELP)
@click.argument("file")
@options.task
@options.platforms
@options.hidden_seed
@options.no_hidden
@options.no_cache
@click.option("--strict", is_flag=True, help="End with exit code 1 if the kernel fails on any of the platforms.")
@options.extra_folders
@options.as_json
def check(file: str, **given: Any) -> int:
    """Run the command."""
    config = Sweep(
        platforms=given["platforms"],
        kernels=(file,),
        hidden=Hidden(enabled=not given["no_hidden"], seed=given["hidden_seed"]),
        cache=not given["no_cache"],
    )
    wanted = plan.make(
        config, task=given["task"], platforms_dirs=given["platforms_dirs"], tasks_dirs=given["tasks_dirs"]
    )
    if len(wanted.kernels) > 1:
        raise InputError(f"{file}: holds {len(wanted.kernels)} kernels; check takes one, kab-mc sweep takes many")
    kernel = wanted.kernels[0]
    cells = [Cell(kernel, wanted.tasks[kernel.task], platform) for platform in wanted.platforms.values()]
    verdicts = []
    for verdict in _judge(cells, config):
        verdicts.append(verdict)
        if not given["as_json"]:
            click.echo("\n".join(_lines(verdict)))
    if given["as_json"]:
        click.echo(_report(config, wanted, verdicts), nl=False)
    statuses = {verdict.status for verdict in verdicts}
    if Status.INFRA in statuses:
        return InfraError.exit_code
    return int(given["strict"] and Status.FAIL in statuses)


def _judge(cells: list[Cell], config: Sweep) -> Iterator[Verdict]:
    """Judge the cells one after the other; the judge, and torch with it, is loaded only if there is anything to do."""
    seed = seeds.draw() if config.hidden.seed is None else config.hidden.seed
    with contextlib.ExitStack() as stack:
        judge: Judge | None = None
        for cell in cells:
            verdict = unobtainable(cell, availability(cell.platform), config.require)
            if verdict is None:
                if judge is None:
                    judge = load(JUDGE)
                    stack.callback(judge.close)
                verdict = judge.judge(cell.kernel, cell.task, cell.platform, config, seed)
            yield verdict


def _lines(verdict: Verdict) -> Iterator[str]:
    """Put a verdict into a line, and what its reader needs to act on it into a few more."""
    sign = click.style(words.SIGN[verdict.status], fg=_COLOUR[verdict.status], bold=True)
    name, platform = clean(verdict.kernel), clean(verdict.platform)
    if verdict.status is Status.PASS:
        assert verdict.evidence is not None
        yield f"{sign} {platform}: {name} {words.CLAIM[verdict.evidence][0]} {platform} ({_basis(verdict)})"
    else:
        yield f"{sign} {platform}: {verdict.reason} ({_basis(verdict)})"
    if verdict.detail:
        yield f"    {one_line(verdict.detail, limit=2_000)}"
    if verdict.location is not None:
        yield f"    {clean(verdict.location.file)}:{verdict.location.line}: {one_line(verdict.location.text).strip()}"
    for note in verdict.notes:
        yield f"    note: {one_line(note, limit=1_000)}"
    if verdict.status is Status.FAIL:
        for line in clean(verdict.log, keep="end").strip().splitlines()[-_LOG_LINES:]:
            yield click.style(f"    | {line}", dim=True)


def _basis(verdict: Verdict) -> str:
    """Say what a verdict rests on: ``compiled, triton 3.9.0; visible 6/6``."""
    parts = []
    if verdict.evidence is not None:
        parts.append(words.CAVEAT[verdict.evidence])
    if verdict.gate is not None and verdict.status is Status.FAIL:
        parts.append(f"{verdict.gate} gate")
    if verdict.toolchain:
        parts.append(verdict.toolchain)
    for name, tally in (("visible", verdict.visible), ("hidden", verdict.hidden)):
        if tally.total:
            parts.append(f"{name} {tally.passed}/{tally.total}")
    return "; ".join(parts) or words.STATUS[verdict.status]


def _report(config: Sweep, wanted: plan.Plan, verdicts: list[Verdict]) -> str:
    """Return the JSON report of a run that consists of this kernel."""
    manifest = Manifest(
        id=new_id(),
        created=timestamp(),
        finished=timestamp(),
        sweep=config,
        platforms=tuple(wanted.platforms),
        kernels=tuple(kernel.id for kernel in wanted.kernels),
        environment=environment(),
    )
    data = RunData(
        manifest=manifest,
        platforms=wanted.platforms,
        tasks=wanted.tasks,
        kernels={kernel.id: kernel for kernel in wanted.kernels},
        verdicts=tuple(verdicts),
    )
    return report.render(data, "json")
