"""Operators as kernels compute them, each in several honest orders, and in arithmetic that is too narrow.

Everything runs in PyTorch on the CPU; what matters is the order of operations and where a value is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F

Sum = Callable[[torch.Tensor], torch.Tensor]


def pairwise(x):
    size = 1 << (x.shape[-1] - 1).bit_length()
    x = F.pad(x, (0, size - x.shape[-1]))
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        x = x[..., :half] + x[..., half:]
    return x[..., 0]


def sequential(x):
    total = torch.zeros_like(x[..., 0])
    for index in range(x.shape[-1]):
        total = total + x[..., index]
    return total


def blocked(x, block=64):
    """One accumulator for each lane, then a tree over lanes: what most reductions do."""
    size = -(-x.shape[-1] // block) * block
    lanes = F.pad(x, (0, size - x.shape[-1])).unflatten(-1, (-1, block))
    return pairwise(sequential(lanes.transpose(-1, -2)))


SUMS: dict[str, Sum] = {"pairwise": pairwise, "sequential": sequential, "blocked": blocked}


def exp_by_base_2(x):
    return torch.exp2(x * 1.4426950408889634)


def row_sum(add: Sum):
    return lambda x: add(x.float()).to(x.dtype)


def softmax(add: Sum, exp=torch.exp):
    def kernel(x):
        wide = x.float()
        powers = exp(wide - wide.amax(-1, keepdim=True))
        return (powers / add(powers).unsqueeze(-1)).to(x.dtype)

    return kernel


def online_softmax(x, block=64):
    wide = x.float()
    top = torch.full_like(wide[..., :1], -math.inf)
    total = torch.zeros_like(top)
    for part in wide.split(block, -1):
        new = torch.maximum(top, part.amax(-1, keepdim=True))
        total = total * torch.exp(top - new) + pairwise(torch.exp(part - new)).unsqueeze(-1)
        top = new
    return (torch.exp(wide - top) / total).to(x.dtype)


def layer_norm(add: Sum):
    def kernel(x, weight, bias):
        wide, size = x.float(), x.shape[-1]
        centred = wide - (add(wide) / size).unsqueeze(-1)
        variance = (add(centred * centred) / size).unsqueeze(-1)
        return (centred * torch.rsqrt(variance + 1e-5) * weight.float() + bias.float()).to(x.dtype)

    return kernel


def welford_layer_norm(x, weight, bias):
    wide = x.float()
    mean, square = torch.zeros_like(wide[..., 0]), torch.zeros_like(wide[..., 0])
    for index in range(wide.shape[-1]):
        step = wide[..., index] - mean
        mean = mean + step / (index + 1)
        square = square + step * (wide[..., index] - mean)
    scale = torch.rsqrt(square / wide.shape[-1] + 1e-5)
    return ((wide - mean[..., None]) * scale[..., None] * weight.float() + bias.float()).to(x.dtype)


def rms_norm(add: Sum, round_between=False):
    def kernel(x, weight):
        wide = x.float()
        normal = wide * torch.rsqrt(add(wide * wide) / wide.shape[-1] + 1e-6).unsqueeze(-1)
        if round_between:  # as published models do: back to the dtype before the weight
            normal = normal.to(x.dtype).float()
        return (normal * weight.float()).to(x.dtype)

    return kernel


def matmul(step=1):
    """Accumulate over K in steps: 1 is a chain of multiply-adds, 32 a chain of tile products."""

    def kernel(a, b):
        wide_a, wide_b = a.float(), b.float()
        total = torch.zeros(a.shape[0], b.shape[1])
        for k in range(0, a.shape[1], step):
            total = total + wide_a[:, k : k + step] @ wide_b[k : k + step]
        return total.to(a.dtype)

    return kernel


def split_k_matmul(a, b, parts=4):
    size = -(-a.shape[1] // parts)
    pieces = [matmul(16)(a[:, k : k + size].float(), b[k : k + size].float()) for k in range(0, a.shape[1], size)]
    return sequential(torch.stack(pieces, -1)).to(a.dtype)


def cumsum_by_blocks(x, block=64):
    wide = x.float()
    size = -(-wide.shape[-1] // block) * block
    scan = F.pad(wide, (0, size - wide.shape[-1])).unflatten(-1, (-1, block))
    shift = 1
    while shift < block:  # Hillis and Steele
        scan = torch.cat([scan[..., :shift], scan[..., shift:] + scan[..., :-shift]], -1)
        shift *= 2
    carry, parts = torch.zeros_like(scan[..., 0, 0]), []
    for index in range(scan.shape[-2]):
        parts.append(scan[..., index, :] + carry[..., None])
        carry = carry + scan[..., index, -1]
    return torch.cat(parts, -1)[..., : wide.shape[-1]].to(x.dtype)


def sequential_cumsum(x, dtype=torch.float32):
    total, parts = torch.zeros_like(x[..., 0], dtype=dtype), []
    for index in range(x.shape[-1]):
        total = total + x[..., index].to(dtype)
        parts.append(total)
    return torch.stack(parts, -1).to(x.dtype)


def cross_entropy(add: Sum):
    def kernel(logits, target):
        wide = logits.float()
        top = wide.amax(-1)
        total = top + torch.log(add(torch.exp(wide - top[:, None])))
        return (total - wide.gather(1, target[:, None])[:, 0]).to(logits.dtype)

    return kernel


def flash_attention(block=32, *, round_weights=True, exp=torch.exp):
    def kernel(q, k, v):
        length, scale = q.shape[-2], q.shape[-1] ** -0.5
        wide_q, wide_k, wide_v = q.float(), k.float(), v.float()
        top = torch.full((*q.shape[:-1], 1), -math.inf)
        total, result = torch.zeros_like(top), torch.zeros_like(wide_q)
        for start in range(0, length, block):
            stop = min(start + block, length)
            scores = wide_q @ wide_k[..., start:stop, :].transpose(-1, -2) * scale
            ahead = torch.arange(length)[:, None] < torch.arange(start, stop)
            scores = scores.masked_fill(ahead, -math.inf)
            new = torch.maximum(top, scores.amax(-1, keepdim=True))
            weights, fade = exp(scores - new), exp(top - new)
            total = total * fade + weights.sum(-1, keepdim=True)
            if round_weights:  # tensor cores take them at the inputs' dtype
                weights = weights.to(q.dtype).float()
            result, top = result * fade + weights @ wide_v[..., start:stop, :], new
        return (result / total).to(q.dtype)

    return kernel


def gelu_by_sigmoid(x, gate):
    wide = x.float()
    inner = 0.7978845608028654 * (wide + 0.044715 * wide * wide * wide)
    return (wide * torch.sigmoid(2 * inner) * gate.float()).to(x.dtype)


def gelu_by_tanh_of_exp(x, gate):
    """Loses digits by cancellation where x is well below zero, as many kernels do."""
    wide = x.float()
    inner = 0.7978845608028654 * (wide + 0.044715 * wide**3)
    tanh = 1 - 2 / (torch.exp(2 * inner) + 1)
    return (0.5 * wide * (1 + tanh) * gate.float()).to(x.dtype)


def add(x, y):
    return (x.float() + y.float()).to(x.dtype)


def half_of(x):
    return torch.bfloat16 if x.dtype is torch.bfloat16 else torch.float16


def half_matmul(a, b):
    narrow = half_of(a)
    a_half, b_half = a.to(narrow), b.to(narrow)
    total = torch.zeros(a.shape[0], b.shape[1], dtype=narrow)
    for k in range(a.shape[1]):
        total = total + a_half[:, k : k + 1] * b_half[k : k + 1]
    return total.to(a.dtype)


def half_sum(x):
    return sequential(x.to(half_of(x))).to(x.dtype)


def to_tf32(x):
    """Round float32 to ten explicit significand bits, ties away from zero."""
    return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def tf32_matmul(a, b):
    return to_tf32(a) @ to_tf32(b)


def bfloat16_matmul(a, b):
    return a.bfloat16().float() @ b.bfloat16().float()


REFERENCES = {
    "sum": lambda x: x.sum(-1),
    "softmax": lambda x: torch.softmax(x, -1),
    "layer_norm": lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b, 1e-5),
    "rms_norm": lambda x, w: F.rms_norm(x, (x.shape[-1],), w, 1e-6),
    "matmul": lambda x, y: x @ y,
    "cumsum": lambda x: torch.cumsum(x, -1),
    "cross_entropy": lambda x, t: F.cross_entropy(x, t, reduction="none"),
    "attention": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    "gelu": lambda x, y: F.gelu(x, approximate="tanh") * y,
    "add": lambda x, y: x + y,
}


def inputs(name, rng, m, n):
    """Return the arguments of one operator, for rows of ``n``."""
    heads = (1, 2, min(n, 150), 64)
    return {
        "layer_norm": lambda: (rng.tensor(m, n), rng.tensor(n), rng.tensor(n)),
        "rms_norm": lambda: (rng.tensor(m, n), rng.tensor(n)),
        "matmul": lambda: (rng.tensor(m, n), rng.tensor(n, 48)),
        "cross_entropy": lambda: (rng.tensor(m, n), rng.integers(0, n, m)),
        "attention": lambda: (rng.tensor(*heads), rng.tensor(*heads), rng.tensor(*heads)),
        "gelu": lambda: (rng.tensor(m, n), rng.tensor(m, n)),
        "add": lambda: (rng.tensor(m, n), rng.tensor(m, n)),
    }.get(name, lambda: (rng.tensor(m, n),))()


HONEST = {
    **{f"sum/{name}": row_sum(total) for name, total in SUMS.items()},
    **{f"softmax/{name}": softmax(total) for name, total in SUMS.items()},
    "softmax/base 2": softmax(blocked, exp_by_base_2),
    "softmax/online": online_softmax,
    **{f"layer_norm/{name}": layer_norm(total) for name, total in SUMS.items()},
    "layer_norm/welford": welford_layer_norm,
    **{f"rms_norm/{name}": rms_norm(total) for name, total in SUMS.items()},
    "rms_norm/rounded between": rms_norm(blocked, round_between=True),
    "matmul/chain": matmul(),
    "matmul/tiles": matmul(32),
    "matmul/split k": split_k_matmul,
    "cumsum/blocks": cumsum_by_blocks,
    "cumsum/sequential": sequential_cumsum,
    **{f"cross_entropy/{name}": cross_entropy(total) for name, total in SUMS.items()},
    "attention/flash": flash_attention(),
    "attention/flash, whole weights": flash_attention(round_weights=False),
    "attention/flash, base 2": flash_attention(exp=exp_by_base_2),
    "gelu/sigmoid": gelu_by_sigmoid,
    "gelu/tanh of exp": gelu_by_tanh_of_exp,
    "add/float32": add,
}
