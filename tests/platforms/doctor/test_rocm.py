"""The whole path of an AMD host: the genuine ``amdsmi`` over a stub of its library, torch from a stand-in.

No such host was at hand when this was written: it shows what is made of the answers, not that they are a host's.
"""

from __future__ import annotations

import pytest

from kernelarena.platforms.doctor import Diagnosis
from tests.platforms.doctor.hosts import CPX, MI308X, SPX, VF, found


def states(report: dict) -> dict[str, str]:
    return {finding["check"]: finding["state"] for finding in report["findings"]}


def test_whole_chips_are_measurable_and_nothing_is_amiss(amd_smi, host, made) -> None:
    host(amd_smi, AMD_STUB="spx")
    diagnosis = made("rocm", SPX).doctor("mi300")
    assert diagnosis.pop("schema") == "kernelarena.doctor/1"
    assert Diagnosis.model_validate(diagnosis)
    (runtime,) = diagnosis["runtimes"]
    assert found(runtime, "driver")["found"] == "amdgpu 580.65.06"
    assert found(runtime, "release")["found"].startswith("7.0.2-56")
    assert found(runtime, "torch")["found"] == "2.9.0+rocm7.0, built for hip 7.0.51831"
    assert found(runtime, "management")["state"] == "ok"
    assert [(device["index"], device["platform"], device["pci"]) for device in diagnosis["devices"]] == [
        (0, "mi300", "0001:e5:00"),
        (1, "mi300", "0001:85:00"),
    ]
    for device in diagnosis["devices"]:
        told = states(device)
        assert told.pop("sharing") == "warning"  # there is no driver whose virtual memory could be used
        assert set(told.values()) == {"ok"}, device["findings"]
        assert set(told) == {
            "platform", "works", "memory", "figures", "telemetry", "clocks", "ECC", "partition", "processes",
        }  # fmt: skip
        assert device["pci"] in found(device, "telemetry")["found"]
    (platform,) = diagnosis["platforms"]
    assert (platform["id"], platform["evidence"][0], platform["devices"]) == ("mi300", "measured", [0, 1])


def test_a_partition_is_not_passed_off_as_the_chip(amd_smi, host, made) -> None:
    host(amd_smi, AMD_STUB="cpx", AMD_STUB_USED="1")
    diagnosis = made("rocm", CPX).doctor("mi300")
    assert len(diagnosis["devices"]) == 8
    for part, device in enumerate(diagnosis["devices"]):
        figures = found(device, "figures")
        assert figures["state"] == "warning"
        assert "38 multiprocessors instead of 304, 24 GiB of memory instead of 192" in figures["found"]
        assert found(device, "partition")["found"].startswith("CPX/NPS4")
        assert f"partition {part} of 8" in found(device, "telemetry")["found"]
        assert "4242 holds 3.0 GiB" in found(device, "processes")["found"]


def test_a_virtual_function_says_what_it_lacks(amd_smi, host, made) -> None:
    host(amd_smi, AMD_STUB="vf")
    (device,) = made("rocm", VF).doctor("mi300")["devices"]
    assert device["usable"]
    telemetry = found(device, "telemetry")
    assert telemetry["state"] == "warning"
    assert "null: power_w, energy_j" in telemetry["found"]
    assert found(device, "virtual")["state"] == "warning"


def test_a_device_that_the_management_library_lost_is_still_measurable_without_telemetry(amd_smi, host, made) -> None:
    host(amd_smi, AMD_STUB="vanish", AMD_STUB_FOR="0")
    diagnosis = made("rocm", SPX).doctor("mi300")
    for device in diagnosis["devices"]:
        telemetry = found(device, "telemetry")
        assert telemetry["state"] == "missing"
        assert "answers none of amdsmi's questions" in telemetry["found"]
        assert device["usable"]


def test_a_host_whose_library_and_driver_disagree_says_so(amd_smi, host, made) -> None:
    host(amd_smi, AMD_STUB="none")
    diagnosis = made("rocm", SPX).doctor("mi300")
    telemetry = found(diagnosis["devices"][0], "telemetry")
    assert "is the amdgpu driver loaded?" in telemetry["found"]


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"FAKE_ERROR": "0.5"}, "a sum that is 2097152 came out as 1048576.0"),
        ({"HIP_VISIBLE_DEVICES": "1", "ROCR_VISIBLE_DEVICES": "1"}, "sees no AMD device here"),
    ],
)
def test_a_chip_that_cannot_be_used_is_no_measured_platform(made, variables, said) -> None:
    diagnosis = made("rocm", SPX).doctor("mi300", code=3, **variables)
    (platform,) = diagnosis["platforms"]
    assert "measured" not in platform["evidence"]
    assert said in platform["why_not"]


def test_two_variables_that_hide_devices_are_one_too_many(made) -> None:
    diagnosis = made("rocm", SPX).doctor("mi300", HIP_VISIBLE_DEVICES="0", ROCR_VISIBLE_DEVICES="1,0")
    visibility = found(diagnosis["runtimes"][0], "visibility")
    assert visibility["state"] == "warning"
    assert visibility["found"].startswith("ROCR_VISIBLE_DEVICES='1,0', HIP_VISIBLE_DEVICES='0'")
    assert visibility["remedy"] == "keep one of them: unset HIP_VISIBLE_DEVICES"
    (device,) = diagnosis["devices"]  # the process that opens it is shown the very device, whatever is set here
    assert (device["pci"], device["usable"]) == ("0001:85:00", True)


def test_a_disguise_is_named(made) -> None:
    diagnosis = made("rocm", SPX).doctor("mi300", HSA_OVERRIDE_GFX_VERSION="9.4.2")
    assert found(diagnosis["runtimes"][0], "disguise")["remedy"].startswith("unset HSA_OVERRIDE_GFX_VERSION")


def test_a_build_of_torch_for_another_vendor_is_the_wrong_one(made) -> None:
    there = made("rocm", SPX)
    (there.folder / "torch/version.py").write_text('__version__ = "2.9.0"\nhip = None\ncuda = "13.0"\nxpu = None\n')
    diagnosis = there.doctor("mi300", code=3)
    torch = found(diagnosis["runtimes"][0], "torch")
    assert (torch["state"], torch["found"]) == ("missing", "2.9.0 is built for cuda")
    assert "not a build for AMD GPUs" in diagnosis["platforms"][0]["why_not"]


def test_a_chip_without_a_file_is_named_and_taken_for_no_other(made) -> None:
    there = made("rocm", MI308X)
    diagnosis = there.doctor("mi300", code=3)
    (device,) = diagnosis["devices"]
    assert device["platform"] is None
    assert found(device, "platform")["remedy"] == "kab-mc platforms describe --backend rocm --device 0"
    assert "it has AMD Instinct MI308X" in diagnosis["platforms"][0]["why_not"]
    listed = there.kab_mc("platforms", "list")
    assert "devices that no platform file describes" in listed.stdout
    assert "AMD Instinct MI308X" in listed.stdout


def test_the_page_fits_eighty_columns(amd_smi, host, made) -> None:
    host(amd_smi, AMD_STUB="cpx")
    done = made("rocm", CPX).kab_mc("platforms", "doctor")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "rocm device 7: AMD Instinct MI300X" in done.stdout
