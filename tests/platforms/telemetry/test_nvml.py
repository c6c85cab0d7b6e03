"""The genuine ``pynvml`` over a library compiled here: what is made of answers, not what a driver answers."""

import pytest

from kernelarena.platforms.cuda import CudaBackend
from kernelarena.platforms.telemetry import Method, Sampler, TelemetryUnavailable, Throttle, summarise
from tests.platforms.telemetry import watching

PCI, UUID = "0000:1b:00", "aaaaaaaa-1111-2222-3333-bbbbbbbbbbbb"
"""The device that comes second in the library's order, as torch describes it: no function, no prefix."""


def watch(seconds=0.1, pci=PCI, uuid=UUID):
    return watching.watch(CudaBackend.telemetry, seconds, pci=pci, uuid=uuid)


@pytest.mark.parametrize(("pci", "uuid"), [(PCI, UUID), (PCI, ""), ("", UUID), (PCI, "GPU-" + UUID)])
def test_a_device_is_found_by_what_identifies_it(nvml, host, pci, uuid):
    """The stand-in aborts when it is asked for an index."""
    host(nvml, NVML_STUB="h200")
    sampler, samples, _ = watch(0.0, pci, uuid)
    assert (sampler.facts.pci, sampler.facts.uuid) == ("0000:1b:00.0", "GPU-" + UUID)
    assert samples[-1].reading.memory_used_bytes == 2 << 30


def test_every_field_is_in_si_units(nvml, host):
    host(nvml, NVML_STUB="h200")
    sampler, samples, _ = watch()
    facts, reading = sampler.facts, samples[-1].reading
    assert (facts.source, facts.name, facts.power_limit_w) == ("NVML 13.570.1", "NVIDIA H200", 700)
    assert (facts.power_window_s, facts.ecc_enabled, facts.missing) == (0.0, True, {})
    assert (reading.power_w, reading.core_clock_mhz, reading.memory_clock_mhz) == (300, 1980, 3201)
    assert (reading.temperature_c, reading.memory_temperature_c) == (41, 52)
    assert (reading.utilisation, reading.memory_utilisation) == (0.73, 0.12)
    assert (reading.ecc_corrected, reading.ecc_uncorrected) == (2, 0)


def test_a_counter_that_lags_bounds_the_energy(nvml, host):
    """It is updated every 20 ms, at 6 J."""
    host(nvml, NVML_STUB="h200")
    sampler, samples, (start, end) = watch(0.5)
    energy = summarise(samples, start, end, sampler.facts).energy
    truth = 300 * (end - start) * 1e-9
    assert energy.method is Method.COUNTER
    assert abs(energy.joules - truth) <= energy.uncertainty


def test_idling_and_set_clocks_are_no_throttling(nvml, host):
    host(nvml, NVML_STUB="h200")
    assert {sample.reading.throttle for sample in watch()[1]} == {()}


@pytest.mark.parametrize(("how", "reason"), [("reason", Throttle.POWER_CAP), ("counter", Throttle.THERMAL)])
def test_throttling_is_seen_by_reason_and_by_counter(nvml, host, how, reason):
    host(nvml, NVML_STUB="h200", NVML_STUB_THROTTLE=how)
    assert watch()[1][-1].reading.throttle == (reason,)


def test_an_old_board_falls_back_and_says_what_it_lacks(nvml, host):
    host(nvml, NVML_STUB="old")
    sampler, samples, (start, end) = watch(0.2)
    reading = samples[-1].reading
    assert (reading.power_w, sampler.facts.power_window_s) == (290, 1.0)
    assert reading.throttle == (Throttle.HARDWARE,)  # by the call's older name
    assert set(sampler.facts.missing) == {"energy_j", "memory_temperature_c", "ecc_corrected", "ecc_uncorrected"}
    assert sampler.facts.missing["ecc_corrected"] == "Not Supported (nvmlDeviceGetFieldValues)"
    energy = summarise(samples, start, end, sampler.facts).energy
    assert energy.method is Method.POWER
    assert abs(energy.joules - 290 * (end - start) * 1e-9) <= energy.uncertainty


def test_a_lost_device_ends_the_samples_and_says_so(nvml, host):
    host(nvml, NVML_STUB="lost", NVML_STUB_FOR="1000")
    with Sampler.start(CudaBackend.telemetry, pci=PCI) as sampler:
        assert watching.until_lost(sampler)
        assert sampler.lost.endswith("GPU is lost")


def test_why_there_is_none_is_one_line(nvml, host, tmp_path):
    host(nvml, NVML_STUB="none")
    with pytest.raises(TelemetryUnavailable, match="NVML does not start: Driver Not Loaded"):
        watch()
    host(nvml, NVML_STUB="h200")
    with pytest.raises(TelemetryUnavailable, match="NVML has no device at 0000:99:00: Not Found"):
        watch(pci="0000:99:00", uuid="")
    with pytest.raises(TelemetryUnavailable, match="no PCI address"):
        watch(pci="", uuid="cccccccc-1111-2222-3333-bbbbbbbbbbbb")
