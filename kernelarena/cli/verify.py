"""``kab-mc tasks verify``: whether a task's checker can be trusted, and whether it accepts right kernels every time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from rich.console import Group
from rich.table import Table
from rich.text import Text

from kernelarena.cli import options
from kernelarena.cli.page import console, print_json
from kernelarena.cli.plan import count
from kernelarena.cli.steps import Steps
from kernelarena.errors import InfraError, InputError
from kernelarena.platforms import catalogue
from kernelarena.platforms.backend import availability, backend_for
from kernelarena.report.text import clean
from kernelarena.spec import Evidence, Platform, TaskSource
from kernelarena.spec.catalogue import load_tasks, select
from kernelarena.spec.platform import Budget

if TYPE_CHECKING:
    from kernelarena.judge.task_report import TaskReport
    from kernelarena.judge.user_code import Server

MEMORY = 4 << 30
"""Bytes that a task's own code may use on the host."""
DEVICE_MEMORY = 64 << 30
"""The same where it drives a device, at full size."""
FLOPS_PER_ELEMENT = 244
"""Of a budget given in elements; that of the ``cpu`` platform's own."""

_HELP = """Check that a task's checker can be trusted.

On shapes drawn as for kernels, at every dtype: right answers must be accepted, and wrong ones rejected (zeros, an
input, the previous output, an unwritten tile, rows shifted, 1 % too large, half-precision sums, one term short, …).
The reference must be a deterministic function of all of its inputs, finite on them, and drawn from the seed alone. A
task's own code runs in a process of its own, with a deadline.

With --kernels, the kernels that lie beside the tasks are judged instead, each with N fresh seeds: none may ever fail.

Exit codes: 0 all is well; 1 a task or a kernel does not pass; 2 a task's code cannot be run at all.

\b
Examples:
  kab-mc tasks verify softmax
  kab-mc tasks verify suite:llm --seeds 5
  kab-mc tasks verify --kernels --seeds 20
  kab-mc tasks verify my_op --tasks-dir lab/tasks --platform h200
"""


@click.command(help=_HELP)
@click.argument("names", metavar="[TASK|suite:NAME]…", nargs=-1, type=options.WORDS)
@click.option(
    "--platform",
    "platform_id",
    default="cpu",
    show_default=True,
    type=options.WORDS,
    metavar="ID",
    help="Where: with its budget and dtypes on this host, or at full size on a device that is here.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 10_000),
    default=1,
    show_default="1",
    metavar="N",
    help="How many times everything is drawn.",
)
@click.option("--seed", type=click.IntRange(0, 2**62), default=0, show_default="0", metavar="N", help="The first seed.")
@click.option("--kernels", is_flag=True, help="Judge the kernels beside the tasks, with every seed.")
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=1, show_default="1", metavar="N", help="Judges for --kernels."
)
@click.option(
    "--elements",
    type=click.IntRange(16),
    metavar="N",
    help="Elements of all inputs and outputs of a trial, where the platform is emulated. Default: its budget.",
)
@click.option(
    "--deadline",
    type=click.FloatRange(0, min_open=True),
    default=600.0,
    show_default="600",
    metavar="S",
    help="Seconds that a task's own code may take, for each seed.",
)
@options.extra_folders
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def verify(names: tuple[str, ...], platform_id: str, kernels: bool, as_json: bool, **given: Any) -> int:
    """Run the command."""
    (platform,) = catalogue.resolve([platform_id], catalogue.load(given["platforms_dirs"]))
    chosen = select(names, load_tasks(given["tasks_dirs"]))
    if given["elements"] is not None:
        if platform.budget is None:
            raise InputError(f"--elements: {platform.id} is not emulated, so shapes keep their size there")
        size = given["elements"]
        budget = Budget(elements=size, flops=FLOPS_PER_ELEMENT * size, outer=platform.budget.outer)
        platform = platform.model_copy(update={"budget": budget})
    seeds = range(given["seed"], given["seed"] + given["seeds"])
    if kernels:
        from kernelarena.cli.verify_kernels import verify_kernels

        return verify_kernels(chosen, platform, seeds, jobs=given["jobs"], as_json=as_json)
    reports: list[TaskReport] = []
    broken: dict[str, str] = {}
    with _server(platform) as (server, on_device), Steps("tasks", len(chosen), "trials") as steps:
        for source in chosen:
            with steps.at(source.task.id):
                try:
                    reports.append(
                        _verify(server, source, platform, seeds, given["deadline"], on_device=on_device, steps=steps)
                    )
                except InputError as error:
                    broken[source.task.id] = str(error)
    if as_json:
        found = [{**report.model_dump(mode="json"), "verified": report.verified} for report in reports]
        unfit = {"platform": platform.id, "verified": False}
        print_json([*found, *({"task": task, **unfit, "error": text} for task, text in broken.items())])
    elif reports:
        console().print(_page(reports))
    if broken:
        raise InputError(*broken.values())
    return int(not all(report.verified for report in reports))


