"""Runs a kernel under a guard in a forked process, as audit hooks cannot be taken off again."""

from __future__ import annotations

import json
import os
import textwrap
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import triton.testing  # noqa: F401  # a guard watches what is loaded

import kernelarena.judge.arena  # noqa: F401
from kernelarena.judge.integrity import Act, Guard, prepare
from kernelarena.protocol.entry import load_entry

_ENTRY = "\n\ndef entry(x):\n    return x\n"
Noticed = Callable[..., list[Act]]


@pytest.fixture(scope="session", autouse=True)
def _prepared() -> None:
    prepare()


@pytest.fixture
def noticed(tmp_path: Path) -> Noticed:
    """Returns the acts of a kernel: those of its import, of a call of its ``entry``, and of another call.

    ``before`` runs before the guard is made, which holds the objects of its that ``held`` names.
    An ``entry`` that does nothing is added where the source has none. What the kernel raises is raised again, unless it
    may fail: most acts are seen whether they succeed or not.
    """

    def run(source: str, *, may_fail: bool = False, before: str = "", held: str = "") -> list[Act]:
        scratch = tmp_path / f"kab-mc-{len(os.listdir(tmp_path))}"
        folder = scratch / "kernel"
        folder.mkdir(parents=True)
        source = textwrap.dedent(source)
        (folder / "kernel.py").write_text(source if "def entry(" in source else source + _ENTRY)
        answer = scratch / "answer.json"
        pid = os.fork()
        if pid == 0:
            write, said = answer.write_text, {}
            try:
                said["acts"] = _watch(folder, scratch, may_fail, before, held)
            except BaseException:
                said["error"] = traceback.format_exc()
            finally:
                write(json.dumps(said))
                os._exit(0)
        os.waitpid(pid, 0)
        said = json.loads(answer.read_text())
        assert "error" not in said, said["error"]
        return [Act.model_validate(act) for act in said["acts"]]

    return run


def _watch(folder: Path, scratch: Path, may_fail: bool, before: str, held: str) -> list[dict[str, object]]:
    torch.set_num_threads(1)  # a thread pool that the parent has started does not exist here
    os.chdir(scratch)
    os.environ.update(HOME=str(scratch), TMPDIR=str(scratch))
    dumps = json.dumps
    names: dict[str, object] = {}
    exec(before, names)
    guard = Guard(folder, scratch)
    guard.hold(*(names[name] for name in held.split()))
    guard.arm()
    try:
        entry = load_entry(folder, "kernel.py", "entry")
        first = guard.acts()
        for _ in range(2):
            entry(torch.ones(4))
            guard.acts()
    except Exception:
        if not may_fail:
            raise
        first = []
    acts = guard.acts()
    json.dumps = dumps  # the kernel may have replaced it
    assert acts[: len(first)] == first
    return acts
