"""One tensor in, one of the same size out: a device function for each operator, one kernel and one launch for all.

Functions of floating-point tensors are given, and return, float32, so that half precision is rounded once. They use
nothing but what every backend of Triton has; what it lacks (asin, erfc, log1p, Bessel and zeta functions) is computed
by the series that is named.
"""

import math

import torch
import triton
import triton.language as tl

LN2 = tl.constexpr(math.log(2))
LOG10_2 = tl.constexpr(math.log10(2))
HALF_PI = tl.constexpr(math.pi / 2)
ONE_OVER_SQRT_2PI = tl.constexpr(1 / math.sqrt(2 * math.pi))


@triton.jit
def _log1p(u):
    # The rounding of 1 + u is made good by the factor u / ((1 + u) - 1): Higham, Accuracy and Stability, 1.14.1.
    w = 1.0 + u
    return tl.where(w == 1.0, u, tl.log(w) * (u / (w - 1.0)))


@triton.jit
def _acosh(x):
    t = x - 1.0
    near = _log1p(t + tl.sqrt(t * (t + 2.0)))
    return tl.where(x < 1e9, near, tl.log(x) + LN2)  # beyond, t * t would overflow


@triton.jit
def _asin(x):
    # The Taylor series where it is fast, up to 1/2, and asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)) beyond.
    a = tl.abs(x)
    outer = a > 0.5
    z = tl.where(outer, 0.5 * (1.0 - a), a * a)
    series = tl.full(x.shape, 1.0, tl.float32)
    for k in tl.static_range(10, 0, -1):
        series = 1.0 + z * ((2 * k - 1) * (2 * k - 1) / (2 * k * (2 * k + 1))) * series
    root = tl.where(outer, tl.sqrt(z), a)
    y = root * series
    y = tl.where(outer, HALF_PI - 2.0 * y, y)
    return tl.where(x < 0.0, -y, y)


@triton.jit
def _bitwise_not(x):
    return ~x


@triton.jit
def _cos(x):
    return tl.cos(x)


@triton.jit
def _cosh(x):
    a = tl.abs(x)
    e = tl.exp(a)
    # exp overflows a little before cosh does.
    return tl.where(a < 80.0, 0.5 * (e + 1.0 / e), tl.exp(a - LN2))


@triton.jit
def _erfc(x):
    # exp(a * a) erfc(a) / t is smooth in t = 2 / (a + 2), which maps [0, inf) onto (0, 1]: a Chebyshev fit of degree
    # 10, off by 8e-9. Unlike 1 - erf(x), it keeps its digits where erfc is small.
    a = tl.abs(x)
    t = 2.0 / (a + 2.0)
    y = 0.0453474949 * t - 0.24555908
    y = y * t + 0.516850304
    y = y * t - 0.482409635
    y = y * t + 0.151831997
    y = y * t - 0.0679306348
    y = y * t + 0.0958181209
    y = y * t + 0.174950399
    y = y * t + 0.246913366
    y = y * t + 0.282092876
    y = (y * t + 0.2820948) * t
    y = y * tl.exp(-a * a)
    return tl.where(x < 0.0, 2.0 - y, y)


@triton.jit
def _floor(x):
    return tl.floor(x)


@triton.jit
def _hardsigmoid(x):
    y = (x + 3.0) / 6.0
    return tl.where(y < 0.0, 0.0, tl.where(y > 1.0, 1.0, y))  # lets nan through, as min and max do not everywhere


@triton.jit
def _i0(x):
    # Abramowitz and Stegun: the power series (9.6.10) up to 16, the asymptotic one (9.7.1) beyond.
    a = tl.abs(x)
    q = tl.minimum(0.25 * a * a, 64.0)
    power = tl.full(x.shape, 1.0, tl.float32)
    for k in tl.static_range(26, 0, -1):
        power = 1.0 + q * (1.0 / (k * k)) * power
    r = 1.0 / tl.maximum(a, 16.0)
    tail = tl.full(x.shape, 1.0, tl.float32)
    for k in tl.static_range(7, 0, -1):
        tail = 1.0 + r * ((2 * k - 1) * (2 * k - 1) / (8 * k)) * tail
    half = tl.exp(0.5 * a)  # squared last, since exp overflows before the quotient does
    large = (half * (tl.sqrt(r) * tail * ONE_OVER_SQRT_2PI)) * half
    y = tl.where(a <= 16.0, power, large)
    return tl.where(x != x, x, y)


@triton.jit
def _log10(x):
    return tl.log2(x) * LOG10_2


@triton.jit
def _logit(x):
    return tl.log(x / (1.0 - x))


