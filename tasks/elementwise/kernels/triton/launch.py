"""One kernel and one launch for every operator that takes each element by itself: tensors and numbers in, one out.

An operator is a device function of as many elements as it has tensors, and as many numbers. Elements of floating-point
tensors are given to it in float32, so that half precision is rounded once; integers come as they are.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def elementwise_kernel(
    z_ptr, operands, numbers, z_strides, strides, M, N,
    FUNCTION: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    # One grid axis: the second and third are limited to 65535 blocks on some chips.
    column_tiles = tl.cdiv(N, BLOCK_N)
    row_tile = tl.program_id(0) // column_tiles
    column_tile = tl.program_id(0) % column_tiles
    rows = row_tile.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = column_tile * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    inside = (rows < M) & (columns < N)
    elements = ()
    for i in tl.static_range(len(operands)):
        element = tl.load(operands[i] + rows * strides[i][0] + columns * strides[i][1], mask=inside, other=0)
        if element.dtype.is_floating():
            element = element.to(tl.float32)
        elements = elements + (element,)  # noqa: RUF005 - the only way that Triton compiles
    z = FUNCTION(*elements, *numbers)
    tl.store(z_ptr + rows * z_strides[0] + columns * z_strides[1], z.to(z_ptr.dtype.element_ty), mask=inside)


def apply(function, z, operands, numbers=()):
    """Write ``function(*operands, *numbers)`` to ``z``, against which the operands broadcast, and return ``z``."""
    M, N = z.shape
    operands = tuple(operand.expand(M, N) for operand in operands)
    strides = tuple(operand.stride() for operand in operands)
    # The tile keeps 4096 elements whatever the row length; few distinct tiles mean few compilations.
    block_n = 1024 if N > 128 else 128 if N > 8 else 8
    block_m = 4096 // block_n
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    elementwise_kernel[grid](
        z, operands, numbers, z.stride(), strides, M, N,
        FUNCTION=function, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=4,
    )  # fmt: skip
    return z


def like(x, dtype=None):
    """Return room for an output of the size of ``x``, without gaps, and of its dtype unless another is given."""
    return torch.empty(x.shape, dtype=dtype or x.dtype, device=x.device)
