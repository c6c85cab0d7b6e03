"""``kab-mc sweep``: judge kernels on platforms and write a report."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from kernelarena.cli import github, options, plan
from kernelarena.cli.execute import Options, execute
from kernelarena.cli.interrupts import Interrupts
from kernelarena.cli.streams import ReaderGone, emit, say
from kernelarena.errors import InfraError, InputError
from kernelarena.spec import Baseline, Evidence, Manifest, Status, Sweep
from kernelarena.spec.places import Place, look
from kernelarena.spec.sweep import MOST_PER_DEVICE
from kernelarena.store import Run, environment, new_id, seeds
from kernelarena.store.run import timestamp

REPORTS = Path("reports")
_SEED = "--hidden-seed"
_WITH_RESUME = frozenset({"resume", "ray_address", "jobs", "as_json"})
"""What may be given together with ``--resume``; the rest was settled when the run began."""

_HELP = """Judge kernels on platforms, on every shape, and write a report.

Kernels are folders with a kernel.yaml, folders of many, JSON Lines files, or single source files with --task. Each
goes through the gates on each platform, as far as the evidence for that platform reaches here. Results are stored as
they arrive: Ctrl-C keeps them, and --resume continues. In a workflow on GitHub, the step's summary is written as well.

\b
Examples:
  kab-mc sweep
  kab-mc sweep --platforms mi300,h100 --kernels generated.jsonl --kernels mine/
  kab-mc sweep --config ci-gate --kernels kernels/ --json > report.json
  kab-mc sweep --platforms h200 --baseline compile
  kab-mc sweep --resume reports/20261130-142530-ab12
