"""AMD devices, through the vendor's ``amdsmi`` package over ``libamd_smi.so``.

One call, ``amdsmi_get_gpu_metrics_info``, answers nearly everything from one table that the firmware writes; the others
are for what it leaves out, and for devices on which it is not supported. ``amdsmi_get_violation_status`` is never
called: it sleeps for 100 ms between two looks at the same residency counters that the table has.

A chip may be partitioned (CPX: eight devices of one XCD each). Its firmware speaks for the whole chip, through the
primary partition; power, energy, temperatures and throttling of any partition are therefore the chip's.

Sources: AMD SMI documentation, *Python API* and *GPU partitioning*; Linux, ``kgd_pp_interface.h`` for the units of the
metrics table: energy in steps of 2^-16 J, clocks in MHz, temperatures in °C, power in W.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import time
from typing import Any, ClassVar

from kernelarena.platforms.telemetry.condition import Condition, Occupant
from kernelarena.platforms.telemetry.errors import TelemetryUnavailable
from kernelarena.platforms.telemetry.identity import PciAddress, same_uuid
from kernelarena.platforms.telemetry.probe import Asker, Probe, count, missing, number, one_line, share
from kernelarena.platforms.telemetry.schema import Facts, Reading, Throttle

ENERGY_STEP = 2.0**-16
"""J. The library rounds it to 15.3 µJ, which alone would be wrong by 0.27 %."""
SLOW_PERIOD = 1.0
"""Seconds between two looks at the error counters, of which the library reads a dozen files."""
THROTTLE_LAG = 0.1
"""Seconds between two updates of the residency counters by the firmware."""
_RESIDENCIES = {
    "ppt_residency_acc": Throttle.POWER_CAP,
    "socket_thm_residency_acc": Throttle.THERMAL,
    "hbm_thm_residency_acc": Throttle.MEMORY_THERMAL,
    "vr_thm_residency_acc": Throttle.REGULATOR_THERMAL,
    "prochot_residency_acc": Throttle.POWER_BRAKE,
}
_FLAGS = ("indep_throttle_status", "throttle_status")
_CALLS = {
    "power_w": ("amdsmi_get_gpu_metrics_info", "amdsmi_get_power_info"),
    "energy_j": ("amdsmi_get_gpu_metrics_info", "amdsmi_get_energy_count"),
    "core_clock_mhz": ("amdsmi_get_gpu_metrics_info", "amdsmi_get_clock_info(GFX)"),
    "memory_clock_mhz": ("amdsmi_get_gpu_metrics_info", "amdsmi_get_clock_info(MEM)"),
    "temperature_c": ("amdsmi_get_gpu_metrics_info", "amdsmi_get_temp_metric(HOTSPOT)", "amdsmi_get_temp_metric(EDGE)"),
    "memory_temperature_c": ("amdsmi_get_gpu_metrics_info", "amdsmi_get_temp_metric(VRAM)"),
    "utilisation": ("amdsmi_get_gpu_activity", "amdsmi_get_gpu_metrics_info"),
    "memory_utilisation": ("amdsmi_get_gpu_activity", "amdsmi_get_gpu_metrics_info"),
    "memory_used_bytes": ("amdsmi_get_gpu_memory_usage",),
    "throttle": ("amdsmi_get_gpu_metrics_info",),
    "ecc_corrected": ("amdsmi_get_gpu_total_ecc_count",),
    "ecc_uncorrected": ("amdsmi_get_gpu_total_ecc_count",),
}
_LEVELS = {"AMDSMI_DEV_PERF_LEVEL_AUTO": "", "AMDSMI_DEV_PERF_LEVEL_UNKNOWN": None}
"""Performance levels under which nothing is set: the clocks follow the load, or nobody knows."""
_OWN = ("amdsmi_get_gpu_memory_usage", "amdsmi_get_gpu_activity", "amdsmi_get_clock_info(GFX)")
"""Calls that a partition answers for itself."""


class AmdSmiProbe(Probe):
    """One device, or one partition of a chip together with the chip."""

    environment: ClassVar[dict[str, str]] = {"AMDSMI_GPU_METRICS_CACHE_MS": "0"}  # samples are not to be of the past

    def __init__(self, smi: Any, handle: Any, chip: Any, partitions: int) -> None:
        self._smi = smi
        self._handle = handle
        self._chip = chip
        self._whole = partitions == 1
        self._asker = Asker(smi.AmdSmiException, words=_words)
        if handle is None:
            self._asker.refused.update(dict.fromkeys(_OWN, "the runtime does not say which partition is meant"))
        self._energy_step = ENERGY_STEP
        self._residencies: dict[str, int] = {}
        self._slow_at = -SLOW_PERIOD
        self._ecc: tuple[int | None, int | None] = (None, None)

    @classmethod
    def open(cls, pci: str, uuid: str) -> AmdSmiProbe:
        """Find the device by its PCI address, and by its UUID among the partitions of one chip."""
        smi = _load()
        try:
            smi.amdsmi_init(smi.AmdSmiInitFlags.INIT_AMD_GPUS)
        except smi.AmdSmiException as error:
            raise TelemetryUnavailable(
                f"amdsmi does not start: {_words(error)}; is the amdgpu driver loaded?"
            ) from None
        try:
            probe = _find(smi, cls, pci, uuid)
            first = probe.read()
        except smi.AmdSmiException as error:
            smi.amdsmi_shut_down()
            raise TelemetryUnavailable(f"amdsmi lists no devices: {_words(error)}") from None
        except BaseException:
            smi.amdsmi_shut_down()
            raise
        probe.facts.missing.update(missing(first, _CALLS, probe._asker.refused))
        if len(probe.facts.missing) == len(_CALLS):
            probe.close()
            raise TelemetryUnavailable(f"the device at {probe.facts.pci} answers none of amdsmi's questions")
        return probe

    def read(self) -> Reading:
        """Return one table of metrics, and what it leaves out from the calls for single values."""
        metrics = self._ask("amdsmi_get_gpu_metrics_info", self._chip) or {}
        used = self._ask("amdsmi_get_gpu_memory_usage", self._handle, self._smi.AmdSmiMemoryType.VRAM)
        busy, memory_busy = self._activity(metrics)
        corrected, uncorrected = self._errors()
        reading = Reading(
            power_w=self._power(metrics),
            energy_j=self._energy(metrics),
            core_clock_mhz=self._core_clock(metrics),
            memory_clock_mhz=_first(metrics, "current_uclk", "average_uclk_frequency") or self._clock("MEM"),
            temperature_c=_first(metrics, "temperature_hotspot", "temperature_edge")
            or self._temperature("HOTSPOT")
            or self._temperature("EDGE"),
            memory_temperature_c=_first(metrics, "temperature_mem") or self._temperature("VRAM"),
            utilisation=busy,
            memory_utilisation=memory_busy,
            memory_used_bytes=count(used),
            throttle=self._throttle(metrics),
            ecc_corrected=corrected,
            ecc_uncorrected=uncorrected,
        )
        self._asker.end_reading()
        return reading

    def condition(self) -> Condition:
        """Return what the library says of modes and processes; of a partition, what holds for its whole chip."""
        smi, chip = self._smi, self._chip
        driver = _told(smi, "amdsmi_get_gpu_driver_info", chip) or {}
        level = _told(smi, "amdsmi_get_gpu_perf_level", chip)
        virtual = (_told(smi, "amdsmi_get_gpu_virtualization_mode", chip) or {}).get("mode")
        users = _told(smi, "amdsmi_get_gpu_process_list", self._handle or chip)
        return Condition(
            driver=None if driver.get("driver_version") in (None, "N/A") else driver["driver_version"],
            clocks=None if level is None else _LEVELS.get(level, level.rpartition("LEVEL_")[2].lower()),
            partition=_mode(*(_told(smi, f"amdsmi_get_gpu_{kind}_partition", chip) for kind in ("compute", "memory"))),
            virtual=None if virtual is None or virtual.name == "UNKNOWN" else virtual.name == "GUEST",
            occupants=None if users is None else tuple(Occupant(user["pid"], user["mem"]) for user in users),
        )

    def close(self) -> None:
        """Shut the library down."""
        with contextlib.suppress(self._smi.AmdSmiException):
            self._smi.amdsmi_shut_down()

    def _ask(self, name: str, *arguments: Any) -> Any:
        label = f"{name}({arguments[1].name})" if name.endswith(("clock_info", "temp_metric")) else name
        return self._asker.ask(label, getattr(self._smi, name), *arguments)

    def _power(self, metrics: dict[str, Any]) -> float | None:
        found = _first(metrics, "current_socket_power", "average_socket_power")
        if found is not None:
            return found
        info = self._ask("amdsmi_get_power_info", self._chip) or {}
        return _first(info, "current_socket_power", "socket_power", "average_socket_power")

    def _energy(self, metrics: dict[str, Any]) -> float | None:
        steps = count(metrics.get("energy_accumulator"))
        if steps is None:
            answer = self._ask("amdsmi_get_energy_count", self._chip) or {}
            steps = count(answer.get("energy_accumulator"))
            self._energy_step = _energy_step(answer.get("counter_resolution"))
        # A counter that never moved from 0 is one that the firmware does not keep.
        return steps * self._energy_step if steps else None

    def _core_clock(self, metrics: dict[str, Any]) -> float | None:
        if self._whole:
            dies = [clock for clock in map(number, _listed(metrics.get("current_gfxclks"))) if clock]
            found = sum(dies) / len(dies) if dies else _first(metrics, "current_gfxclk", "average_gfxclk_frequency")
            if found is not None:
                return found
        return self._clock("GFX")

    def _clock(self, which: str) -> float | None:
        handle = self._handle if which == "GFX" else self._chip
        answer = self._ask("amdsmi_get_clock_info", handle, getattr(self._smi.AmdSmiClkType, which)) or {}
        return number(answer.get("clk")) or None

    def _temperature(self, which: str) -> float | None:
        sensor, now = getattr(self._smi.AmdSmiTemperatureType, which), self._smi.AmdSmiTemperatureMetric.CURRENT
        return number(self._ask("amdsmi_get_temp_metric", self._chip, sensor, now), limit=1000) or None

    def _activity(self, metrics: dict[str, Any]) -> tuple[float | None, float | None]:
        table = ("average_gfx_activity", "average_umc_activity")
        if self._whole and table[0] in metrics:
            found = share(metrics[table[0]]), share(metrics.get(table[1]))
            if found != (None, None):
                return found
        answer = self._ask("amdsmi_get_gpu_activity", self._handle) or {}
        return share(answer.get("gfx_activity")), share(answer.get("umc_activity"))

    def _throttle(self, metrics: dict[str, Any]) -> tuple[Throttle, ...] | None:
        """Reasons whose residency counter has grown since the reading before; where there are none, the flags."""
        now = {key: value for key in _RESIDENCIES if (value := count(metrics.get(key))) is not None}
        before, self._residencies = self._residencies, now
        if now:
            return tuple(_RESIDENCIES[key] for key, value in now.items() if value > before.get(key, value))
        flags = [metrics[key] for key in _FLAGS if isinstance(metrics.get(key), bool)]
        if not flags:
            return None
        return (Throttle.UNNAMED,) if any(flags) else ()  # the package hands the bits out as one yes or no

    def _errors(self) -> tuple[int | None, int | None]:
        now = time.monotonic()
        if now - self._slow_at >= SLOW_PERIOD:
            self._slow_at = now
            answer = self._ask("amdsmi_get_gpu_total_ecc_count", self._chip) or {}
            self._ecc = count(answer.get("correctable_count")), count(answer.get("uncorrectable_count"))
        return self._ecc


def _load() -> Any:
    """Import the vendor's package, which looks for its library at once and says on stdout what it thinks of it."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            import amdsmi
        except ImportError:
            raise TelemetryUnavailable("amdsmi is not installed: pip install 'kernelarena[rocm]'") from None
        except (KeyError, OSError):
            raise TelemetryUnavailable(
                "amdsmi finds no libamd_smi.so: install ROCm's amd-smi-lib, or set ROCM_PATH to where it is"
            ) from None
        except AttributeError as error:
            version = importlib.metadata.version("amdsmi")
            raise TelemetryUnavailable(
                f"amdsmi {version} does not fit the libamd_smi.so of this host ({one_line(error)}): install the "
                "package of the host's ROCm release"
            ) from None
    return amdsmi


