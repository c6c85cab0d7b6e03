"""Views are arithmetic on sizes, strides and the place of the first element.

Nothing here moves an element but for what needs rows without gaps, and for what reads one number.
"""

import torch


def t(x):
    return x.as_strided(x.shape[::-1], x.stride()[::-1])


def expand(x, columns):
    return x.as_strided((x.shape[0], columns), (x.stride(0), 0))


def expand_as(x, other):
    return x.as_strided(other.shape, (0, x.stride(0)))


def as_strided(x, frames, width, step):
    return x.as_strided((frames, width), (step * x.stride(0), x.stride(0)))


def narrow(x, start, length):
    down, right = x.stride()
    return x.as_strided((x.shape[0], length), (down, right), x.storage_offset() + start * right)


def select(x, index):
    outer, middle, inner = x.stride()
    return x.as_strided((x.shape[0], x.shape[2]), (outer, inner), x.storage_offset() + index * middle)


def unsqueeze(x, dim):
    place = dim % (x.dim() + 1)
    step = x.stride(place) * x.shape[place] if place < x.dim() else 1
    return x.as_strided((*x.shape[:place], 1, *x.shape[place:]), (*x.stride()[:place], step, *x.stride()[place:]))


def unsafe_split(x, size):
    return tuple(narrow(x, start, min(size, x.shape[1] - start)) for start in range(0, x.shape[1], size))


def unsafe_split_with_sizes(x, first, other):
    return narrow(x, 0, first), narrow(x, first, other), narrow(x, first + other, other)


def contiguous(x):
    if x.is_contiguous():
        return x
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    return y.copy_(x)


def reshape(x, width):
    outer, middle, inner = x.stride()
    if x.shape[1] == 1 or middle == x.shape[2] * inner:
        return x.as_strided((x.shape[0], width), (outer, inner))
    if x.shape[2] == 1:
        return x.as_strided((x.shape[0], width), (outer, middle))
    return contiguous(x).as_strided((x.shape[0], width), (width, 1))


def itself(x):
    return x


def number_at(x, row, column):
    value = x[row, column].tolist()
    return torch.full((), value, dtype=x.dtype, device=x.device)


def empty_strided(like, rows, columns, pitch):
    memory = torch.empty((rows - 1) * pitch + columns, dtype=like.dtype, device=like.device)
    return memory.as_strided((rows, columns), (pitch, 1))
