"""``kab-mc check``: one kernel, in this process's tree and without a run folder; or sources, of which none is run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import click

from kernelarena import report
from kernelarena.cli import findings, guests, options, plan
from kernelarena.cli.interrupts import Interrupts
from kernelarena.cli.lines import Teller, width
from kernelarena.cli.progress import CheckProgress
from kernelarena.cli.streams import ReaderGone, emit
from kernelarena.cluster.cell import Cell, unobtainable
from kernelarena.cluster.tryouts import Tryouts
from kernelarena.cluster.worker import JUDGE, Judge, load
from kernelarena.errors import InfraError, InputError
from kernelarena.platforms.backend import availability
from kernelarena.spec import Evidence, Hidden, Manifest, RunData, Status, Sweep, Verdict
from kernelarena.store import environment, new_id, seeds
from kernelarena.store.run import timestamp

_HELP = """Judge one kernel and print what came of it, at once, and what in its source does not carry over.

The gates are those of a sweep; nothing is written. A kernel that fails is a result: the exit code is 0 unless --strict
asks for 1. It is 3 if something around the kernel kept it from being judged, or no platform could be tried.

With --static any number of files and folders (Triton, CUDA and HIP C++) are looked at for what does not carry over,
by default to every chip whose limits are known, and nothing is built or run.

\b
Examples:
  kab-mc check softmax.py --task softmax
  kab-mc check softmax.py::my_softmax --task softmax --platforms mi300,h100
  kab-mc check kernels/my-softmax/ --strict
  kab-mc check --static kernels/ csrc/softmax.cu --platforms mi300
"""


@click.command(help=_HELP)
@click.argument("files", type=options.WORDS, nargs=-1, required=True, metavar="FILE…")
@options.task
@options.platforms
@options.hidden_seed
@options.no_hidden
@options.evidence
@options.no_cache
@click.option(
    "--strict",
    is_flag=True,
    help="End with exit code 1 if the kernel fails on any of the platforms, or with --static, if anything is found.",
)
@options.extra_folders
@click.option("--static", is_flag=True, help="Look at the sources alone, of any number of files and folders.")
@options.as_json
@click.option("--sarif", is_flag=True, help="With --static: print SARIF 2.1.0, for code hosts and editors.")
def check(files: tuple[str, ...], **given: Any) -> int:
    """Run the command."""
    if given["sarif"] and (given["as_json"] or not given["static"]):
        raise InputError("check: --sarif is a form of the findings of --static; give it with that, and without --json")
    if given["static"]:
        return findings.static(
            files,
            platforms=given["platforms"],
            platforms_dirs=given["platforms_dirs"],
            tasks_dirs=given["tasks_dirs"],
            form="sarif" if given["sarif"] else "json" if given["as_json"] else None,
            strict=given["strict"],
        )
    if len(files) > 1:
        raise InputError(f"check: takes one kernel, not {len(files)}; kab-mc sweep takes many, and so does --static")
    (file,) = files
    config = Sweep(
        platforms=given["platforms"],
        kernels=(file,),
        hidden=Hidden(enabled=not given["no_hidden"], seed=given["hidden_seed"]),
        evidence=given["evidence"] and Evidence(given["evidence"]),
        cache=not given["no_cache"],
    )
    wanted = plan.make(
        config, task=given["task"], platforms_dirs=given["platforms_dirs"], tasks_dirs=given["tasks_dirs"]
    )
    if len(wanted.kernels) > 1:
        raise InputError(f"{file}: holds {len(wanted.kernels)} kernels; check takes one, kab-mc sweep takes many")
    kernel = wanted.kernels[0]
    cells = [Cell(kernel, wanted.tasks[kernel.task], platform) for platform in wanted.platforms.values()]
    seed = seeds.draw() if config.hidden.seed is None else config.hidden.seed
    verdicts = []
    teller = Teller(width())
    found = findings.of_kernel(kernel, list(wanted.platforms.values()))
    portability = [] if given["as_json"] else [*findings.told(found)]
    out = guests.admit()  # once both are made, which ask how wide standard output is
    for verdict in _judge(cells, config, seed):
        verdicts.append(verdict)
        if not given["as_json"]:
            with contextlib.suppress(ReaderGone):  # the exit code still says what came of it
                click.echo("\n".join(teller.lines(verdict)), file=out)
    with contextlib.suppress(ReaderGone):
        if given["as_json"]:
            emit(findings.beside(_report(config, wanted, verdicts, seed), found), out)
        else:
            click.echo("\n".join([*portability, "", *teller.footer(verdicts), *_again(verdicts, seed)]), file=out)
    statuses = {verdict.status for verdict in verdicts}
    if not statuses & {Status.PASS, Status.FAIL}:
        where = "on this platform" if len(cells) == 1 else "on any of the platforms"
        raise InfraError(f"{kernel.id} could not be judged {where}; kab-mc platforms list says what is missing")
    if Status.INFRA in statuses:
        return InfraError.exit_code
    return int(given["strict"] and Status.FAIL in statuses)


def _judge(cells: list[Cell], config: Sweep, seed: int) -> Iterator[Verdict]:
    """Judge the cells one after the other; the judge, and torch with it, is loaded only if there is anything to do."""
    progress = CheckProgress(len(cells))
    with contextlib.ExitStack() as stack:
        judge: Judge | None = None
        for cell in cells:
            with progress.at(cell.platform.id):
                verdict = unobtainable(cell, availability(cell.platform).sought(config.evidence), config.require)
                if verdict is None:
                    if judge is None:
                        judge = stack.enter_context(_judge_of(cell, config))
                    verdict = judge.judge(cell.kernel, cell.task, cell.platform, config, seed)
            yield verdict


def _again(verdicts: list[Verdict], seed: int) -> list[str]:
    """Say how to ask the same again, where anything was drawn."""
    return [f"  --hidden-seed {seed} asks the same again"] if any(verdict.trials for verdict in verdicts) else []


@contextlib.contextmanager
def _judge_of(cell: Cell, config: Sweep) -> Iterator[Judge]:
    """Load the judge, and meanwhile try the task's own code elsewhere: it runs in this very process from then on."""
    with Tryouts([cell], config) as tryouts:
        with Interrupts() as interrupts:  # amid an import, one may be swallowed, or leave half a library behind
            judge = load(JUDGE)
        if interrupts():
            raise KeyboardInterrupt
        tryouts.broken()
    with contextlib.closing(judge):
        yield judge


def _report(config: Sweep, wanted: plan.Plan, verdicts: list[Verdict], seed: int) -> str:
    """Return the JSON report of a run that consists of this kernel."""
    manifest = Manifest(
        id=new_id(),
        created=timestamp(),
        finished=timestamp(),
        sweep=config,
        platforms=tuple(wanted.platforms),
        kernels=tuple(kernel.id for kernel in wanted.kernels),
        hidden_seed=seed,
        hidden_seed_sha256=seeds.sha256(seed),
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