def _find(smi: Any, cls: type[AmdSmiProbe], pci: str, uuid: str) -> AmdSmiProbe:
    """Return the probe of the device that the runtime calls ``pci`` and ``uuid``."""
    wanted = PciAddress.parse(pci)
    handles = [(PciAddress.parse(smi.amdsmi_get_gpu_device_bdf(h)), h) for h in smi.amdsmi_get_processor_handles()]
    if wanted is not None:
        chip = [(address, handle) for address, handle in handles if address and address.same_chip(wanted)]
    else:
        owner = next((address for address, handle in handles if _has_uuid(smi, handle, uuid)), None)
        chip = [(address, handle) for address, handle in handles if address and owner and address.same_chip(owner)]
    if not chip:
        here = ", ".join(str(address) for address, _ in handles) or "none"
        raise TelemetryUnavailable(f"amdsmi has no device at {pci or uuid or 'no address'} (it has {here})")
    chip.sort(key=lambda entry: entry[0].function or 0)
    address, handle = chip[0]
    primary = handle
    scope = "device"
    if len(chip) > 1:
        address, handle, scope = _partition(smi, chip, wanted, uuid)
    probe = cls(smi, handle, primary, len(chip))
    probe.facts = _facts(smi, primary, handle, address, scope)
    return probe


