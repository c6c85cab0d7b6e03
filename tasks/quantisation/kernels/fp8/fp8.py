"""Quantisation to float8 e4m3, by one given scale and by a scale for each group that is found on the way.

The eight bits are composed by integer arithmetic, because chips differ in the flavour that they convert to, and many
convert to none. Both flavours have four bits of exponent and three of mantissa; they differ in the exponent's bias (7
or 8), and in what they make of -0.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def e4m3_bits(x, BIAS: tl.constexpr):
    """Return the code of x, already within range, rounded to nearest even."""
    size = tl.abs(x)
    bits = size.to(tl.int32, bitcast=True)
    # A float32 has 20 bits of mantissa more and a bias of 127; a mantissa that rounds up carries into the exponent.
    normal = ((bits + 0x7FFFF + ((bits >> 20) & 1)) >> 20) - (127 - BIAS) * 8
    # Below the smallest normal number all steps are 2^-(BIAS + 2). In [2^23, 2^24) a float32's step is one.
    subnormal = (size * (1 << (BIAS + 2)) + 8388608.0).to(tl.int32, bitcast=True) - 0x4B000000
    code = tl.where(size * (1 << (BIAS - 1)) < 1.0, subnormal, normal)
    negative = x.to(tl.int32, bitcast=True) < 0
    if BIAS == 8:
        negative = negative & (code != 0)  # there, the sign bit alone means NaN
    return tl.where(negative, code | 0x80, code).to(tl.uint8)


@triton.jit(do_not_specialize=["total"])
def fp8_quantise_kernel(x_ptr, scale_ptr, q_ptr, limit, total, N, x_stride, BIAS: tl.constexpr, BLOCK: tl.constexpr):
    elements = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = elements < total
    x = tl.load(x_ptr + elements // N * x_stride + elements % N, mask=inside, other=0.0).to(tl.float32)
    scaled = tl.minimum(tl.maximum(x / tl.load(scale_ptr), -limit), limit)
    tl.store(q_ptr + elements, e4m3_bits(scaled, BIAS), mask=inside)


@triton.jit(do_not_specialize=["groups"])
def fp8_quantise_groups_kernel(
    x_ptr, q_ptr, scale_ptr, limit, smallest, groups, row_groups, x_stride,
    BIAS: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    group = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[:, None]
    lanes = tl.arange(0, GROUP)[None, :]
    inside = group < groups
    source = x_ptr + group // row_groups * x_stride + group % row_groups * GROUP + lanes
    x = tl.load(source, mask=inside, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x), axis=1, keep_dims=True), smallest) / limit
    scaled = tl.minimum(tl.maximum(x / scale, -limit), limit)
    tl.store(scale_ptr + group, scale, mask=inside)
    tl.store(q_ptr + group * GROUP + lanes, e4m3_bits(scaled, BIAS), mask=inside)


def bias_of(dtype):
    """Return the exponent's bias of a flavour of e4m3."""
    return 7 if dtype == torch.float8_e4m3fn else 8


def fp8_quantise(x, scale, q_like):
    M, N = x.shape
    x = x if x.stride(1) == 1 else x.contiguous()
    q = torch.empty((M, N), dtype=q_like.dtype, device=x.device)
    fp8_quantise_kernel[(triton.cdiv(M * N, 4096),)](
        x, scale, q.view(torch.uint8), torch.finfo(q.dtype).max, M * N, N, x.stride(0),
        BIAS=bias_of(q.dtype), BLOCK=4096, num_warps=8,
    )  # fmt: skip
    return q


def fp8_quantise_groups(x, group, q_like):
    M, N = x.shape
    x = x if x.stride(1) == 1 else x.contiguous()
    q = torch.empty((M, N), dtype=q_like.dtype, device=x.device)
    scale = torch.empty((M, N // group), dtype=torch.float32, device=x.device)
    block = 2048 // group
    fp8_quantise_groups_kernel[(triton.cdiv(scale.numel(), block),)](
        x, q.view(torch.uint8), scale, torch.finfo(q.dtype).max, 1e-10, scale.numel(), N // group, x.stride(0),
        BIAS=bias_of(q.dtype), GROUP=group, BLOCK=block, num_warps=4,
    )  # fmt: skip
    return q, scale
