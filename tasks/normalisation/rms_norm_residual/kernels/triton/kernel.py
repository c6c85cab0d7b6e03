"""hidden = x + residual; y = hidden / sqrt(mean(hidden^2) + eps) * weight.

Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019, arXiv:1910.07467. The second pass adds the two inputs
again, from the cache, rather than reading back what the first has written: in half precision the sum is then rounded
once, on its way out, and never before it is normalised.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["T"])
def rms_norm_residual_kernel(
    x_ptr, residual_ptr, weight_ptr, y_ptr, hidden_ptr, eps, T, D, x_stride, residual_stride,
    BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)[:, None]
    lanes = tl.arange(0, BLOCK_D)[None, :]
    x_row = x_ptr + rows * x_stride
    residual_row = residual_ptr + rows * residual_stride
    out_row = rows * D

    squares = tl.zeros((BLOCK_T, BLOCK_D), tl.float32)
    for start in range(0, D, BLOCK_D):
        columns = start + lanes
        inside = (rows < T) & (columns < D)
        x = tl.load(x_row + columns, mask=inside, other=0.0).to(tl.float32)
        hidden = x + tl.load(residual_row + columns, mask=inside, other=0.0).to(tl.float32)
        tl.store(hidden_ptr + out_row + columns, hidden.to(hidden_ptr.dtype.element_ty), mask=inside)
        squares += hidden * hidden
    inverse = 1.0 / tl.sqrt(tl.sum(squares, axis=1, keep_dims=True) / D + eps)

    for start in range(0, D, BLOCK_D):
        columns = start + lanes
        inside = (rows < T) & (columns < D)
        x = tl.load(x_row + columns, mask=inside, other=0.0).to(tl.float32)
        hidden = x + tl.load(residual_row + columns, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + columns, mask=columns < D, other=0.0).to(tl.float32)
        y = hidden * inverse * weight
        tl.store(y_ptr + out_row + columns, y.to(y_ptr.dtype.element_ty), mask=inside)


def rms_norm_residual(x, residual, weight, eps):
    T, D = x.shape
    x = x if x.stride(1) == 1 else x.contiguous()
    residual = residual if residual.stride(1) == 1 else residual.contiguous()
    weight = weight.contiguous()
    y = torch.empty((T, D), dtype=x.dtype, device=x.device)
    hidden = torch.empty((T, D), dtype=x.dtype, device=x.device)
    # The tile keeps 2048 elements whatever the row length; narrow tiles walk
    # along rows that would leave a wide one mostly empty. Few distinct tiles mean few compilations.
    block_d = 2048 if D >= 512 else 128 if D > 8 else 8
    block_t = 2048 // block_d
    grid = (triton.cdiv(T, block_t),)
    rms_norm_residual_kernel[grid](
        x, residual, weight, y, hidden, eps, T, D, x.stride(0), residual.stride(0),
        BLOCK_T=block_t, BLOCK_D=block_d, num_warps=8,
    )  # fmt: skip
    return y, hidden
