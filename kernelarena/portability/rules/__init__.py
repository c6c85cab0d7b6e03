"""The rules, one a file. A new one is listed here, has a page in ``docs/rules``, and is tested by that page."""

from __future__ import annotations

from kernelarena.portability.rule import Rule
from kernelarena.portability.rules.ballot_width import BallotWidth
from kernelarena.portability.rules.cooperative_groups import CooperativeGroups
from kernelarena.portability.rules.device_capability import DeviceCapability
from kernelarena.portability.rules.device_launch import DeviceLaunch
from kernelarena.portability.rules.device_library_path import DeviceLibraryPath
from kernelarena.portability.rules.device_name import DeviceName
from kernelarena.portability.rules.dot_precision import DotPrecision
from kernelarena.portability.rules.float8_flavour import Float8Flavour
from kernelarena.portability.rules.inline_assembly import InlineAssembly
from kernelarena.portability.rules.lane_mask import LaneMask
from kernelarena.portability.rules.launch_bounds import LaunchBounds
from kernelarena.portability.rules.mixed_lanes import MixedLanes
from kernelarena.portability.rules.num_warps import NumWarps
from kernelarena.portability.rules.shared_memory import SharedMemory
from kernelarena.portability.rules.shuffle_width import ShuffleWidth
from kernelarena.portability.rules.vendor_intrinsic import VendorIntrinsic
from kernelarena.portability.rules.vendor_library import VendorLibrary
from kernelarena.portability.rules.warp_synchronous import WarpSynchronous
from kernelarena.portability.rules.warps_per_block import WarpsPerBlock

RULES: tuple[Rule, ...] = (
    LaneMask(),
    BallotWidth(),
    MixedLanes(),
    ShuffleWidth(),
    WarpsPerBlock(),
    WarpSynchronous(),
    SharedMemory(),
    LaunchBounds(),
    InlineAssembly(),
    VendorIntrinsic(),
    CooperativeGroups(),
    VendorLibrary(),
    DeviceLaunch(),
    Float8Flavour(),
    NumWarps(),
    DotPrecision(),
    DeviceCapability(),
    DeviceName(),
    DeviceLibraryPath(),
)
"""All of them: what concerns lanes first, then limits, then what belongs to one vendor, then what is asked of it."""