@triton.jit
def _mish(x):
    # tanh(log(1 + e)) = n / (n + 2) with e = exp(x), n = e (e + 2); it is 1 in float32 long before e overflows.
    e = tl.exp(tl.minimum(x, 20.0))
    n = e * (e + 2.0)
    y = x * (n / (n + 2.0))
    return tl.where(x == float("-inf"), float("nan"), y)  # as PyTorch has it: minus infinity times zero


@triton.jit
def _neg(x):
    return -x


@triton.jit
def _polygamma(x, N: tl.constexpr):
    # (-1)^(N + 1) N! zeta(N + 1, x), and the Hurwitz zeta function by Euler-Maclaurin summation (DLMF 25.11.28) after
    # its first eight terms.
    total = tl.zeros(x.shape, tl.float32)
    for k in tl.static_range(0, 8):
        power = x + k
        for _ in tl.static_range(N):
            power = power * (x + k)
        total += 1.0 / power
    w = x + 8.0
    r = 1.0 / w
    r2 = r * r
    S: tl.constexpr = N + 1
    bernoulli = r * S * (1.0 / 12 - r2 * ((S + 1) * (S + 2) / 720) * (1.0 - r2 * ((S + 3) * (S + 4) / 42)))
    rest = 0.5 + bernoulli
    lead = 1.0 / N + rest * r
    for _ in tl.static_range(N):
        lead = lead * r
    FACTORIAL: tl.constexpr = 1 if N == 1 else (2 if N == 2 else 6)
    SIGN: tl.constexpr = 1 if N % 2 == 1 else -1
    return (total + lead) * (SIGN * FACTORIAL)


@triton.jit
def _polygamma1(x):
    return _polygamma(x, 1)


@triton.jit
def _polygamma2(x):
    return _polygamma(x, 2)


@triton.jit
def _polygamma3(x):
    return _polygamma(x, 3)


@triton.jit
def _rsqrt(x):
    return 1.0 / tl.sqrt_rn(x)


@triton.jit
def _sgn(x):
    return tl.where(x > 0.0, 1.0, tl.where(x < 0.0, -1.0, 0.0))


@triton.jit
def _silu(x):
    return x / (1.0 + tl.exp(-x))


@triton.jit
def _sin(x):
    return tl.sin(x)


@triton.jit
def _special_entr(x):
    y = -x * tl.log(x)
    return tl.where(x > 0.0, y, tl.where(x == 0.0, 0.0, tl.where(x < 0.0, float("-inf"), x)))


@triton.jit
def _square(x):
    return x * x


@triton.jit(do_not_specialize=["M"])
def unary_kernel(x_ptr, y_ptr, M, N, x_stride, FUNCTION: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    # One grid axis: the second and third are limited to 65535 blocks on some chips.
    column_tiles = tl.cdiv(N, BLOCK_N)
    row_tile = tl.program_id(0) // column_tiles
    column_tile = tl.program_id(0) % column_tiles
    rows = row_tile.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = column_tile * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    inside = (rows < M) & (columns < N)
    x = tl.load(x_ptr + rows * x_stride + columns, mask=inside, other=0)
    if x.dtype.is_floating():
        x = x.to(tl.float32)
    tl.store(y_ptr + rows * N + columns, FUNCTION(x).to(y_ptr.dtype.element_ty), mask=inside)


def _apply(function, x):
    M, N = x.shape
    x = x if x.stride(1) == 1 else x.contiguous()
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    # The tile keeps 4096 elements whatever the row length; few distinct tiles mean few compilations.
    block_n = 1024 if N > 128 else 128 if N > 8 else 8
    block_m = 4096 // block_n
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    unary_kernel[grid](x, y, M, N, x.stride(0), FUNCTION=function, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=4)
    return y


def acosh(x):
    return _apply(_acosh, x)


def asin(x):
    return _apply(_asin, x)


def bitwise_not(x):
    return _apply(_bitwise_not, x)


def cos(x):
    return _apply(_cos, x)


def cosh(x):
    return _apply(_cosh, x)


def erfc(x):
    return _apply(_erfc, x)


def floor(x):
    return _apply(_floor, x)


def hardsigmoid(x):
    return _apply(_hardsigmoid, x)


def i0(x):
    return _apply(_i0, x)


def log10(x):
    return _apply(_log10, x)


def logit(x):
    return _apply(_logit, x)


def mish(x):
    return _apply(_mish, x)


def neg(x):
    return _apply(_neg, x)


def polygamma(x, n):
    return _apply({1: _polygamma1, 2: _polygamma2, 3: _polygamma3}[n], x)


def rsqrt(x):
    return _apply(_rsqrt, x)


def sgn(x):
    return _apply(_sgn, x)


def silu(x):
    return _apply(_silu, x)


def sin(x):
    return _apply(_sin, x)


def special_entr(x):
    return _apply(_special_entr, x)


def square(x):
    return _apply(_square, x)
