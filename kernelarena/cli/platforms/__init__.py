"""``kab-mc platforms``: which chips are known, what can be found out about each here, and what stands in the way."""

from __future__ import annotations

import click

from kernelarena.cli.platforms.describe import describe
from kernelarena.cli.platforms.doctor import doctor
from kernelarena.cli.platforms.list import list_
from kernelarena.cli.platforms.show import show
from kernelarena.cli.usage import Commands


@click.group(cls=Commands)
def platforms() -> None:
    """List the known chips, show every figure of one, or say what this host lacks.

    \b
    Example:
        kab-mc platforms list
        kab-mc platforms show mi300
        kab-mc platforms doctor mi300
    """  # noqa: D301  (\b is click's, and a raw docstring would lose it)


for command in (list_, show, doctor, describe):
    platforms.add_command(command)
