"""NVIDIA devices, through ``pynvml`` (distribution ``nvidia-ml-py``) over ``libnvidia-ml.so.1``.

Sources: NVML API reference. ``nvmlDeviceGetPowerUsage`` averages over a second on most chips since Ampere, so the field
``NVML_FI_DEV_POWER_INSTANT`` is asked for first. Throttling is seen in two ways: the reasons that hold at this moment,
and the performance-policy counters (ns of violation), which also tell of what happened between two readings.
"""

from __future__ import annotations

import contextlib
from typing import Any

from kernelarena.platforms.telemetry.condition import Condition, Occupant
from kernelarena.platforms.telemetry.errors import TelemetryUnavailable
from kernelarena.platforms.telemetry.identity import PciAddress, uuid_forms
from kernelarena.platforms.telemetry.probe import Asker, Probe, count, missing, number, one_line, share
from kernelarena.platforms.telemetry.schema import Facts, Reading, Throttle

AVERAGED = 1.0
"""Seconds that ``nvmlDeviceGetPowerUsage`` may average over."""
ACCURACY = 0.05
"""Relative accuracy of a power reading that the NVML reference gives (for Fermi and Kepler; for none since)."""
ENERGY_STEP = 1e-3
"""J."""
_REASONS = {
    "SwPowerCap": Throttle.POWER_CAP,
    "HwSlowdown": Throttle.HARDWARE,
    "SyncBoost": Throttle.SYNC_BOOST,
    "SwThermalSlowdown": Throttle.THERMAL,
    "HwThermalSlowdown": Throttle.THERMAL,
    "HwPowerBrakeSlowdown": Throttle.POWER_BRAKE,
}
_POLICIES = {
    "NVML_FI_DEV_PERF_POLICY_POWER": Throttle.POWER_CAP,
    "NVML_FI_DEV_PERF_POLICY_THERMAL": Throttle.THERMAL,
    "NVML_FI_DEV_PERF_POLICY_SYNC_BOOST": Throttle.SYNC_BOOST,
    "NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT": Throttle.BOARD_LIMIT,
    "NVML_FI_DEV_PERF_POLICY_RELIABILITY": Throttle.RELIABILITY,
    "NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN": Throttle.THERMAL,
    "NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN": Throttle.THERMAL,
    "NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN": Throttle.POWER_BRAKE,
}
_POWER, _ENERGY = "NVML_FI_DEV_POWER_INSTANT", "NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
_MEMORY_TEMPERATURE = "NVML_FI_DEV_MEMORY_TEMP"
_CORRECTED, _UNCORRECTED = "NVML_FI_DEV_ECC_SBE_VOL_TOTAL", "NVML_FI_DEV_ECC_DBE_VOL_TOTAL"
_FIELDS = (_POWER, _ENERGY, _MEMORY_TEMPERATURE, _CORRECTED, _UNCORRECTED, *_POLICIES)
_REASON_CALLS = ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")
"""The newer name and the older one: drivers before 535 know only that."""
_CALLS = {
    "power_w": (_POWER, "nvmlDeviceGetPowerUsage"),
    "energy_j": (_ENERGY, "nvmlDeviceGetTotalEnergyConsumption"),
    "core_clock_mhz": ("nvmlDeviceGetClockInfo(SM)",),
    "memory_clock_mhz": ("nvmlDeviceGetClockInfo(MEM)",),
    "temperature_c": ("nvmlDeviceGetTemperature",),
    "memory_temperature_c": ("nvmlDeviceGetFieldValues", _MEMORY_TEMPERATURE),
    "utilisation": ("nvmlDeviceGetUtilizationRates",),
    "memory_utilisation": ("nvmlDeviceGetUtilizationRates",),
    "memory_used_bytes": ("nvmlDeviceGetMemoryInfo",),
    "throttle": _REASON_CALLS,
    "ecc_corrected": ("nvmlDeviceGetFieldValues", _CORRECTED),
    "ecc_uncorrected": ("nvmlDeviceGetFieldValues", _UNCORRECTED),
}


