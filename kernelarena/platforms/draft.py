"""A platform file for a device that none describes, made of what its runtime tells.

Nobody has measured or looked up its bandwidth and peak rates, so the draft leaves them out: kernels can be judged and
timed on the chip, but no time is held against a roofline until somebody fills them in from the vendor's documents.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from kernelarena.errors import InputError
from kernelarena.platforms.backend import Backend, Device

_THREADS = 1024
"""Threads of a block where the runtime does not tell: the limit of every chip that this package compiles for."""


@dataclass(frozen=True)
class Family:
    """What follows from an architecture, and is told by its documents and not by its runtime.

    Attributes
    ----------
    registers
        32-bit registers that one thread may hold.
    source, section
        The document that says so.
    narrow
        The native flavour of canonical dtypes, where it differs.
    last_level
        Whether the L2 that the runtime tells is the last cache before memory.
    """

    registers: int
    source: str
    section: str
    narrow: Mapping[str, str]
    last_level: bool


_FNUZ = {"float8_e4m3": "float8_e4m3fnuz", "float8_e5m2": "float8_e5m2fnuz"}
_CUDA, _LLVM = "CUDA C++ Programming Guide", "LLVM, User Guide for AMDGPU Backend"
_FAMILIES = (
    (r"sm_\d+[af]?", Family(255, _CUDA, "Technical specifications per compute capability", {}, True)),
    (r"gfx90a|gfx950", Family(512, _LLVM, "Kernel descriptor: VGPRs of a unified register file", {}, False)),
    (r"gfx94[0-2]", Family(512, _LLVM, "Kernel descriptor: VGPRs of a unified register file", _FNUZ, False)),
    (r"gfx\w+", Family(256, _LLVM, "Kernel descriptor: VGPRs", {}, False)),
)
"""By a pattern of the architecture's name; the first that fits."""


def is_slice(device: Device) -> bool:
    """Return whether a device is a slice of a chip that its name tells: as many of them as somebody set."""
    return "MIG" in device.name.split()


def draft(backend: Backend, device: Device, told: Mapping[str, Any], taken: frozenset[str]) -> str:
    """Return the text of a platform file that describes ``device``; it loads as it is.

    Parameters
    ----------
    backend, device
        The device, as its backend finds it.
    told
        What a process told that opened it: ``properties`` (those of torch), ``total`` (bytes of memory), ``torch`` (its
        version).
    taken
        Words that name other platforms.

    Raises
    ------
    InputError
        If the device is a slice of a chip, so that a file of it would describe something that changes with a setting.
    """
    if is_slice(device):
        raise InputError(
            f"device {device.index} ({device.name}) is a slice of a chip, which no platform file describes; "
            "switch MIG off and describe the whole chip"
        )
    arch = device.arch.split(":")[0]
    vendor = getattr(backend, "vendor_name", backend.name)
    model = device.name.removeprefix(f"{vendor} ").strip() or device.name
    id_ = _identifier(model, taken)
    family = next((family for pattern, family in _FAMILIES if re.fullmatch(pattern, arch)), None)
    lines = [
        "# What the runtime tells of a device that no platform file described. Look every figure up in the vendor's",
        "# documents, name them in `source`, and rename the file together with the id.",
        f"id: {_text(id_)}",
        f"title: {_text(device.name)}",
        f"vendor: {_text(vendor.lower().replace(' ', '-'))}",
        f"backend: {backend.name}",
        f"arch: {_text(arch or model)}",
        f"detect: {{names: [{_text(model)}]{f', arch: {_text(arch)}' if arch else ''}}}",
        f'ray: {{resource: "platform:{id_}"}}',
        *_limits(told["properties"], family),
        *_memory(told, family),
        "# peak_flops: {}    # nobody has looked them up: {float16: 1.0e14}, say, dense, in FLOP/s",
    ]
    if family is not None and family.narrow:
        lines.append("dtypes: {" + ", ".join(f"{name}: {flavour}" for name, flavour in family.narrow.items()) + "}")
    version = told.get("torch", "")
    lines += [
        "source:",
        f"  - title: {_text(f'torch {version}: what the runtime tells of the device'.replace('  ', ' '))}",
    ]
    if family is not None:
        figures = ["limits.registers_per_thread", *(["dtypes"] if family.narrow else [])]
        lines.append(
            f"  - {{title: {_text(family.source)}, section: {_text(family.section)}, figures: [{', '.join(figures)}]}}"
        )
    return "\n".join(lines) + "\n"


def _limits(properties: Mapping[str, Any], family: Family | None) -> list[str]:
    """Return the limits of a launch, or why they are not there: without all four of them there are none."""
    shared = properties.get("shared_memory_per_block_optin") or properties.get("shared_memory_per_block")
    lanes = properties.get("warp_size")
    if family is None or not shared or not lanes:
        return [
            "# limits: the runtime does not tell them all; without, kernels cannot be compiled for the chip elsewhere"
        ]
    threads = properties.get("max_threads_per_block") or _THREADS
    return [
        "limits:",
        f"  warp_size: {lanes}",
        f"  max_threads_per_block: {threads}",
        f"  shared_memory_per_block: {shared}",
        f"  registers_per_thread: {family.registers}",
    ]


def _memory(told: Mapping[str, Any], family: Family | None) -> list[str]:
    lines = ["memory:", f"  bytes: {told['total']}    # what the runtime has of it; the data sheet says a little more"]
    cache = told["properties"].get("L2_cache_size")
    if cache and family is not None and family.last_level:
        lines.append(f"  cache_bytes: {cache}    # L2")
    else:
        has = f"the runtime tells an L2 of {cache} B" if cache else "the runtime tells none"
        lines.append(f"  # cache_bytes: the last-level cache in B; {has}, and there may be one behind it")
    lines.append("  # bandwidth: in B/s; nobody has measured it or looked it up")
    return lines


def _identifier(model: str, taken: frozenset[str]) -> str:
    """Return a name for the file that no other platform answers to: ``rtx-a6000``."""
    wished = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:100] or "device"
    number = 2
    name = wished
    while name in taken:
        name, number = f"{wished}-{number}", number + 1
    return name


def _text(words: str) -> str:
    """Return a YAML string on one line: as it is where it is read as this very text, in quotes otherwise."""
    plain = re.fullmatch(r"[A-Za-z][\w-]*", words, re.ASCII) and yaml.safe_load(words) == words
    return words if plain else yaml.safe_dump(words, default_style='"', width=sys.maxsize).rstrip("\n")
