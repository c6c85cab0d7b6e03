"""What lies in memory, as a digest: read as memory and not through torch, so that reading is nobody's operator."""

from __future__ import annotations

import ctypes
import hashlib
import math

import numpy as np
import torch

MOST = 1 << 22
"""Bytes; larger tensors are not worth the time."""


def of_storage(tensor: torch.Tensor) -> bytes | None:
    """Return a digest of all the memory that a tensor is a view of; None if that is empty, too much, or a device's."""
    try:
        storage = tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return None
    if storage.device.type != "cpu" or not 0 < (length := storage.nbytes()) <= MOST:
        return None
    return hashlib.sha1(memory_at(storage.data_ptr(), length), usedforsecurity=False).digest()


def of_elements(tensor: torch.Tensor) -> bytes | None:
    """Return a digest of a tensor's elements in order; None where they say nothing, being few, alike, or too many."""
    if tensor.layout != torch.strided or tensor.untyped_storage().device.type != "cpu":
        return None
    if tensor.is_conj() or tensor.is_neg():  # the bytes are not the values
        return None
    item = tensor.element_size()
    strides = tuple(step * item for step in tensor.stride())
    return _of_bytes(_gathered(tensor.data_ptr(), tuple(tensor.size()), strides, item), item)


def of_form(tensor: torch.Tensor) -> set[bytes]:
    """Return digests of a tensor's elements, and of all elements of the memory that it is a view of."""
    storage, item = tensor.untyped_storage(), tensor.element_size()
    room = storage.nbytes() // item
    found = {of_elements(tensor)}
    if tensor.numel() != room or not tensor.is_contiguous():
        found.add(_of_bytes(_gathered(storage.data_ptr(), (room,), (item,), item), item))
    return {digest for digest in found if digest is not None}


def memory_at(address: int, length: int) -> memoryview:
    """Return bytes of this process's memory."""
    return memoryview((ctypes.c_char * length).from_address(address)).cast("B")


def _gathered(address: int, size: tuple[int, ...], strides: tuple[int, ...], item: int) -> bytes:
    """Return strided elements; nothing if they are too few or too many to say anything."""
    if not 1 < math.prod(size) <= MOST // item:
        return b""
    extent = sum((length - 1) * step for length, step in zip(size, strides, strict=True)) + item
    raw: bytes = np.ndarray(size, dtype=f"V{item}", buffer=memory_at(address, extent), strides=strides).tobytes()
    return raw


def _of_bytes(raw: bytes, item: int) -> bytes | None:
    if raw == raw[:item] * (len(raw) // item):
        return None
    return hashlib.sha1(raw, usedforsecurity=False).digest()
