"""Cheats fool the check that they say they fool, where that can be tried without harm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.corpus.runner import Where, specimens

ROOT = Path(__file__).parents[2]
GROUPS = ("clocks", "hunting", "outside", "replaced-names")
"""Those of the other groups go for processes, files and the judge's own socket, which a check of one process lacks."""
EXEMPT = {
    "clocks/synchronise-hollow": "needs a device that is still at work when the call returns",
    "hunting/audit-hook-added": "listens, and gains nothing from a judge that opens no files",
    "hunting/parent-memory-copied": "needs leave to trace another process",
    "hunting/parent-memory-read": "needs leave to read another process",
    "hunting/seed-file-read": "needs a home folder to plant a seed in",
    "outside/datagram-sent": "nobody must hear it",
    "outside/local-service-asked": "nobody must answer it",
    "outside/name-resolved": "nobody must hear it",
    "outside/network-fetched": "nobody must answer it",
}
CHEATS = [
    one.name
    for one in specimens()
    if one.name.split("/")[0] in GROUPS and Where.CPU in one.about.platforms and one.name not in EXEMPT
] + ["forgery-and-killing/modes-switched-off", "forgery-and-killing/observer-wiped"]


@pytest.fixture(scope="module")
def believed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bool]:
    pytest.importorskip("triton")
    done = subprocess.run(
        [sys.executable, "-m", "tests.corpus.credulous", str(tmp_path_factory.mktemp("credulous"))],
        env={**os.environ, "TRITON_INTERPRET": "1"}, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"cheat"')]
    return {one["cheat"]: one["believed"] for one in found}


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_fools_the_check_that_it_names(name: str, believed: Mapping[str, bool]) -> None:
    assert believed[name]


def test_nothing_is_tried_or_exempt_that_does_not_exist(believed: Mapping[str, bool]) -> None:
    names = {one.name for one in specimens()}
    assert names >= {*believed, *EXEMPT}
    assert not believed.keys() & EXEMPT.keys()
