"""The kernels of ``examples/generated``: what is expected of them is complete, and the judge meets it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kernelarena.judge import Judge
from kernelarena.platforms import catalogue
from kernelarena.platforms.toolchains import triton
from kernelarena.spec import Deadlines, Evidence, Gate, Kernel, Reason, ReasonGroup, Status, Sweep, Verdict
from kernelarena.spec.catalogue import load_tasks
from kernelarena.spec.kernels import load_kernels

FOLDER = Path(__file__).parents[2] / "examples" / "generated"
PLATFORMS = ("cpu", "h100", "mi300")
SEED = 2026
TASKS = load_tasks()
KERNELS = load_kernels([FOLDER], tasks=TASKS)[0]
ENDLESS = {Reason.TIMEOUT, Reason.COMPILE_TIMEOUT}


def manifest(kernel: Kernel) -> dict[str, Any]:
    """Return what the author wrote: ``kernel.yaml``, or the line that the kernel came from."""
    path, _, line = kernel.origin.partition(".jsonl:")
    if line:
        written: dict[str, Any] = json.loads(Path(f"{path}.jsonl").read_text("utf-8").splitlines()[int(line) - 1])
    else:
        written = yaml.safe_load((Path(path) / "kernel.yaml").read_text("utf-8"))
    return written


def reasons(expected: dict[str, Any]) -> list[Reason]:
    """Return the reasons that fulfil an expectation: several where it is up to the draw which one shows first."""
    given = expected.get("reason", [])
    return [Reason(word) for word in ([given] if isinstance(given, str) else given)]


EXPECTED = {kernel.id: manifest(kernel)["expect"] for kernel in KERNELS}
HONEST = [
    name for name, by_platform in EXPECTED.items() if not any(e["status"] == "fail" for e in by_platform.values())
]
DOZEN = {
    "add", "attention", "bmm", "cross_entropy", "cumsum", "fp8_quantise_rows", "gelu_tanh_and_mul", "layer_norm",
    "matmul", "rms_norm_residual", "rotary_embedding", "softmax",
}  # fmt: skip
"""The tasks that there are examples for: those of the quickstart."""
IN_EMULATION = {Reason.UNINITIALISED_READ, Reason.DATA_RACE, Reason.DIVERGENT_BARRIER, Reason.MISSING_WAIT}
"""Reasons that only an emulator of a chip gives; its own tests earn them."""
BY_VERSION = {"matmul-block-pointers": (3, 9)}
"""Kernels whose verdicts hold from a version of Triton on."""


def test_there_are_enough_in_both_forms_for_every_task() -> None:
    assert len(KERNELS) >= 40
    assert len(HONEST) >= 15
    assert {kernel.task for kernel in KERNELS} == DOZEN
    in_lines = [kernel for kernel in KERNELS if ".jsonl:" in kernel.origin]
    assert 15 <= len(in_lines) <= len(KERNELS) - 15
    with_id = [kernel for kernel in in_lines if "id" in manifest(kernel)]
    assert 0 < len(with_id) < len(in_lines)


def test_every_task_has_an_honest_kernel() -> None:
    assert {kernel.task for kernel in KERNELS if kernel.id in HONEST} == DOZEN


@pytest.mark.parametrize("group", [ReasonGroup.COMPILE, ReasonGroup.RUN, ReasonGroup.CORRECTNESS])
def test_every_reason_is_earned(group: ReasonGroup) -> None:
    sure = [found for by_platform in EXPECTED.values() for e in by_platform.values() if len(found := reasons(e)) == 1]
    assert {reason for reason in Reason if reason.group is group} - IN_EMULATION <= {reason for (reason,) in sure}


def test_the_hidden_gate_is_what_some_fail() -> None:
    assert [name for name, by_platform in EXPECTED.items() if by_platform["cpu"].get("gate") == Gate.HIDDEN]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.id)
def test_an_expectation_is_well_formed(kernel: Kernel) -> None:
    by_platform = EXPECTED[kernel.id]
    assert set(by_platform) == set(PLATFORMS)
    for expected in by_platform.values():
        failing = Status(expected["status"]) is Status.FAIL
        assert set(expected) == ({"status", "gate", "reason"} if failing else {"status"})
        assert bool(reasons(expected)) == failing
        if failing:
            Gate(expected["gate"])
    provenance = kernel.provenance
    assert provenance.agent
    assert provenance.model
    assert provenance.note
    assert provenance.tokens.output
    assert provenance.iterations


def test_the_readme_names_the_cause_of_every_fault() -> None:
    table = (FOLDER / "README.md").read_text("utf-8")
    missing = [kernel.id for kernel in KERNELS if f"`{kernel.id}`" not in table]
    assert not missing


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as judge:
        yield judge


CELLS = [(kernel, platform) for platform in PLATFORMS for kernel in KERNELS]


@pytest.mark.parametrize(("kernel", "name"), CELLS, ids=[f"{platform}-{kernel.id}" for kernel, platform in CELLS])
def test_the_judge_finds_what_is_expected(kernel: Kernel, name: str, judge: Judge) -> None:
    expected = EXPECTED[kernel.id][name]
    # What never ends need not be waited for as long as what is merely slow on a busy machine.
    endless = not ENDLESS.isdisjoint(reasons(expected))
    deadlines = Deadlines(compile=6, call=12) if endless else Deadlines(compile=240, call=120)
    if triton_version() < BY_VERSION.get(kernel.id, (0, 0)):
        pytest.skip("expected of a later version of Triton")
    evidence = Evidence.EMULATED if name == "cpu" else Evidence.COMPILED
    sweep = Sweep(deadlines=deadlines, cache=not endless, evidence=evidence)
    verdict = judge.judge(kernel, TASKS[kernel.task], catalogue.load()[name], sweep, SEED)
    if verdict.status is not Status.SKIPPED:
        assert verdict.evidence is evidence
    assert fulfils(verdict, expected), f"{verdict.status} {verdict.gate} {verdict.reason}: {verdict.detail}"


def triton_version() -> tuple[int, int]:
    major, minor = (triton.version() or "0.0").split(".")[:2]
    return int(major), int(minor)


def fulfils(verdict: Verdict, expected: dict[str, Any]) -> bool:
    """Return whether a verdict is the expected one."""
    if verdict.status is not Status(expected["status"]):
        return False
    return verdict.status is not Status.FAIL or (
        verdict.gate == expected["gate"] and verdict.reason in reasons(expected)
    )
