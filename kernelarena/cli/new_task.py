"""``kab-mc tasks new``: the files that a task begins with."""

from __future__ import annotations

import re
from pathlib import Path

import click

from kernelarena.cli.page import console
from kernelarena.errors import InputError, nearest
from kernelarena.spec.base import NAME
from kernelarena.spec.family import SUFFIX, declaration
from kernelarena.spec.places import Place, look
from kernelarena.spec.task_file import TaskFile

_MEMBER = """\
id: {id}
family: {family}
title: {title}
# What differs from {family}.family.yaml follows, key by key: inputs, reference, dtypes, work, …
"""
_ALONE = """\
id: {id}
title: {title}
kind: elementwise    # decides how it is judged, and what reports group it with
source: {{suite: my-suite, name: {id}}}    # where the operator comes from, and what it is called there
signature: "{id}(x: [M, N]) -> y: [M, N]"
inputs: {{x: [M, N]}}
reference: torch.relu(x)    # the right answer; what takes more than an expression goes into reference.py
dtypes: [float32, float16, bfloat16]
dims:
  M: {{min: 1, max: 65536}}
  N: {{min: 1, max: 65536}}
constraints: ["M * N <= 2**28"]
visible:
  - {{M: 1024, N: 1024}}
  - {{M: 4096, N: 11008}}
  - {{M: 127, N: 33}}
production: []    # shapes of real models, each with the model's name in a comment
work: {{flops: "M*N", bytes: "2*M*N*itemsize"}}    # the least that it takes
"""


@click.command("new")
@click.argument("name", metavar="ID")
@click.option("--group", required=True, metavar="NAME", help="The folder of related tasks that it belongs in.")
@click.option("--family", metavar="NAME", help="What it shares its declaration with: GROUP/NAME.family.yaml.")
@click.option(
    "--in", "root", default="tasks", show_default=True, metavar="DIR", type=click.Path(path_type=Path),
    help="The folder of tasks.",
)  # fmt: skip
def new(name: str, group: str, family: str | None, root: Path) -> None:
    """Write a task.yaml to start from: of a family, the lines that say what differs; else one of each key.

    \b
    Example:
        kab-mc tasks new tanh --group pointwise --family unary
        kab-mc tasks new my_op --group mine --in lab/tasks
    """  # noqa: D301
    for what, word in (("ID", name), ("--group", group)):
        if not _is_name(word):
            raise InputError(f"{what}: '{word}' is no name; use letters, digits and _.+-, a letter or digit first")
    folder = root / group / name
    if look(folder) is not Place.NOTHING:
        raise InputError(f"{folder}: is there already; choose another id, or edit what is there")
    if family is not None and look(root / group / f"{family}{SUFFIX}") is not Place.FILE:
        known = [path.name.removesuffix(SUFFIX) for path in (root / group).glob(f"*{SUFFIX}")]
        raise InputError(f"--family: there is no file {root / group / family}{SUFFIX}; {nearest(family, known)}")
    text = (_ALONE if family is None else _MEMBER).format(id=name, family=family, title=name.replace("_", " "))
    path = folder / "task.yaml"
    try:
        folder.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    declaration(path).fit(TaskFile)  # a family may ask its members for more, and then says so at once
    out = console()
    out.print(f"{path}: edit it, then", markup=False, soft_wrap=True)
    out.print(f"  kab-mc tasks verify {name} --tasks-dir {root}", markup=False, soft_wrap=True)


def _is_name(word: str) -> bool:
    return re.match(NAME, word) is not None
