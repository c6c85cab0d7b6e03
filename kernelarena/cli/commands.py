"""The group of commands. A command's module is imported when the command runs, so that ``--help`` is instant."""

from __future__ import annotations

import importlib
from typing import Any, Final

import click

from kernelarena import __version__
from kernelarena.cli.usage import Commands

_COMMANDS: Final = {
    "sweep": ("kernelarena.cli.sweep:sweep", "Judge kernels on platforms and write a report."),
    "check": ("kernelarena.cli.check:check", "Judge one kernel, quickly, through the same gates."),
    "report": ("kernelarena.cli.report:report", "Write the reports of a run again, or print one."),
    "compare": ("kernelarena.cli.compare:compare", "Say what became worse, or better, from one run to another."),
    "trend": ("kernelarena.cli.trend:trend", "Follow kernels through a history of runs."),
    "platforms": (
        "kernelarena.cli.platforms:platforms",
        "The chips that are known, and what can be said of them here.",
    ),
    "tasks": ("kernelarena.cli.tasks:tasks", "The operators that kernels are judged on."),
}
"""Where each command is, and what it is listed as."""


class _LazyGroup(Commands):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:  # which click would take for a reader of ours that went away, and hide
            raise RuntimeError("a pipe to one of our own processes is closed") from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


_HELP = """Does a generated GPU kernel work, and work well, on every chip, and how do we know?

\b
Examples:
  kab-mc sweep                                       the shipped kernels on the quickstart's chips
  kab-mc sweep --platforms mi300,h100 --kernels my/  your kernels
  kab-mc check softmax.py --task softmax             one kernel, quickly
  kab-mc compare BASE NEW --fail-on new-failures     fail a pipeline where kernels got worse
  kab-mc platforms list                              what can be known of each chip here

Exit codes: 0 done; 1 a requested gate failed; 2 the input is wrong; 3 infrastructure kept it from finishing.
A kernel that fails is a result, not an error.
"""


@click.group(
    cls=_LazyGroup,
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def kab_mc() -> None:
    """Hold the commands together."""
