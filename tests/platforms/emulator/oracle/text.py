"""The text of the pseudo-code, by instruction, with what has to be said about it."""

from __future__ import annotations

from functools import cache

try:
    from tinygrad.runtime.autogen.amd.cdna.str_pcode import PCODE
except ImportError:
    PCODE = {}

AVAILABLE = bool(PCODE)

_VCC = (("VCC = 0x0LL;", ""), ("VCC = 0x1LL", "VCC.u64[laneId] = 1'1U"))
_RIGHT: dict[str, tuple[tuple[str, str], ...]] = {
    # One lane's bit is meant, the result is the operand unless said otherwise, and the reciprocal of a float32 is
    # never a denormal float64.
    "V_DIV_SCALE_F32": (
        *_VCC,
        ("1.0 / 64'F(S1.f32) == DENORM.f64", "1.0F / S1.f32 == DENORM.f32"),
        ("", "D0.f32 = S0.f32;\n"),
    ),
    "V_DIV_SCALE_F64": (*_VCC, ("", "D0.f64 = S0.f64;\n")),
    # The scale of v_div_scale has to be undone in the direction that it was applied in.
    "V_DIV_FMAS_F32": (("2.0F ** 32", "2.0F ** (exponent(S2.f32) > 127 ? 64 : -64)"),),
    "V_DIV_FMAS_F64": (("2.0 ** 64", "2.0 ** (exponent(S2.f64) > 1023 ? 128 : -128)"),),
    # What was meant by the destination.
    **dict.fromkeys(("V_CVT_PK_FP8_F32", "V_CVT_PK_BF8_F32"), (("VGPR[laneId][VDST.u32]", "D0"),)),
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
    text = _texts()[name.upper()]
    for wrong, right in _RIGHT.get(name.upper(), ()):
        text = text.replace(wrong, right) if wrong else right + text
    return text