class NvmlProbe(Probe):
    """One device, or a slice of one (MIG) together with the device."""

    def __init__(self, nvml: Any, handle: Any, slice_handle: Any) -> None:
        self._nvml = nvml
        self._handle = handle
        self._slice = slice_handle
        lost = (nvml.NVML_ERROR_GPU_IS_LOST, nvml.NVML_ERROR_RESET_REQUIRED)
        self._asker = Asker(nvml.NVMLError, lost=lambda error: getattr(error, "value", None) in lost)
        known = [(name, getattr(nvml, name, None)) for name in _FIELDS]  # older releases know fewer fields
        self._fields = [(name, ident) for name, ident in known if ident is not None]
        self._policies: dict[str, int] = {}
        self.instant = False

    @classmethod
    def open(cls, pci: str, uuid: str) -> NvmlProbe:
        """Find the device by its UUID, or else by its PCI address."""
        try:
            import pynvml
        except ImportError:
            raise TelemetryUnavailable("pynvml is not installed: pip install 'kernelarena[cuda]'") from None
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError as error:
            raise TelemetryUnavailable(f"NVML does not start: {one_line(error)}; is the driver loaded?") from None
        try:
            return cls._opened(pynvml, pci, uuid)
        except pynvml.NVMLError as error:
            pynvml.nvmlShutdown()
            raise TelemetryUnavailable(
                f"NVML has no device at {pci or uuid or 'no address'}: {one_line(error)}"
            ) from None
        except BaseException:
            pynvml.nvmlShutdown()
            raise

    @classmethod
    def _opened(cls, nvml: Any, pci: str, uuid: str) -> NvmlProbe:
        found = _find(nvml, pci, uuid)
        parent, scope = found, "device"
        with contextlib.suppress(nvml.NVMLError):
            parent = nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(found)
            scope = "slice of a chip; power, energy, clocks, temperatures, throttling and ECC are the whole chip's"
        probe = cls(nvml, parent, found)
        first = probe.read()
        probe.facts = _facts(nvml, probe, parent, found, scope)
        probe.facts.missing.update(missing(first, _CALLS, probe._asker.refused))
        return probe

    def read(self) -> Reading:
        """Return all fields in one call, and what is no field from a call each."""
        nvml, ask, device = self._nvml, self._asker.ask, self._handle
        fields = self._field_values()
        self.instant = _POWER in fields
        power, energy = fields.get(_POWER), fields.get(_ENERGY)
        if power is None:
            power = ask("nvmlDeviceGetPowerUsage", nvml.nvmlDeviceGetPowerUsage, device)
        if energy is None:
            energy = ask("nvmlDeviceGetTotalEnergyConsumption", nvml.nvmlDeviceGetTotalEnergyConsumption, device)
        rates = ask("nvmlDeviceGetUtilizationRates", nvml.nvmlDeviceGetUtilizationRates, self._slice)
        memory = ask("nvmlDeviceGetMemoryInfo", nvml.nvmlDeviceGetMemoryInfo, self._slice)
        core = ask("nvmlDeviceGetClockInfo(SM)", nvml.nvmlDeviceGetClockInfo, device, nvml.NVML_CLOCK_SM)
        memory_clock = ask("nvmlDeviceGetClockInfo(MEM)", nvml.nvmlDeviceGetClockInfo, device, nvml.NVML_CLOCK_MEM)
        heat = ask("nvmlDeviceGetTemperature", nvml.nvmlDeviceGetTemperature, device, nvml.NVML_TEMPERATURE_GPU)
        reading = Reading(
            power_w=_scaled(power, 1e-3),
            energy_j=_scaled(energy, 1e-3),
            core_clock_mhz=number(core),
            memory_clock_mhz=number(memory_clock),
            temperature_c=number(heat),
            memory_temperature_c=number(fields.get(_MEMORY_TEMPERATURE)) or None,
            utilisation=share(getattr(rates, "gpu", None)),
            memory_utilisation=share(getattr(rates, "memory", None)),
            memory_used_bytes=count(getattr(memory, "used", None)),
            throttle=self._throttle(fields),
            ecc_corrected=count(fields.get(_CORRECTED)),
            ecc_uncorrected=count(fields.get(_UNCORRECTED)),
        )
        self._asker.end_reading()
        return reading

    def condition(self) -> Condition:
        """Return what NVML says of modes and processes; of a slice, what holds for its whole chip."""
        nvml, chip = self._nvml, self._handle
        persistent = _told(nvml, "nvmlDeviceGetPersistenceMode", chip)
        ecc = _told(nvml, "nvmlDeviceGetEccMode", chip)
        mig = _told(nvml, "nvmlDeviceGetMigMode", chip)
        virtual = _told(nvml, "nvmlDeviceGetVirtualizationMode", chip)
        users = _told(nvml, "nvmlDeviceGetComputeRunningProcesses", self._slice)
        return Condition(
            driver=_told(nvml, "nvmlSystemGetDriverVersion"),
            clocks=self._set_clocks(),
            persistent=None if persistent is None else bool(persistent),
            partition="MIG" if mig and mig[0] == nvml.NVML_DEVICE_MIG_ENABLE else "",
            virtual=None if virtual is None else virtual == nvml.NVML_GPU_VIRTUALIZATION_MODE_VGPU,
            ecc_pending=bool(ecc[1]) if ecc is not None and ecc[0] != ecc[1] else None,
            occupants=None if users is None else tuple(Occupant(user.pid, user.usedGpuMemory) for user in users),
        )

    def _set_clocks(self) -> str | None:
        """Return what the clocks are set to: a range that is set has no call that tells it, but a reason that holds."""
        nvml, chip, core = self._nvml, self._handle, self._nvml.NVML_CLOCK_SM
        reasons = next((mask for name in _REASON_CALLS if (mask := _told(nvml, name, chip)) is not None), None)
        wished = _told(nvml, "nvmlDeviceGetApplicationsClock", chip, core)
        usual = _told(nvml, "nvmlDeviceGetDefaultApplicationsClock", chip, core)
        if None not in (wished, usual) and wished != usual:
            return f"{wished} MHz"
        if reasons is None:
            return None
        return "by somebody" if reasons & _bit(nvml, "ApplicationsClocksSetting") else ""

    def close(self) -> None:
        """Shut the library down."""
        with contextlib.suppress(self._nvml.NVMLError):
            self._nvml.nvmlShutdown()

    def _field_values(self) -> dict[str, int | float]:
        """Return the fields that have a value; each carries its own verdict."""
        nvml = self._nvml
        idents = [ident for _, ident in self._fields]
        values = self._asker.ask("nvmlDeviceGetFieldValues", nvml.nvmlDeviceGetFieldValues, self._handle, idents)
        found = {}
        for (name, _), value in zip(self._fields, values or (), strict=False):
            if value.nvmlReturn == nvml.NVML_SUCCESS:
                found[name] = _value(nvml, value)
                self._asker.note(name)
            else:
                self._asker.note(name, one_line(nvml.NVMLError(value.nvmlReturn)))
        return found

    def _throttle(self, fields: dict[str, int | float]) -> tuple[Throttle, ...] | None:
        """Reasons that hold now, and those whose counter has grown since the reading before."""
        nvml = self._nvml
        mask = None
        for name in _REASON_CALLS:
            if mask is None and hasattr(nvml, name):
                mask = self._asker.ask(name, getattr(nvml, name), self._handle)
        now = {key: int(fields[key]) for key in _POLICIES if key in fields}
        before, self._policies = self._policies, now
        if mask is None and not now:
            return None
        found = {_POLICIES[key] for key, value in now.items() if value > before.get(key, value)}
        found |= {reason for name, reason in _REASONS.items() if (mask or 0) & _bit(nvml, name)}
        return tuple(sorted(found))


