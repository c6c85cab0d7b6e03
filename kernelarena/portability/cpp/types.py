"""How wide the types are that kernels are written with."""

from __future__ import annotations

SIZES = {
    **dict.fromkeys(("bool", "char", "signed char", "unsigned char", "int8_t", "uint8_t", "uchar"), 1),
    **dict.fromkeys(("short", "unsigned short", "int16_t", "uint16_t", "half", "__half", "__nv_bfloat16"), 2),
    **dict.fromkeys(("nv_bfloat16", "__hip_bfloat16", "hip_bfloat16", "ushort"), 2),
    **dict.fromkeys(("int", "unsigned", "unsigned int", "uint", "int32_t", "uint32_t", "float", "half2", "__half2"), 4),
    **dict.fromkeys(("long", "unsigned long", "long long", "unsigned long long", "int64_t", "uint64_t"), 8),
    **dict.fromkeys(("double", "size_t", "ptrdiff_t", "float2", "int2", "uint2", "clock_t"), 8),
    **dict.fromkeys(("float4", "int4", "uint4", "double2"), 16),
}
"""Bytes, by the name without qualifiers."""
_INTEGERS = frozenset(
    {
        "int",
        "unsigned",
        "unsigned int",
        "uint",
        "int32_t",
        "uint32_t",
        "long",
        "unsigned long",
        "long long",
        "size_t",
        "unsigned long long",
        "int64_t",
        "uint64_t",
    }
)
_QUALIFIERS = frozenset({"const", "constexpr", "static", "volatile", "register", "inline", "__restrict__"})


def plain(name: str) -> str:
    """Return the name of a type without qualifiers and the namespace of the standard library."""
    return " ".join(word for word in name.replace("std::", "").split() if word not in _QUALIFIERS)


def integer_bits(name: str) -> int | None:
    """Return the width of an integer of 32 or 64 bits; None for any other type."""
    name = plain(name)
    return 8 * SIZES[name] if name in _INTEGERS else None
