"""LayerNorm forward for CUDA; other builds of PyTorch take the library path."""

import torch
import triton
import triton.language as tl


@triton.jit
def _ln(x, y, w, b, sx, sy, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    m = c < N
    v = tl.load(x + row * sx + c, mask=m, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / N
    d = tl.where(m, v - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(d * d, 0) / N + eps)
    out = d * rstd * tl.load(w + c, mask=m, other=0.0).to(tl.float32) + tl.load(b + c, mask=m, other=0.0).to(tl.float32)
    tl.store(y + row * sy + c, out.to(y.dtype.element_ty), mask=m)


def layer_norm(x, weight, bias, eps):
    if torch.version.hip is not None:
        # never tested there
        return torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias, eps)
    M, N = x.shape
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    _ln[(M,)](x, y, weight, bias, x.stride(0), y.stride(0), N, eps, BLOCK=triton.next_power_of_2(N), num_warps=8)
    return y
