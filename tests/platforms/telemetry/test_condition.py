"""How devices are set up, by the genuine packages over libraries compiled here."""

import pytest

from kernelarena.platforms.cuda import CudaBackend
from kernelarena.platforms.rocm import RocmBackend
from kernelarena.platforms.telemetry import Condition, Occupant
from tests.platforms.telemetry.looking import condition

AMD, WHOLE = "0001:85:00", "0001:e5:00"
NVIDIA, FIRST = "0000:1b:00", "0000:4d:00"
SOMEBODY = (Occupant(4242, 3 << 30),)


def test_plain_data_reads_back():
    for told in (Condition(), Condition(driver="1", clocks="", occupants=SOMEBODY), Condition(occupants=())):
        assert Condition.from_dict(told.to_dict()) == told


def test_a_whole_chip_that_nobody_uses(amd_smi, host):
    host(amd_smi, AMD_STUB="spx")
    assert condition(RocmBackend.telemetry, pci=AMD) == Condition(
        driver="6.14.14", clocks="", partition="", virtual=False, occupants=()
    )


def test_a_partition_is_named_with_its_memorys_mode(amd_smi, host):
    host(amd_smi, AMD_STUB="cpx", AMD_STUB_USED="1")
    found = condition(RocmBackend.telemetry, pci="0001:85:00.5")
    assert (found.partition, found.occupants) == ("CPX/NPS4", SOMEBODY)


def test_a_virtual_function_says_so_and_nothing_of_its_chip(amd_smi, host):
    host(amd_smi, AMD_STUB="vf")
    found = condition(RocmBackend.telemetry, pci=WHOLE)
    assert (found.virtual, found.partition, found.clocks) == (True, None, None)


@pytest.mark.parametrize(("level", "clocks"), [("0", ""), ("5", "stable_peak"), ("8", "determinism"), ("256", None)])
def test_a_performance_level_is_clocks_that_are_set(amd_smi, host, level, clocks):
    host(amd_smi, AMD_STUB="spx", AMD_STUB_LEVEL=level)
    assert condition(RocmBackend.telemetry, pci=AMD).clocks == clocks


def test_an_older_chip_has_no_modes(amd_smi, host):
    host(amd_smi, AMD_STUB="mi250")
    assert condition(RocmBackend.telemetry, pci=WHOLE).partition is None


def test_nvml_tells_modes_and_processes(nvml, host):
    host(nvml, NVML_STUB="h200", NVML_STUB_FREE="1", NVML_STUB_USED="1")
    assert condition(CudaBackend.telemetry, pci=NVIDIA) == Condition(
        driver="580.65.06", clocks="", persistent=True, partition="", virtual=False, occupants=SOMEBODY
    )
    assert condition(CudaBackend.telemetry, pci=FIRST).persistent is False


def test_clocks_that_somebody_set_show_by_the_reason_that_holds(nvml, host):
    host(nvml, NVML_STUB="h200")
    found = condition(CudaBackend.telemetry, pci=NVIDIA)
    assert (found.clocks, found.occupants) == ("by somebody", ())


def test_a_sliced_chip_is_a_partitioned_one(nvml, host):
    host(nvml, NVML_STUB="h200", NVML_STUB_MIG="1")
    assert condition(CudaBackend.telemetry, pci=NVIDIA).partition == "MIG"
