"""Writes docs/tasks.md, the list of all shipped tasks, from their declarations: ``python tools/list_tasks.py``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from kernelarena.cli.tasks import SUITES
from kernelarena.spec import Kind, TaskSource, paths
from kernelarena.spec.catalogue import kernels_of, load_tasks

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tasks.md"
_HEAD = """\
# Tasks

<!-- Written by `python tools/list_tasks.py` from the declarations in tasks/; edit those. -->

Every operator that comes with the package, by kind. The kind decides how answers are judged and whether they are timed
([adding-a-task.md](adding-a-task.md#kinds-and-how-they-are-judged)); `kab-mc tasks show ID` tells shapes, work and the
least time on each chip.
"""


def page() -> str:
    """Return the text of the page."""
    shipped = [source for source in load_tasks().values() if paths.shipped("tasks") in Path(source.origin).parents]
    tasks = sorted(shipped, key=lambda source: source.task.id)
    return "\n".join([_HEAD, *_counts(tasks), *(line for kind in Kind for line in _section(kind, tasks))])


def _counts(tasks: list[TaskSource]) -> Iterator[str]:
    suites = list(SUITES)
    yield f"| kind | {' | '.join(suites)} | all |"
    yield "| --- |" + " ---: |" * (len(suites) + 1)
    for kind in [*Kind, None]:
        members = [source.task for source in tasks if kind in (None, source.task.kind)]
        counts = Counter(suite for task in members for suite in task.suites)
        if members:
            cells = " | ".join(str(counts[suite]) for suite in suites)
            yield f"| {kind or 'all'} | {cells} | {len(members)} |"
    yield ""
    yield "; ".join(f"*{name}*: {text}" for name, text in SUITES.items()) + "."
    yield ""


def _section(kind: Kind, tasks: list[TaskSource]) -> Iterator[str]:
    members = [source for source in tasks if source.task.kind is kind]
    if not members:
        return
    yield f"## {kind}\n"
    yield "| task | what it is | known as | dtypes | suites | kernels |"
    yield "| --- | --- | --- | --- | --- | ---: |"
    for source in members:
        task = source.task
        cells = (
            f"`{task.id}`", task.title, f"`{task.source.name}`", ", ".join(task.dtypes), ", ".join(task.suites),
            str(len(kernels_of(source))),
        )  # fmt: skip
        yield "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