def _partition(smi: Any, chip: list[tuple[PciAddress, Any]], wanted: PciAddress | None, uuid: str) -> Any:
    """Return address, handle and scope of one partition, told from its siblings by function or UUID."""
    mine = [entry for entry in chip if wanted is not None and wanted.function == entry[0].function]
    mine = mine or [entry for entry in chip if _has_uuid(smi, entry[1], uuid)]
    if len(mine) == 1:
        which = f"partition {chip.index(mine[0])} of {len(chip)}"
        return *mine[0], f"{which}; power, energy, temperatures, throttling and ECC are the whole chip's"
    return chip[0][0], None, f"the chip, of whose {len(chip)} partitions the runtime does not say which is meant"


def _mode(compute: str | None, memory: str | None) -> str | None:
    """``CPX/NPS4``; nothing for a chip that is one device with one memory."""
    if compute is None:
        return None
    return "" if compute == "SPX" and memory in (None, "NPS1") else "/".join(filter(None, (compute, memory)))


def _has_uuid(smi: Any, handle: Any, uuid: str) -> bool:
    if not uuid:
        return False
    known = []
    with contextlib.suppress(smi.AmdSmiException, AttributeError):  # since release 6.4
        known.append(smi.amdsmi_get_gpu_enumeration_info(handle)["hip_uuid"])
    with contextlib.suppress(smi.AmdSmiException):
        known.append(smi.amdsmi_get_gpu_device_uuid(handle))
    with contextlib.suppress(smi.AmdSmiException, ValueError):
        known.append(smi.amdsmi_get_gpu_asic_info(handle)["asic_serial"])
    return any(same_uuid(uuid, other) for other in known)