@contextlib.contextmanager
def _server(platform: Platform) -> Iterator[tuple[Server, bool]]:
    """Start what runs tasks' own code; also say whether it is to use the platform's device."""
    available = availability(platform)
    on_device = Evidence.MEASURED in available.evidence
    environment = dict(os.environ)
    if on_device:
        backend = backend_for(platform)
        assert backend is not None
        environment = backend.access(backend.present(platform)[0]).within(environment)
    elif Evidence.EMULATED not in available.evidence:
        raise InfraError(f"{platform.title} is not here ({available.why_not}); verify on cpu, or on a host that has it")
    from kernelarena.judge.user_code import Server

    with Server("kernelarena.judge.verifying:run", environment) as server:
        yield server, on_device


def _verify(
    server: Server,
    source: TaskSource,
    platform: Platform,
    seeds: range,
    deadline: float,
    *,
    on_device: bool,
    steps: Steps,
) -> TaskReport:
    """Verify a task; its own code's mistakes are one line."""
    from kernelarena.judge.task_report import TaskReport
    from kernelarena.judge.user_code import Ended

    job = {
        "task": source.model_dump(mode="json"),
        "platform": platform.model_dump(mode="json"),
        "seeds": len(seeds),
        "seed": seeds.start,
        "on_device": on_device,
    }
    memory = DEVICE_MEMORY if on_device else MEMORY
    report, unusable = None, ""
    try:
        for message in server.run(job, seconds=deadline * len(seeds), memory=memory):
            if "unusable" in message:
                unusable = message["unusable"]
            elif "report" in message:
                report = TaskReport.model_validate(message["report"])
            else:
                steps.part(message["done"], message["total"])
    except Ended as ended:
        raise ended.blame(source) from None
    if report is None:
        raise InputError(unusable)
    return report


def _page(reports: list[TaskReport]) -> Group:
    """One line for each task and dtype, and every problem in words below."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("task", no_wrap=True, style="bold")
    table.add_column("dtype", no_wrap=True)
    for heading in ("trials", "wrong", "rejected", "vacuous"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for report in reports:
        whole = any(problem.dtype is None for problem in report.problems)
        for position, found in enumerate(report.dtypes):
            sound = not whole and not any(problem.dtype == found.dtype for problem in report.problems)
            numbers = (found.trials, *(found.total(name) for name in ("tried", "rejected", "vacuous")))
            table.add_row(
                Text("" if position else clean(report.task)),
                Text(found.dtype),
                *(Text(str(number)) for number in numbers),
                Text("sound", style="green") if sound else Text("not sound", style="bold red"),
            )
    lines: list[Any] = [table, ""]
    for report in reports:
        for problem in report.problems:
            name = f"{report.task} {problem.dtype}" if problem.dtype else report.task
            lines += [Text(f"{clean(name)}: {clean(problem.text)}"), ""]
    verified = sum(report.verified for report in reports)
    ways = len(reports[0].dtypes[0].controls)
    legend = (
        f"{verified} of {count(len(reports), 'task')} sound. wrong: answers made wrong in {ways} ways; vacuous: as "
    )
    lines.append(Text(f"{legend}good as an honest answer on that trial", style="dim"))
    return Group(*lines)
