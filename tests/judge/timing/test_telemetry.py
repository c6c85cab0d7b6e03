"""From a device as its runtime names it to what a verdict says: the genuine ``amdsmi`` over a stub of its library."""

from __future__ import annotations

from kernelarena.judge.timing.bench import told
from kernelarena.judge.timing.source import Watch
from kernelarena.platforms.backend import Device
from kernelarena.platforms.rocm import RocmBackend
from kernelarena.platforms.telemetry import Energy, Sampler, summarise
from kernelarena.spec import Verdict
from tests.platforms.telemetry.conftest import amd_smi, host
from tests.platforms.telemetry.watching import until_lost, watch

__all__ = ["amd_smi", "host"]
WHOLE = Device(1, "AMD Instinct MI300X", "gfx942:sramecc+:xnack-", "", "0001:85:00")


def timed(device: Device, seconds: float = 0.3) -> tuple[Watch, Verdict, tuple[float, Energy | None]]:
    """Watch a device as a bench does, and return the verdict of a kernel that ran a thousand times in ``seconds``."""
    sampler, samples, (began, ended) = watch(RocmBackend.telemetry, seconds, pci=device.pci, uuid=device.uuid)
    summary = summarise(samples, began, ended, sampler.facts)
    spent = None if summary.energy is None else summary.energy.joules / 1000
    verdict = {
        "task": "softmax", "kernel": "k", "language": "triton", "platform": "mi300", "evidence": "measured",
        "status": "pass", "telemetry": told(summary, spent),
    }  # fmt: skip
    return Watch(sampler, samples), Verdict.model_validate(verdict), ((ended - began) * 1e-9, summary.energy)


def test_a_whole_chip_fills_every_field(amd_smi, host):
    host(amd_smi, AMD_STUB="spx")
    seen, verdict, (took, energy) = timed(WHOLE)
    telemetry = verdict.model_dump(mode="json")["telemetry"]
    assert (telemetry["power"], telemetry["clock"], telemetry["memory_clock"]) == (400, 2080, 1300)
    assert telemetry["temperature"] == 61
    assert energy is not None
    assert abs(1000 * telemetry["energy"] - 400 * took) <= energy.uncertainty
    assert seen.throttled(seen.samples[0].at_ns, seen.samples[-1].at_ns) == ()


def test_throttling_marks_the_rounds_that_it_fell_into(amd_smi, host):
    host(amd_smi, AMD_STUB="spx", AMD_STUB_THROTTLE="ppt_residency_acc")
    seen, *_ = timed(WHOLE)
    assert seen.throttled(seen.samples[0].at_ns, seen.samples[-1].at_ns) == ("power-cap",)


def test_a_virtual_function_leaves_the_fields_empty_and_never_zero(amd_smi, host):
    host(amd_smi, AMD_STUB="vf")
    _, verdict, _ = timed(Device(0, "AMD Instinct MI300X VF", "gfx942", "", "0001:e5:00"))
    assert set(verdict.model_dump(mode="json")["telemetry"].values()) == {None}


def test_a_partition_has_the_power_of_its_chip_and_its_own_clock(amd_smi, host):
    host(amd_smi, AMD_STUB="cpx")
    _, verdict, _ = timed(Device(3, "AMD Instinct MI300X", "gfx942", b"c28afe5b6c1a0e03".hex(), "0001:85:00"))
    assert verdict.telemetry is not None
    assert (verdict.telemetry.power, verdict.telemetry.clock) == (400, 2003)


def test_a_device_that_vanishes_leaves_what_was_seen_before(amd_smi, host):
    host(amd_smi, AMD_STUB="vanish", AMD_STUB_FOR="700")
    with Sampler.start(RocmBackend.telemetry, pci=WHOLE.pci) as sampler:
        seen = Watch(sampler, until_lost(sampler))
        seen.look()
        first, last = seen.samples[0].at_ns, seen.samples[-1].at_ns
        assert told(summarise(seen.samples, first, last, sampler.facts), None).power == 400
        after = summarise(seen.samples, last + 10**10, last + 2 * 10**10, sampler.facts)
        assert told(after, None).power is None
