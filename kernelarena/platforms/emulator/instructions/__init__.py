"""What instructions do: pure functions over arrays, which know neither waves nor registers.

The contract between a table and the machine that runs it
---------------------------------------------------------
An entry names a mnemonic without its encoding (``v_add_f32`` stands for ``_e32``, ``_e64``, ``_dpp`` and ``_sdwa``), a
signature, and a function (``vector``, ``scalar`` and ``matrix`` are
:mod:`~kernelarena.platforms.emulator.instructions.registry`'s)::

    @vector("v_fma_f32", "f32 f32 f32 -> f32")
    def fma(a, b, c): ...

    vector("v_add_u32", "u32 u32 -> u32")(np.add)

Sources come left to right as the assembly text has them, results go left to right to the destinations. The function
gets arrays that broadcast to ``[waves, 64]`` (``[waves]`` for ``scalar``) in the dtype of their kind, and returns an
array of the result kind's dtype, or a tuple where there are several results. It never writes into what it is given.

========== ===================== ==============================================================================
kind       dtype                 what
========== ===================== ==============================================================================
b32 u32    uint32                a register (``b32``: bits; float modifiers flip its bit 31, as v_cndmask_b32 allows)
i32        int32
f32        float32
b64 u64    uint64                a pair of registers
i64        int64
f64        float64
u16 i16    uint16 int16          half a register (the high one where op_sel says so)
f16        float16
bf16       uint16                raw; float modifiers flip bit 15
u16lo etc. as above              as a result only: the other half of the register is kept (by default it is zeroed)
v2f16 …    float16 …, ``[…, 2]`` v2f16 v2bf16 v2u16 v2i16: the halves of a register; element-wise functions just work
v2f32      float32, ``[…, 2]``   a pair of registers; also v2u32 v2i32
v4i8 v4u8  (u)int8, ``[…, 4]``   the bytes of a register
mix        float32               v_fma_mix's source: a float32, or one of two float16 halves, already widened
mask       bool                  lanes' bits in VCC or a pair of scalar registers
scc        bool                  scalar: the condition code, explicit in the signature on either side
vcc        bool                  a source that the text does not name (v_div_fmas)
dst        of the first result   a source: what the destination held (v_fmac, v_mov with partial writes)
op_sel     tuple[int, ...]       a source: the bits of op_sel as written (four of them), for those that use them oddly
========== ===================== ==============================================================================

A keyword parameter of the function is given the modifier of that name (``bitop3``), if the text has it.

The machine does registers, EXEC, literals and inline constants by kind, neg/abs, omod, clamp, op_sel and op_sel_hi,
DPP, SDWA, denormal flushing of declared float kinds (on sources and results, by the MODE register's two fields),
validity, and everything else that is the same for all. ``v_cmpx_*`` follows from ``v_cmp_*``. An entry that differs by
chip is given once for each, with ``targets=("gfx942",)``; without, it is for all.

Matrix instructions get whole registers, ``uint32[waves, 64, registers]`` each (EXEC does not matter to them)::

    @matrix("v_mfma_f32_32x32x8_f16")
    def mfma(a, b, c, *, cbsz=0, abid=0, blgp=0): -> uint32[waves, 64, registers of the destination]

Further sources (scales) come positionally as the text has them. Modifiers that the text does not have are not passed,
and a modifier that the function has no parameter for is unsupported.

Floating exceptions never raise: the machine runs under ``numpy.errstate(all="ignore")``.
"""

from kernelarena.platforms.emulator.instructions.registry import lookup, mnemonics

__all__ = ["lookup", "mnemonics"]
