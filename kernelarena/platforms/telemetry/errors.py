"""How telemetry ends before its time."""

from __future__ import annotations


class TelemetryUnavailable(Exception):
    """There is none for this device here; the message is one line and says what to do where something can be done."""


class DeviceVanished(Exception):
    """The device stopped answering: reset, fallen off the bus, or taken from this host."""
