"""q = x / scale in float8 e4m3, saturated, with one scale for all: the tensor as one list of elements.

The eight bits are composed by integer arithmetic, because chips differ in the flavour that they convert to, and many
convert to none. Both flavours have four bits of exponent and three of mantissa; they differ in the exponent's bias (7
or 8), and in what they make of -0.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def e4m3_bits(x, BIAS: tl.constexpr, SIGNED_ZERO: tl.constexpr):
    """Return the code of x, already within range, rounded to nearest even."""
    size = tl.abs(x)
    bits = size.to(tl.int32, bitcast=True)
    # A float32 has 20 bits of mantissa more and a bias of 127; a mantissa that rounds up carries into the exponent.
    normal = ((bits + 0x7FFFF + ((bits >> 20) & 1)) >> 20) - (127 - BIAS) * 8
    # Below the smallest normal number all steps are 2^-(BIAS + 2). In [2^23, 2^24) a float32's step is one.
    subnormal = (size * (1 << (BIAS + 2)) + 8388608.0).to(tl.int32, bitcast=True) - 0x4B000000
    code = tl.where(size * (1 << (BIAS - 1)) < 1.0, subnormal, normal)
    negative = x.to(tl.int32, bitcast=True) < 0
    if not SIGNED_ZERO:
        negative = negative & (code != 0)  # there, the sign bit alone means NaN
    return tl.where(negative, code | 0x80, code).to(tl.uint8)


@triton.jit(do_not_specialize=["total"])
def fp8_quantise_kernel(
    x_ptr, scale_ptr, q_ptr, limit, total, N, x_stride,
    BIAS: tl.constexpr, SIGNED_ZERO: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    elements = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = elements < total
    x = tl.load(x_ptr + elements // N * x_stride + elements % N, mask=inside, other=0.0).to(tl.float32)
    scaled = tl.minimum(tl.maximum(x / tl.load(scale_ptr), -limit), limit)
    tl.store(q_ptr + elements, e4m3_bits(scaled, BIAS, SIGNED_ZERO), mask=inside)


def fp8_quantise(x, scale, q_like):
    M, N = x.shape
    x = x if x.stride(1) == 1 else x.contiguous()
    q = torch.empty((M, N), dtype=q_like.dtype, device=x.device)
    signed_zero = q.dtype == torch.float8_e4m3fn
    fp8_quantise_kernel[(triton.cdiv(M * N, 4096),)](
        x, scale, q.view(torch.uint8), torch.finfo(q.dtype).max, M * N, N, x.stride(0),
        BIAS=7 if signed_zero else 8, SIGNED_ZERO=signed_zero, BLOCK=4096, num_warps=8,
    )  # fmt: skip
    return q
