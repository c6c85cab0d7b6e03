"""An NVIDIA host: the genuine ``pynvml`` over a stub of its library, torch from a stand-in."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest

from kernelarena.platforms.asking import Question, environment
from kernelarena.platforms.catalogue import load
from kernelarena.platforms.doctor.worker import WORKER
from tests.platforms.doctor.hosts import A6000, H200, found
from tests.processes import gone


def test_the_chip_is_measurable(nvml, host, made) -> None:
    host(nvml, NVML_STUB="h200", NVML_STUB_FREE="1")
    diagnosis = made("cuda", H200).doctor("h200")
    assert found(diagnosis["runtimes"][0], "driver")["found"] == "nvidia 580.65.06"
    assert found(diagnosis["runtimes"][0], "torch")["found"] == "2.9.0, built for cuda 13.0"
    (device,) = diagnosis["devices"]
    wrong = [finding for finding in device["findings"] if finding["state"] != "ok" and finding["check"] != "nodes"]
    assert [finding["check"] for finding in wrong] == ["sharing"], wrong
    assert diagnosis["platforms"][0]["evidence"] == ["measured", "compiled"]


def test_settings_that_one_should_know_of(nvml, host, made) -> None:
    host(nvml, NVML_STUB="h200", NVML_STUB_MIG="1", NVML_STUB_USED="1")
    other = {**H200[0], "pci_bus_id": 0x4D, "uuid": "00000000-1111-2222-3333-444444444444"}
    (device,) = made("cuda", [other]).doctor("h200", FAKE_FREE="0.5")["devices"]
    for check in ("memory", "clocks", "persistence", "partition", "processes"):
        assert found(device, check)["state"] == "warning"
        assert found(device, check)["remedy"]
    assert found(device, "partition")["found"].startswith("MIG")


def test_a_device_that_hangs_is_given_up(made) -> None:
    there = made("cuda", H200)
    variables = {"PYTHONPATH": str(there.folder), "FAKE_DEVICES": "[{}]", "FAKE_WEDGED": "1"}
    order = {"about": "device", "backend": "cuda"}
    with Question(WORKER, order, 0.5, {**environment(), **variables}) as question:
        assert question.answer() == {"problem": "no answer within 0.5 s"}
        process = question._process
    assert process.poll() is not None


def test_who_does_not_want_to_wait_leaves_nothing_behind(made) -> None:
    process = made("cuda", H200).start("platforms", "doctor", "h200", FAKE_WEDGED="1")
    deadline = time.monotonic() + 60
    while not (workers := below(process.pid, WORKER, "device")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert workers
    process.terminate()
    said, complained = process.communicate(timeout=30)
    assert (said, complained.strip(), process.returncode) == ("", "kab-mc: interrupted", 3)
    assert all(map(gone, workers))


def below(parent: int, *words: str) -> list[int]:
    """Return the processes that one has started and in whose command line all of some words are."""
    found = []
    for pid in map(int, Path(f"/proc/{parent}/task/{parent}/children").read_text().split()):
        with contextlib.suppress(OSError):
            if all(word in Path(f"/proc/{pid}/cmdline").read_text() for word in words):
                found.append(pid)
    return found


def test_a_stranger_is_described_and_known_from_then_on(made, tmp_path: Path) -> None:
    there = made("cuda", [*H200, *A6000])
    done = there.kab_mc("platforms", "describe", "-o", "chips/rtx-a6000.yaml")
    assert (done.returncode, done.stderr) == (
        2,
        "kab-mc: chips/rtx-a6000.yaml: cannot be written: No such file or directory\n",
    )
    (there.folder / "chips").mkdir()
    done = there.kab_mc("platforms", "describe", "-o", "chips/rtx-a6000.yaml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    platform = load([there.folder / "chips"])["rtx-a6000"]
    assert platform.detect.names == ("RTX A6000",)
    diagnosis = there.doctor("rtx-a6000", "--platforms-dir", "chips")
    assert diagnosis["platforms"][0]["evidence"] == ["measured", "compiled"]
    assert found(diagnosis["devices"][1], "figures")["state"] == "ok"
    listed = there.kab_mc("platforms", "list", "--platforms-dir", "chips")
    assert "no platform file describes" not in listed.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--device", "0"), 2, "device 0 (NVIDIA H200) is h200 already: kab-mc platforms show h200"),
        (("--device", "7"), 2, "there is no such device that no platform file describes: --backend cuda --device 0"),
        ((), 2, "several devices could be meant: --backend cuda --device 1 is NVIDIA RTX A6000; --backend cuda --dev"),
        (("--backend", "rocm", "--device", "1"), 2, "there is no such device"),
    ],
)
def test_which_device_is_meant(made, arguments, code, words) -> None:
    done = made("cuda", [*H200, *A6000, *A6000]).kab_mc("platforms", "describe", *arguments)
    assert done.returncode == code
    assert done.stderr.startswith(f"kab-mc: {words}")
    assert done.stderr.count("\n") == 1


def test_the_list_in_json_names_strangers_beside_it(made) -> None:
    done = made("cuda", A6000).kab_mc("platforms", "list", "--json")
    assert done.stdout.startswith("[")
    assert done.stderr == "NVIDIA RTX A6000 (sm_86): kab-mc platforms describe --backend cuda --device 0\n"
