"""The genuine ``amdsmi`` package over a library compiled here; no such device was at hand when this was written."""

import contextlib
import ctypes
from functools import partial
from itertools import pairwise

import pytest

from kernelarena.platforms.rocm import RocmBackend
from kernelarena.platforms.telemetry import Method, Reading, Sampler, TelemetryUnavailable, Throttle, summarise
from kernelarena.platforms.telemetry.amd_smi import ENERGY_STEP
from kernelarena.platforms.telemetry.schema import READING_FIELDS
from tests.platforms.telemetry import watching
from tests.platforms.telemetry.build import compile_library

SECOND = "0001:85:00"
"""The device that comes second in the library's order; torch gives no function."""


watch = partial(watching.watch, RocmBackend.telemetry)


def test_a_whole_chip_answers_everything(amd_smi, host):
    host(amd_smi, AMD_STUB="spx")
    sampler, samples, interval = watch(pci=SECOND)
    facts, reading = sampler.facts, samples[-1].reading
    assert (facts.name, facts.pci, facts.scope) == ("AMD Instinct MI300X", "0001:85:00.0", "device")
    assert (facts.missing, facts.power_limit_w, facts.ecc_enabled) == ({}, 750, True)
    assert (reading.power_w, reading.core_clock_mhz, reading.memory_clock_mhz) == (
        400,
        2080,
        1300,
    )  # mean of eight dies
    assert (reading.temperature_c, reading.memory_temperature_c) == (61, 48)
    assert (reading.utilisation, reading.memory_utilisation, reading.memory_used_bytes) == (0.87, 0.35, 2 << 30)
    assert (reading.throttle, reading.ecc_corrected, reading.ecc_uncorrected) == ((), 3, 0)
    assert [s.at_ns for s in samples] == sorted(s.at_ns for s in samples)
    assert samples[0].at_ns < interval[0] < interval[1] < samples[-1].at_ns
    assert not sampler.lost


@pytest.mark.parametrize(("stub", "pci"), [("spx", SECOND), ("single", "0001:e5:00")])
def test_the_energy_counter_is_read_in_its_true_steps(amd_smi, host, stub, pci):
    """The library gives 15.3 µJ where the firmware counts 2^-16 J: 0.27 % of what has come together since the start."""
    host(amd_smi, AMD_STUB=stub)
    sampler, samples, (start, end) = watch(0.3, pci=pci)
    assert sampler.facts.energy_resolution_j == ENERGY_STEP
    for sample in samples:  # the stand-in's host has been drawing 400 W for as long as its clock counts
        late = sample.took_ns / 2 + 1_000_000
        assert abs(sample.reading.energy_j - 400e-9 * sample.at_ns) <= 400e-9 * late + 1
    energy = summarise(samples, start, end, sampler.facts).energy
    truth = 400 * (end - start) * 1e-9
    assert energy.method is Method.COUNTER
    assert abs(energy.joules - truth) <= energy.uncertainty
    # two readings at either end, each a hundredth of a second or whatever this host made of it
    gaps = sorted(b.at_ns - a.at_ns for a, b in pairwise(samples))
    assert energy.uncertainty <= 400 * 1e-9 * 6 * gaps[-1]


@pytest.mark.parametrize(
    ("counter", "reason"),
    [
        ("ppt_residency_acc", Throttle.POWER_CAP),
        ("socket_thm_residency_acc", Throttle.THERMAL),
        ("hbm_thm_residency_acc", Throttle.MEMORY_THERMAL),
        ("vr_thm_residency_acc", Throttle.REGULATOR_THERMAL),
        ("prochot_residency_acc", Throttle.POWER_BRAKE),
    ],
)
def test_a_residency_counter_that_grows_is_throttling(amd_smi, host, counter, reason):
    host(amd_smi, AMD_STUB="spx", AMD_STUB_THROTTLE=counter)
    sampler, samples, (start, end) = watch(pci=SECOND)
    assert {found for sample in samples for found in sample.reading.throttle} == {reason}
    assert set(summarise(samples, start, end, sampler.facts).throttled) == {reason}


def test_a_partition_is_told_by_its_uuid_and_speaks_for_itself_where_it_can(amd_smi, host):
    host(amd_smi, AMD_STUB="cpx")
    # as torch prints the sixteen characters that HIP puts into the bytes of a UUID
    text = b"c28afe5b6c1a0e03".hex()
    uuid = "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])
    sampler, samples, _ = watch(pci=SECOND, uuid=uuid)
    reading = samples[-1].reading
    assert sampler.facts.pci == "0001:85:00.3"
    assert sampler.facts.scope.startswith("partition 3 of 8; power, energy")
    assert (reading.core_clock_mhz, reading.utilisation, reading.memory_used_bytes) == (2003, 0.13, 4 << 30)
    assert (reading.power_w, reading.temperature_c) == (400, 61)  # the chip's
    assert reading.energy_j is not None
    assert set(sampler.facts.missing) == {"memory_utilisation"}


def test_a_partition_is_told_by_its_function(amd_smi, host):
    host(amd_smi, AMD_STUB="cpx")
    _, samples, _ = watch(pci="0001:85:00.5")
    assert samples[-1].reading.utilisation == 0.15


def test_a_partition_that_nobody_can_tell_gets_no_siblings_figures(amd_smi, host):
    host(amd_smi, AMD_STUB="cpx")
    sampler, samples, _ = watch(pci=SECOND)
    reading = samples[-1].reading
    assert (reading.core_clock_mhz, reading.utilisation, reading.memory_used_bytes) == (None, None, None)
    assert reading.power_w == 400
    assert "does not say which" in sampler.facts.scope
    assert "does not say which" in sampler.facts.missing["memory_used_bytes"]


