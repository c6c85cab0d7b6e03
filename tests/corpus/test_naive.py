"""Cheats are real attempts: a judge that runs kernel, reference and clock in one process believes them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.corpus.runner import Where, specimens

HARMLESS = ("caching", "phases", "streams-and-deferral", "aliasing", "framework")
"""Groups that leave processes, files and the machine alone, so that they can be let loose here."""
EXEMPT = {
    "framework/losses-prepared": "needs class indices; this one draws all inputs alike",
    "framework/numpy-in-the-kernel": "needs the interpreter as it is; this one's holds device code to the compiler",
    "framework/numpy-by-an-operator": "needs the interpreter as it is; this one's holds device code to the compiler",
    "framework/python-in-the-kernel": "needs the interpreter as it is; this one's holds device code to the compiler",
    "streams-and-deferral/child-process": "needs outputs in shared memory, which the judge has and this one has not",
    "aliasing/memory-of-its-own-answer": "needs an allocator that hands out what was freed last; the host's may not",
    "aliasing/memory-of-the-reference": "needs an allocator that hands out what was freed last; the host's may not",
}
CHEATS = [
    one.name
    for one in specimens()
    if one.name.split("/")[0] in HARMLESS and Where.CPU in one.about.platforms and one.name not in EXEMPT
]


@pytest.fixture(scope="module")
def believed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bool]:
    pytest.importorskip("triton")
    scratch = tmp_path_factory.mktemp("naive")
    done = subprocess.run(
        [sys.executable, "-m", "tests.corpus.naive", str(scratch), *HARMLESS],
        env={**os.environ, "TRITON_INTERPRET": "1"}, cwd=Path(__file__).parents[2],
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"cheat"')]
    return {one["cheat"]: one["believed"] for one in found}


@pytest.mark.parametrize("name", CHEATS)
def test_a_naive_judge_believes_a_cheat(name: str, believed: Mapping[str, bool]) -> None:
    assert believed[name]


def test_exemptions_are_of_cheats_that_exist(believed: Mapping[str, bool]) -> None:
    assert set(EXEMPT) <= set(believed)
