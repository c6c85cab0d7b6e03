"""The shipped kernels: on awkward shapes in the interpreter, and as sources that favour no chip."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from kernelarena.platforms import catalogue
from kernelarena.spec import paths
from kernelarena.spec.catalogue import kernels_of, shipped_kernels
from kernelarena.spec.kernels import load_kernels
from tests.shard import shard
from tests.tasks.conftest import TASKS
from tests.tasks.interpret import awkward, shapes

KERNELS = {kernel.id: kernel for kernel in load_kernels(shipped_kernels(), tasks=set(TASKS))[0]}


def test_kernels_are_right_on_awkward_shapes(tmp_path: Path) -> None:
    """One test for all, because the process that imports Triton as an interpreter costs seconds."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.tasks.interpret", str(tmp_path)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    trials = [json.loads(line) for line in done.stdout.splitlines()]
    tried = [kernel for kernel in KERNELS.values() if kernel.task in shard(TASKS)]
    for kernel in tried:
        own = [trial for trial in trials if trial["kernel"] == kernel.id]
        assert len(own) >= len(awkward(TASKS[kernel.task].task)) > 2, kernel.id
    wrong = [f"{trial['kernel']} {trial['shape']}: {trial['detail']}" for trial in trials if not trial["passed"]]
    assert not wrong, "\n".join(wrong)


def test_the_awkward_shapes_meet_every_dtype_layout_and_most_distributions() -> None:
    for source in TASKS.values():
        tried = list(shapes(source.task))
        assert {shape.dtype for shape in tried} == set(source.task.dtypes)
        assert {shape.layout for shape in tried} == set(source.task.layouts)
        assert len({shape.distribution for shape in tried}) >= min(3, len(source.task.distributions))


def test_every_task_that_computes_has_a_kernel_and_ids_are_unique() -> None:
    assert {kernel.task for kernel in KERNELS.values()} >= {
        name for name, source in TASKS.items() if source.task.computes
    }
    assert len(KERNELS) == len(shipped_kernels()) == sum(len(kernels_of(source)) for source in TASKS.values())
    assert all(kernel.home in catalogue.load() for kernel in KERNELS.values())


def test_kernels_and_references_name_no_chip_and_no_vendor() -> None:
    known = catalogue.load().values()
    names = {word.lower() for chip in known for word in (chip.id, chip.vendor, chip.arch, *chip.aliases)}
    names = (names | {"cuda", "hip", "rocm", "gfx", "is_hip"}) - {"any", "cpu", "interpreter"}
    for path in paths.shipped("tasks").glob("*/*/**/*.py"):
        words = set(re.findall(r"[a-z0-9_]+", path.read_text(encoding="utf-8").lower()))
        assert not words & names, path
