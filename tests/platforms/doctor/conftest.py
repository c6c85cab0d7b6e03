from tests.platforms.doctor.hosts import made
from tests.platforms.telemetry.conftest import amd_smi, host, nvml

__all__ = ["amd_smi", "host", "made", "nvml"]
