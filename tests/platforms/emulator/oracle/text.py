"""The text of the pseudo-code, by instruction, with what has to be said about it."""

from __future__ import annotations

from functools import cache

try:
    from tinygrad.runtime.autogen.amd.cdna.str_pcode import PCODE
except ImportError:
    PCODE = {}

AVAILABLE = bool(PCODE)

_VCC = (("VCC = 0x0LL;", ""), ("VCC = 0x1LL", "VCC.u64[laneId] = 1'1U"))


def _scaled_down(width: int, power: int) -> tuple[str, str]:
    """Turn around how the denominator is scaled where its reciprocal and the quotient are denormal."""
    before = f"DENORM.f{width})) then\nVCC.u64[laneId] = 1'1U;\nif S0.f{width} == S1.f{width} then\n"
    before += f"// Only scale the denominator\nD0.f{width} = ldexp(S0.f{width}, "
    return f"{before}{power})", f"{before}-{power})"


_RIGHT: dict[str, tuple[tuple[str, str], ...]] = {
    # One lane's bit is meant, the result is the operand unless said otherwise, the reciprocal of a float32 is never a
    # denormal float64; and for the directions see kernelarena.platforms.emulator.instructions.vector.division.
    "V_DIV_SCALE_F32": (
        *_VCC,
        ("1.0 / 64'F(S1.f32) == DENORM.f64", "1.0F / S1.f32 == DENORM.f32"),
        ("", "D0.f32 = S0.f32;\n"),
        _scaled_down(32, 64),
    ),
    "V_DIV_SCALE_F64": (*_VCC, ("", "D0.f64 = S0.f64;\n"), _scaled_down(64, 128)),
    "V_DIV_FMAS_F32": (("2.0F ** 32", "2.0F ** (exponent(S2.f32) > 127 ? 64 : -64)"),),
    "V_DIV_FMAS_F64": (("2.0 ** 64", "2.0 ** (exponent(S2.f64) > 1023 ? 128 : -128)"),),
    "V_DIV_FIXUP_F32": (("exponent(S1.f32) == 255", "exponent(S0.f32) == 255"),),
    "V_DIV_FIXUP_F64": (("exponent(S1.f64) == 2047", "exponent(S0.f64) == 2047"),),
    # What was meant by the destination.
    **dict.fromkeys(
        ("V_BITOP3_B32", "V_BITOP3_B16"),
        (("D.b", "D0.b"), ("TTBL = { INST.OMOD[1 : 0], INST.ABS[2 : 0], INST.NEG[2 : 0] };", "")),
    ),
}
"""What is changed in a text before it is read, and why."""


@cache
def _texts() -> dict[str, str]:
    found: dict[str, str] = {}
    for key, text in PCODE.items():
        if type(key).__name__.startswith(("VOP", "SOP")):
            found.setdefault(key.name.removesuffix("_E32").removesuffix("_E64"), text)
    return found


def known(name: str) -> bool:
    """Tell whether there is pseudo-code for an instruction."""
    return name.upper() in _texts()


def text_of(name: str) -> str:
    """Return an instruction's pseudo-code, put right where it says what cannot be meant."""
    text = _texts()[name.upper()].replace("VGPR[laneId][VDST.u32]", "D0").replace("VGPR[laneId][SRC0.u32]", "S0")
    for wrong, right in _RIGHT.get(name.upper(), ()):
        if wrong not in text:
            raise ValueError(f"{name} does not say {wrong!r}: what was put right there is to be looked at again")
        text = text.replace(wrong, right) if wrong else right + text
    return text
