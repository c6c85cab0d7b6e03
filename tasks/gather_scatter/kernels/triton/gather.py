"""Outputs of which each element comes from few elements of the inputs, found by its place alone.

A device function for each operator says which; one kernel and one launch serve all. An output is seen as a matrix whose
rows are all its dimensions but the last, or as the operator finds convenient. ``at`` holds what the operator's function
reads: pointers, strides and sizes. Where an output takes sums, they are of float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _embedding(at, row, column, inside):
    weight, stride, ids = at
    source = tl.load(ids + row, mask=inside, other=0)
    return tl.load(weight + source * stride + column, mask=inside, other=0)


@triton.jit
def _index(at, row, column, inside):
    x, stride, columns = at
    source = tl.load(columns + column, mask=inside, other=0)
    return tl.load(x + row * stride + source, mask=inside, other=0)


@triton.jit
def _gather(at, row, column, inside):
    x, stride, index, index_stride = at
    source = tl.load(index + row * index_stride + column, mask=inside, other=0)
    return tl.load(x + row * stride + source, mask=inside, other=0)


@triton.jit
def _cat(at, row, column, inside):
    x, x_stride, N, y, y_stride = at
    first = column < N
    left = tl.load(x + row * x_stride + column, mask=inside & first, other=0)
    right = tl.load(y + row * y_stride + column - N, mask=inside & (column >= N), other=0)
    return tl.where(first, left, right)


@triton.jit
def _stack(at, row, column, inside):
    x, x_stride, y, y_stride = at
    even = column % 2 == 0
    first = tl.load(x + row * x_stride + column // 2, mask=inside & even, other=0)
    second = tl.load(y + row * y_stride + column // 2, mask=inside & (column % 2 == 1), other=0)
    return tl.where(even, first, second)


@triton.jit
def _rot90(at, row, column, inside):
    # Row i and column j of an image of the output are the corner plus i and j steps in the input, either way.
    x, corner, image_stride, row_step, column_step, height = at
    place = corner + row // height * image_stride + row % height * row_step + column.to(tl.int64) * column_step
    return tl.load(x + place, mask=inside, other=0)


@triton.jit
def _select_backward(at, row, column, inside):
    grad, stride, size, index = at
    return tl.load(grad + row // size * stride + column, mask=inside & (row % size == index), other=0)


@triton.jit
def _im2col(at, row, column, inside):
    x, strides, C, H, W, window, width = at
    image_stride, channel_stride, row_stride = strides
    K, dilation, padding, stride = window
    channel = row // (K * K)  # of all images
    y = column // width * stride - padding + row // K % K * dilation
    z = column % width * stride - padding + row % K * dilation
    held = inside & (y >= 0) & (y < H) & (z >= 0) & (z < W)
    place = channel // C * image_stride + channel % C * channel_stride + y * row_stride + z
    return tl.load(x + place, mask=held, other=0)


@triton.jit
def _upsample_nearest2d_backward(at, row, column, inside):
    grad, strides, C, H, SCALE = at
    image_stride, channel_stride, row_stride = strides
    channel = row // H
    corner = channel // C * image_stride + channel % C * channel_stride + row % H * SCALE * row_stride + column * SCALE
    total = tl.zeros(inside.shape, tl.float32)
    for i in range(SCALE):
        for j in range(SCALE):
            total += tl.load(grad + corner + i * row_stride + j, mask=inside, other=0).to(tl.float32)
    return total


@triton.jit
def _reflection_pad1d_backward(at, row, column, inside):
    # An element is seen at its own place, and in a mirror at either end: N - 1 is the other's axis.
    grad, stride, N, left, right = at
    here = grad + row * stride + left
    total = tl.load(here + column, mask=inside, other=0).to(tl.float32)
    before = inside & (column >= 1) & (column <= left)
    total += tl.load(here - column, mask=before, other=0).to(tl.float32)
    after = inside & (column <= N - 2) & (column >= N - 1 - right)
    return total + tl.load(here + 2 * (N - 1) - column, mask=after, other=0).to(tl.float32)


@triton.jit
def _centre(position, size, ALIGN_CORNERS: tl.constexpr):
    """Return where a pixel lies between -1 and 1, which are the centres of the outermost ones or their edges."""
    if ALIGN_CORNERS:
        return 2.0 * position / (size - 1) - 1.0
    return (2.0 * position + 1.0) / size - 1.0


@triton.jit
def _affine(at, row, column, inside, ALIGN_CORNERS: tl.constexpr):
    theta, image_stride, row_stride, H, W = at
    line = theta + row // H * image_stride + column % 2 * row_stride
    x = _centre(column // 2, W, ALIGN_CORNERS)
    y = _centre(row % H, H, ALIGN_CORNERS)
    a = tl.load(line, mask=inside, other=0).to(tl.float32)
    b = tl.load(line + 1, mask=inside, other=0).to(tl.float32)
    return a * x + b * y + tl.load(line + 2, mask=inside, other=0).to(tl.float32)


@triton.jit
def _affine_between_centres(at, row, column, inside):
    return _affine(at, row, column, inside, True)


@triton.jit
def _affine_between_edges(at, row, column, inside):
    return _affine(at, row, column, inside, False)


@triton.jit(do_not_specialize=["M"])
def gather_kernel(y_ptr, M, N, at, FUNCTION: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    # One grid axis: the second and third are limited to 65535 blocks on some chips.
    column_tiles = tl.cdiv(N, BLOCK_N)
    row_tile = tl.program_id(0) // column_tiles
    column_tile = tl.program_id(0) % column_tiles
    row = row_tile.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    column = column_tile * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    inside = (row < M) & (column < N)
    y = FUNCTION(at, row, column, inside)
    tl.store(y_ptr + row * N + column, y.to(y_ptr.dtype.element_ty), mask=inside)


def _filled(function, like, size, at, columns=None):
    """Return a tensor of a size, its elements by ``function``, seen as a matrix of so many columns (the last size)."""
    y = torch.empty(size, dtype=like.dtype, device=like.device)
    N = size[-1] if columns is None else columns
    M = y.numel() // max(N, 1)
    # The tile keeps 1024 elements whatever the row length; few distinct tiles mean few compilations.
    block_n = 512 if N > 128 else 128 if N > 8 else 8
    block_m = 1024 // block_n
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    gather_kernel[grid](y, M, N, at, FUNCTION=function, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=4)
    return y


def _rows(x):
    """Return a tensor whose last dimension is without gaps."""
    return x if x.stride(-1) == 1 else x.contiguous()


def embedding(weight, ids):
    weight = _rows(weight)
    return _filled(_embedding, weight, (ids.shape[0], weight.shape[1]), (weight, weight.stride(0), _rows(ids)))


def index_select(x, index):
    return embedding(x, index)


def index(x, columns):
    x = _rows(x)
    return _filled(_index, x, (x.shape[0], columns.shape[0]), (x, x.stride(0), _rows(columns)))


def gather(x, index):
    x, index = _rows(x), _rows(index)
    return _filled(_gather, x, index.shape, (x, x.stride(0), index, index.stride(0)))


def cat(x, y):
    x, y = _rows(x), _rows(y)
    M, N = x.shape
    return _filled(_cat, x, (M, N + y.shape[1]), (x, x.stride(0), N, y, y.stride(0)))


def stack(x, y):
    x, y = _rows(x), _rows(y)
    M, N = x.shape
    return _filled(_stack, x, (M, N, 2), (x, x.stride(0), y, y.stride(0)), columns=2 * N)


def rot90(x, k):
    B, M, N = x.shape
    image, down, right = x.stride()
    # Rows of the output run along the input's columns from the last one, its rows from the last one, or its columns.
    height, width, corner, row_step, column_step = {
        1: (N, M, (N - 1) * right, -right, down),
        2: (M, N, (M - 1) * down + (N - 1) * right, -down, -right),
        3: (N, M, (M - 1) * down, right, -down),
    }[k]
    return _filled(_rot90, x, (B, height, width), (x, corner, image, row_step, column_step, height))


def select_backward(grad, size, index):
    grad = _rows(grad)
    M, N = grad.shape
    return _filled(_select_backward, grad, (M, size, N), (grad, grad.stride(0), size, index))


def im2col(x, kernel, dilation, padding, stride):
    x = _rows(x)
    B, C, H, W = x.shape
    height, width = ((length + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1 for length in (H, W))
    window = (kernel, dilation, padding, stride)
    return _filled(_im2col, x, (B, C * kernel * kernel, height * width), (x, x.stride()[:3], C, H, W, window, width))


def upsample_nearest2d_backward(grad, scale):
    grad = _rows(grad)
    B, C, H, W = grad.shape
    size = (B, C, H // scale, W // scale)
    return _filled(_upsample_nearest2d_backward, grad, size, (grad, grad.stride()[:3], C, size[2], scale))


def reflection_pad1d_backward(grad, left, right):
    grad = _rows(grad)
    M, N = grad.shape[0], grad.shape[1] - left - right
    return _filled(_reflection_pad1d_backward, grad, (M, N), (grad, grad.stride(0), N, left, right))


def affine_grid_generator(theta, height, width, align_corners):
    theta = _rows(theta)
    function = _affine_between_centres if align_corners else _affine_between_edges
    size = (theta.shape[0], height, width, 2)
    return _filled(function, theta, size, (theta, theta.stride(0), theta.stride(1), height, width), columns=2 * width)