def test_what_a_virtual_function_lacks_is_none_and_said_once(amd_smi, host, caplog, monkeypatch):
    monkeypatch.setattr("kernelarena.platforms.telemetry.sampler._said", set())
    host(amd_smi, AMD_STUB="vf")
    sampler, samples, (start, end) = watch(pci="0001:e5:00")
    assert samples[-1].reading == Reading(memory_used_bytes=1 << 30)
    assert set(sampler.facts.missing) == set(READING_FIELDS) - {"memory_used_bytes"}
    expected = "Feature not supported (amdsmi_get_gpu_metrics_info, amdsmi_get_power_info)"
    assert sampler.facts.missing["power_w"] == expected
    assert sampler.facts.energy_resolution_j is None
    summary = summarise(samples, start, end, sampler.facts)
    assert (summary.power_w, summary.energy, summary.throttled, summary.ecc_corrected) == (None, None, None, None)
    watch(0.0, pci="0001:e5:00")
    assert [record.message for record in caplog.records if "does not offer" in record.message] == [
        "AMD Instinct MI300X VF (0001:e5:00.0) does not offer: " + ", ".join(sampler.facts.missing)
    ]


def test_an_older_chip_averages_power_and_throttles_without_saying_why(amd_smi, host):
    host(amd_smi, AMD_STUB="mi250", AMD_STUB_THROTTLE="yes")
    _, samples, _ = watch(pci="0001:e5:00")
    reading = samples[-1].reading
    assert (reading.power_w, reading.core_clock_mhz, reading.throttle) == (400, 1700, (Throttle.UNNAMED,))
    host(amd_smi, AMD_STUB="mi250")
    assert watch(pci="0001:e5:00")[1][-1].reading.throttle == ()


def test_without_the_table_every_value_comes_from_a_call_of_its_own(amd_smi, host):
    host(amd_smi, AMD_STUB="single")
    sampler, samples, (start, end) = watch(0.2, pci="0001:e5:00")
    reading = samples[-1].reading
    assert set(sampler.facts.missing) == {"throttle"}
    assert (reading.power_w, reading.core_clock_mhz, reading.memory_clock_mhz) == (400, 2000, 1300)
    assert (reading.temperature_c, reading.memory_temperature_c, reading.utilisation) == (61, 48, 0.1)
    energy = summarise(samples, start, end, sampler.facts).energy
    assert abs(energy.joules - 400 * (end - start) * 1e-9) <= energy.uncertainty


def test_a_device_that_vanishes_ends_the_samples_and_says_so(amd_smi, host):
    host(amd_smi, AMD_STUB="vanish", AMD_STUB_FOR="1000")
    with Sampler.start(RocmBackend.telemetry, pci=SECOND) as sampler:
        samples = watching.until_lost(sampler)
        assert samples[0].reading.power_w == 400
        assert sampler.lost.startswith("no longer answers (amdsmi_get_")
        assert "Error opening file" in sampler.lost
        assert sampler.take() == []


def test_a_driver_that_hangs_does_not_hang_us(amd_smi, host, monkeypatch):
    monkeypatch.setattr("kernelarena.platforms.telemetry.sampler.TIMEOUT", 0.5)
    host(amd_smi, AMD_STUB="hang", AMD_STUB_FOR="1000")
    with Sampler.start(RocmBackend.telemetry, pci=SECOND) as sampler:
        assert watching.until_lost(sampler)
        assert "did not answer" in sampler.lost
        assert sampler.take() == []
        process = sampler._process
    assert process.poll() is not None


@pytest.mark.parametrize(
    ("stub", "pci", "words"),
    [
        ("none", SECOND, "Driver not loaded; is the amdgpu driver loaded?"),
        ("mute", "0001:e5:00", "answers none of amdsmi's questions"),
        ("spx", "0001:99:00", "no device at 0001:99:00 (it has 0001:e5:00.0, 0001:85:00.0)"),
        ("spx", "", "no device at no address"),
    ],
)
def test_why_there_is_none_is_one_line(amd_smi, host, stub, pci, words):
    host(amd_smi, AMD_STUB=stub)
    with pytest.raises(TelemetryUnavailable) as caught:
        Sampler.start(RocmBackend.telemetry, pci=pci)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_package_without_its_library_says_what_to_install(amd_smi, host, tmp_path):
    with contextlib.suppress(OSError):
        ctypes.CDLL("libamd_smi.so")
        pytest.skip("this host has the library")
    host(tmp_path)
    with pytest.raises(TelemetryUnavailable, match=r"amdsmi finds no libamd_smi\.so: install ROCm's amd-smi-lib"):
        Sampler.start(RocmBackend.telemetry, pci=SECOND)


def test_a_package_newer_than_its_library_is_named(amd_smi, host, tmp_path):
    (tmp_path / "old.c").write_text("int amdsmi_init(void) { return 0; }\n")
    (tmp_path / "lib").mkdir()
    compile_library(tmp_path / "lib" / "libamd_smi.so", tmp_path / "old.c")
    host(tmp_path)
    with pytest.raises(TelemetryUnavailable, match=r"amdsmi [0-9.]+ does not fit .* ROCm release"):
        Sampler.start(RocmBackend.telemetry, pci=SECOND)