"""


@click.command(help=_HELP)
@options.platforms
@click.option(
    "--kernels",
    multiple=True,
    type=options.WORDS,
    metavar="PATH",
    help="A kernel, or a folder or file of many; repeatable. Default: the shipped ones.",
)
@click.argument("more_kernels", nargs=-1, metavar="[PATH]...", type=options.WORDS)
@click.option(
    "--tasks",
    multiple=True,
    type=options.WORDS,
    metavar="GLOB",
    help="Only kernels of these tasks: ids, globs or suite:NAME.",
)
@options.task
@click.option(
    "--config",
    type=options.WORDS,
    metavar="FILE",
    help="A sweep configuration, or the name of a shipped one (quickstart, two-vendor-lab, ci-gate).",
)
@click.option("--out", type=options.PATH, metavar="DIR", help="The run folder to create. Default: reports/<run-id>.")
@click.option("--resume", type=options.PATH, metavar="RUN", help="Continue a run; nothing is done twice.")
@options.hidden_seed
@options.no_hidden
@options.evidence
@click.option(
    "--require",
    type=click.Choice([evidence.value for evidence in Evidence]),
    help="Cells that cannot have this evidence are infrastructure failures (exit code 3).",
)
@click.option(
    "--baseline",
    type=click.Choice([baseline.value for baseline in Baseline]),
    help="What kernels are timed beside on a device: PyTorch eager (the default), torch.compile, the task's shipped "
    "kernel, or the original that a kernel.yaml names.",
)
@click.option("--ray-address", type=options.WORDS, metavar="ADDR", help="Join a Ray cluster instead of starting one.")
@click.option("--jobs", type=click.IntRange(1, 1024), metavar="N", help="Cells judged at once. Default: one per core.")
@click.option(
    "--per-device",
    type=click.IntRange(1, MOST_PER_DEVICE),
    metavar="N",
    help="Kernels judged side by side on each device; whoever is timed is alone there. Default: 1.",
)
@options.no_cache
@click.option("--keep-going", is_flag=True, help="Leave out kernels that cannot be read instead of stopping.")
@options.extra_folders
@options.as_json
def sweep(more_kernels: Sequence[str], **given: Any) -> int:
    """Run the command."""
    given["kernels"] = (*given["kernels"], *more_kernels)
    run = _begin(given) if given["resume"] is None else _reopen(given["resume"])
    where = Options(ray_address=given["ray_address"], workers=given["jobs"])
    with run, Interrupts() as interrupts:
        try:
            complete = execute(run, where, say=say, stopped=interrupts, ready=interrupts.install)
        except InfraError as error:
            raise InfraError(f"{error}; to continue: {_resume(run)}") from error
        if not complete:
            left = len(run.cells()) - len(run.statuses())
            say(f"interrupted with {left} of {len(run.cells())} cells left; to continue: {_resume(run)}")
            say(f"to see what there is: kab-mc report {shlex.quote(str(run.path))}")
            return InfraError.exit_code
        _publish(run, as_json=given["as_json"])
        return _exit_code(run)


def _begin(given: Mapping[str, Any]) -> Run:
    """Create the run that the options describe."""
    config = _configuration(given)
    wanted = plan.make(
        config, task=given["task"], platforms_dirs=given["platforms_dirs"], tasks_dirs=given["tasks_dirs"]
    )
    for line in wanted.left_out:
        say(f"left out: {line}")
    for line in wanted.remarks:
        say(f"note: {line}")
    run_id = new_id()
    manifest = Manifest(
        id=run_id,
        created=timestamp(),
        command=_command(sys.argv),
        sweep=config,
        platforms=tuple(wanted.platforms),
        kernels=tuple(kernel.id for kernel in wanted.kernels),
        environment=environment(),
        left_out=tuple(wanted.left_out),
    )
    seed = seeds.draw() if config.hidden.seed is None else config.hidden.seed
    path = given["out"] or REPORTS / run_id
    return Run.create(path, manifest, wanted.platforms, wanted.tasks, wanted.kernels, hidden_seed=seed)


def _reopen(path: Path) -> Run:
    """Open the run to continue; a bare id is looked for where runs are by default."""
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name not in _WITH_RESUME:
            name = parameter.opts[0] if isinstance(parameter, click.Option) else "PATH"
            raise InputError(f"--resume continues a run as it was begun, so {name} cannot be given with it")
    if look(path) is Place.NOTHING and len(path.parts) == 1 and (REPORTS / path).is_dir():
        path = REPORTS / path
    run = Run.open(path, writable=True)
    if run.done() == set(run.cells()):
        say(f"{run.path}: every cell is done already; only the report is written again")
    return run


def _configuration(given: Mapping[str, Any]) -> Sweep:
    """Return what the configuration file says, overridden by what the command line says."""
    config = Sweep() if given["config"] is None else plan.read_config(given["config"])
    hidden: dict[str, Any] = {}
    if given["no_hidden"]:
        hidden["enabled"] = False
    if given["hidden_seed"] is not None:
        hidden["seed"] = given["hidden_seed"]
    changes: dict[str, Any] = {name: given[name] for name in ("platforms", "kernels", "tasks") if given[name]}
    if given["baseline"] is not None:
        changes["timing"] = config.timing.model_copy(update={"baseline": Baseline(given["baseline"])})
    for name in ("evidence", "require"):
        if given[name] is not None:
            changes[name] = Evidence(given[name])
    if given["jobs"] is not None:
        changes["workers"] = given["jobs"]
    if given["per_device"] is not None:
        changes["per_device"] = given["per_device"]
    if given["no_cache"]:
        changes["cache"] = False
    if given["keep_going"]:
        changes["keep_going"] = True
    return config.model_copy(update={**changes, "hidden": config.hidden.model_copy(update=hidden)})


def _command(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the command as typed, but for the seed: the manifest is readable while the run goes on."""
    words = [Path(arguments[0]).name, *arguments[1:]]
    for index, word in enumerate(words):
        name, separator, _ = word.partition("=")
        if name == _SEED and separator:
            words[index] = f"{_SEED}=…"
        elif index and words[index - 1] == _SEED:
            words[index] = "…"
    return tuple(words)


def _publish(run: Run, *, as_json: bool) -> None:
    """Write the reports and show the result."""
    from rich.console import Console

    from kernelarena import report
    from kernelarena.report import terminal

    data = run.data(condense=True)
    written = report.write(data, run.path)
    github.tell(data)
    try:
        with contextlib.suppress(ReaderGone):  # the exit code still says how the run went
            if as_json:
                emit(written["json"].read_text(encoding="utf-8"))
            else:
                Console().print(terminal.summary(data))
                sys.stdout.flush()
    finally:
        say(f"report: {written['html']}")


def _exit_code(run: Run) -> int:
    """Return 3 where infrastructure kept cells from being judged, and say so; a kernel that fails is a result."""
    statuses = Counter(run.statuses().values())
    if lost := statuses[Status.INFRA]:
        say(f"{lost} of {statuses.total()} cells could not be judged; to try them again: {_resume(run)}")
        return InfraError.exit_code
    if not statuses[Status.PASS] + statuses[Status.FAIL]:
        say("no cell could be judged on any of the platforms; kab-mc platforms list says what is missing")
        return InfraError.exit_code
    return 0


def _resume(run: Run) -> str:
    return f"kab-mc sweep --resume {shlex.quote(str(run.path))}"
