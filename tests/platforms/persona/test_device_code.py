"""The interpreter runs what the compiler would take, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")


@pytest.fixture(scope="module")
def found() -> dict[str, str | None]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.platforms.persona.device_code"], env={**os.environ, "TRITON_INTERPRET": "1"},
        cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"name"')]
    return {line["name"]: line["why"] for line in lines}


def test_device_code_is_run(found: dict[str, str | None]) -> None:
    honest = {name: why for name, why in found.items() if not name.startswith("refused_")}
    assert len(honest) >= 10
    assert set(honest.values()) == {None}, honest


def test_host_code_is_not(found: dict[str, str | None]) -> None:
    refused = [name for name in found if name.startswith("refused_")]
    assert len(refused) >= 45
    assert [name for name in refused if found[name] is None] == []


def test_the_words_are_the_compilers(found: dict[str, str | None]) -> None:
    assert "Unsupported function referenced: __main__.host" in str(found["refused_argument"])
    assert "Cannot access global variable VALUES" in str(found["refused_list"])
    assert "device_code.py, line " in str(found["refused_list"])