def _told(smi: Any, name: str, *arguments: Any) -> Any:
    """Return what a call answers, or None where the package or the device has no such call."""
    try:
        return getattr(smi, name)(*arguments)
    except (smi.AmdSmiException, AttributeError, KeyError, ValueError):  # a value that its release has no name for
        return None


def _facts(smi: Any, chip: Any, handle: Any, address: PciAddress, scope: str) -> Facts:
    library = _told(smi, "amdsmi_get_lib_version") or {}
    version = ".".join(str(library[key]) for key in ("major", "minor", "release") if key in library)
    cap = number((_told(smi, "amdsmi_get_power_info", chip) or {}).get("power_limit"))
    ecc = _told(smi, "amdsmi_get_gpu_ecc_enabled", chip)
    energy = _told(smi, "amdsmi_get_energy_count", chip)
    return Facts(
        source=f"amdsmi {version or importlib.metadata.version('amdsmi')}",
        name=str((_told(smi, "amdsmi_get_gpu_asic_info", chip) or {}).get("market_name", "")),
        pci=str(address),
        uuid=_told(smi, "amdsmi_get_gpu_device_uuid", handle or chip) or "",
        scope=scope,
        power_limit_w=cap,
        energy_resolution_j=None if energy is None else _energy_step(energy.get("counter_resolution")),
        throttle_lag_s=THROTTLE_LAG,
        ecc_enabled=None if ecc is None else bool(ecc),
    )


def _words(error: Exception) -> str:
    """Return the library's words for a status, without the decoration that the package puts around it."""
    return one_line(str(getattr(error, "err_info", error)).rpartition(" - ")[2])


def _energy_step(microjoules: object) -> float:
    """Return the step of the energy counter in J; what the library rounded is put right."""
    found = number(microjoules)
    return ENERGY_STEP if not found or abs(found * 1e-6 - ENERGY_STEP) < 1e-7 else found * 1e-6


def _first(values: dict[str, Any], *keys: str) -> float | None:
    """Return the first of ``keys`` with a value; a 0 is what firmware writes into fields that it does not keep."""
    return next((found for key in keys if (found := number(values.get(key)))), None)


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []
