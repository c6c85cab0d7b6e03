"""Options that the commands of ``kab-mc platforms`` share."""

from __future__ import annotations

import click

from kernelarena.cli.options import PATH

folders = click.option(
    "--platforms-dir",
    "folders",
    multiple=True,
    type=PATH,
    help="A folder of platform files to read as well; may be repeated.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