def _find(nvml: Any, pci: str, uuid: str) -> Any:
    """Return the handle of the device that the runtime calls ``pci`` and ``uuid``."""
    address = PciAddress.parse(pci)
    if uuid_forms(uuid):
        # The runtime leaves out the prefix by which the library knows a chip from a slice.
        name = uuid if uuid.startswith(("GPU-", "MIG-")) else f"GPU-{uuid}"
        with contextlib.suppress(nvml.NVMLError):
            return nvml.nvmlDeviceGetHandleByUUID(name.encode())
    if address is None:
        raise TelemetryUnavailable(f"NVML has no device with UUID '{uuid}', and the runtime gives no PCI address")
    text = f"{address.domain:08x}:{address.bus:02x}:{address.device:02x}.{address.function or 0}"
    return nvml.nvmlDeviceGetHandleByPciBusId(text.encode())


def _told(nvml: Any, name: str, *arguments: Any) -> Any:
    """Return what a call answers, or None where the library or the device has no such call."""
    try:
        return getattr(nvml, name)(*arguments)
    except (nvml.NVMLError, AttributeError):
        return None


def _facts(nvml: Any, probe: NvmlProbe, chip: Any, found: Any, scope: str) -> Facts:
    limit = _told(nvml, "nvmlDeviceGetEnforcedPowerLimit", chip)
    ecc = _told(nvml, "nvmlDeviceGetEccMode", chip)
    pci = _told(nvml, "nvmlDeviceGetPciInfo", chip)
    return Facts(
        source=f"NVML {_told(nvml, 'nvmlSystemGetNVMLVersion') or ''}".strip(),
        name=_told(nvml, "nvmlDeviceGetName", found) or "",
        pci="" if pci is None else f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0",
        uuid=_told(nvml, "nvmlDeviceGetUUID", found) or "",
        scope=scope,
        power_limit_w=_scaled(limit, 1e-3),
        power_window_s=0.0 if probe.instant else AVERAGED,
        power_accuracy=ACCURACY,
        energy_resolution_j=ENERGY_STEP,
        ecc_enabled=None if ecc is None else bool(ecc[0]),
    )


def _value(nvml: Any, field: Any) -> int | float:
    member = {
        nvml.NVML_VALUE_TYPE_DOUBLE: "dVal",
        nvml.NVML_VALUE_TYPE_UNSIGNED_INT: "uiVal",
        nvml.NVML_VALUE_TYPE_UNSIGNED_LONG: "ulVal",
        nvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: "ullVal",
        nvml.NVML_VALUE_TYPE_SIGNED_LONG_LONG: "sllVal",
    }.get(field.valueType, "siVal")
    value: int | float = getattr(field.value, member)
    return value


def _bit(nvml: Any, reason: str) -> int:
    found: int = getattr(nvml, f"nvmlClocksEventReason{reason}", 0) or getattr(
        nvml, f"nvmlClocksThrottleReason{reason}", 0
    )
    return found


def _scaled(value: object, scale: float) -> float | None:
    found = number(value)
    return None if found is None else found * scale
