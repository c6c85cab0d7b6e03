"""y = gelu_tanh(x[:, :D]) * x[:, D:]: one tile of rows and columns per program.

gelu_tanh(h) = h/2 * (1 + tanh(u)), u = sqrt(2/pi) * (h + 0.044715 h^3): Hendrycks and Gimpel, "Gaussian Error Linear
Units", 2016, arXiv:1606.08415. It is computed as h * sigmoid(2u), the same function: 1 + tanh(u) cancels where tanh
nears -1, the sigmoid does not, and Triton has no tanh that every chip knows.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["T"])
def gelu_tanh_and_mul_kernel(x_ptr, y_ptr, T, D, x_stride, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    # One grid axis: the second and third are limited to 65535 blocks on some chips.
    column_tiles = tl.cdiv(D, BLOCK_D)
    row_tile = tl.program_id(0) // column_tiles
    column_tile = tl.program_id(0) % column_tiles
    rows = row_tile.to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)[:, None]
    columns = column_tile * BLOCK_D + tl.arange(0, BLOCK_D)[None, :]
    inside = (rows < T) & (columns < D)
    x_row = x_ptr + rows * x_stride
    hidden = tl.load(x_row + columns, mask=inside, other=0.0).to(tl.float32)
    gate = tl.load(x_row + D + columns, mask=inside, other=0.0).to(tl.float32)
    twice_u = 1.5957691216057308 * (hidden + 0.044715 * hidden * hidden * hidden)  # 2 * sqrt(2 / pi)
    y = hidden * tl.sigmoid(twice_u) * gate
    tl.store(y_ptr + rows * D + columns, y.to(y_ptr.dtype.element_ty), mask=inside)


def gelu_tanh_and_mul(x):
    T, D = x.shape[0], x.shape[1] // 2
    x = x if x.stride(1) == 1 else x.contiguous()
    y = torch.empty((T, D), dtype=x.dtype, device=x.device)
    # The tile keeps 2048 elements whatever the row length; few distinct tiles mean few compilations.
    block_d = 1024 if D > 128 else 128 if D > 8 else 8
    block_t = 2048 // block_d
    grid = (triton.cdiv(T, block_t) * triton.cdiv(D, block_d),)
    gelu_tanh_and_mul_kernel[grid](x, y, T, D, x.stride(0), BLOCK_T=block_t, BLOCK_D=block_d, num_warps=4)
    return y
