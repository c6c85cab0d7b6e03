"""What the conformance suite does with a device; each in a process of its own, forked before anything was opened."""

from __future__ import annotations

import os
import signal
import socket
from typing import Any

import pytest
import torch

from kernelarena.platforms.backend import Access, Backend, Device
from kernelarena.platforms.opened import OpenedDevice
from kernelarena.testing.nursery import Skipped

_NO_SUCH_DEVICE = 99
_FIVE, _NINE = 5, 9
_MIB = 1 << 20


def opened(backend: Backend, access: Access) -> OpenedDevice:
    """Open the one device that ``access`` shows, as a candidate does."""
    environment = access.within(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    return backend.open(0)


def devices(backend: Backend, access: Access) -> list[Device]:
    """Return the devices that a process is shown, by a backend that remembers nothing."""
    environment = access.within(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    return type(backend)().devices()


def discovers_and_forks(backend: Backend, access: Access) -> list[Device]:
    """Look for devices, and have a child use one: that fails where looking touched the runtime."""
    found = type(backend)().devices()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            computes(backend, access)
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 0, "devices() touched the runtime in the calling process: what is forked from it cannot use it"
    return found


def computes(backend: Backend, access: Access) -> None:
    """Let the framework compute on it, and take the result to the host and back."""
    device = opened(backend, access)
    _compute(device)
    assert device.device.type, "a device has a type that torch knows"


def refuses_what_is_not_there(backend: Backend, access: Access) -> None:
    """Open a device of a number that no host has."""
    environment = access.within(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    with pytest.raises(RuntimeError):
        backend.open(_NO_SUCH_DEVICE)


def tells_its_memory(backend: Backend, access: Access) -> int:
    """Hold some memory and give it back; return all there is, in bytes."""
    device = opened(backend, access)
    before, total = device.memory()
    assert 0 < before <= total
    held = device.scratch(64 * _MIB)
    assert (held.dtype, held.dim(), held.numel()) == (torch.uint8, 1, 64 * _MIB)
    held.zero_()
    device.synchronise()
    during, same = device.memory()
    assert same == total
    assert during <= before
    del held
    device.trim()
    assert device.memory()[0] >= during
    return total


def limits_its_memory(backend: Backend, access: Access) -> None:
    """Ask for more than was allowed, and go on."""
    device = opened(backend, access)
    limited = device.limit_memory(256 * _MIB)
    assert isinstance(limited, bool), "limit_memory() says whether the limit holds"
    if not limited:
        raise Skipped("its allocator cannot be limited")
    device.scratch(16 * _MIB).zero_()
    with pytest.raises((torch.OutOfMemoryError, MemoryError)):
        device.scratch(1024 * _MIB)
    _compute(device)


def has_streams(backend: Backend, access: Access) -> None:
    """Name streams by their handles, and have work done on one."""
    device = opened(backend, access)
    one, other = device.stream(), device.stream()
    assert isinstance(device.number(one), int)
    assert device.number(one) != device.number(other)
    assert device.number(device.numbered(device.number(one))) == device.number(one)
    device.numbered(0).synchronize()
    with device.on(one):
        result = torch.ones(1024, device=device.device) * 2
    one.synchronize()
    assert result.sum().item() == 2048


def marks_tell_time(backend: Backend, access: Access) -> None:
    """Record marks in order: times add up, and none is negative."""
    device = opened(backend, access)
    stream = device.stream()
    first, second, third = device.marks(), device.marks(), device.marks()
    with device.on(stream):
        work = device.scratch(_MIB)
        first.record(stream)
        work.zero_()
        second.record(stream)
        device.delay(0.02)
        third.record(stream)
    third.synchronize()
    assert all(mark.query() for mark in (first, second, third)), "marks are reached in the order of the stream"
    parts = first.elapsed_time(second), second.elapsed_time(third)
    assert min(parts) >= 0
    assert first.elapsed_time(third) == pytest.approx(sum(parts), rel=0.01, abs=0.05)


def delays_a_stream(backend: Backend, access: Access) -> None:
    """Keep a stream busy: its mark is not reached before the delay is over, and another stream's is."""
    device = opened(backend, access)
    one, other = device.stream(), device.stream()
    for seconds in (0.2, 1.0, 3.0):  # a busy host may be kept from looking in time
        start, end, meanwhile = device.marks(), device.marks(), device.marks()
        with device.on(one):
            start.record(one)
            device.delay(seconds)
            end.record(one)
        if end.query():
            end.synchronize()
            raise Skipped("its streams cannot be kept busy while the host goes on: timed runs are bound by the host")
        meanwhile.record(other)
        meanwhile.synchronize()
        held = not end.query()
        end.synchronize()
        assert end.query()
        assert start.elapsed_time(end) >= 100 * seconds, "the delay is over in less than a tenth of its time"
        if held:
            return
    raise AssertionError("a stream waits for another one that is kept busy")


def has_settings(backend: Backend, access: Access) -> None:
    """Read the settings twice, with work in between."""
    device = opened(backend, access)
    before = device.settings()
    assert isinstance(before, tuple)
    assert all(isinstance(value, int) for value in before)
    _compute(device)
    assert device.settings() == before


def shares_memory(backend: Backend, access: Access) -> None:
    """Have another process read what was written here, and the reverse."""
    ours, theirs = socket.socketpair()
    pid = os.fork()  # before either opens the device
    if pid == 0:
        status = 1
        try:
            ours.close()
            _answer(backend, access, theirs)
            status = 0
        finally:
            os._exit(status)
    theirs.close()
    try:
        _ask(opened(backend, access), ours)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "the other process could not use the memory"


def _ask(device: OpenedDevice, wire: socket.socket) -> None:
    exchange = device.exchange()
    if exchange is None:
        raise Skipped("its memory is not shared: tensors are copied through the host's")
    page = exchange.page
    fences = [(page, page)] if exchange.fenced else []
    memory: Any = exchange.allocate(3 * page, fences)
    assert (memory.bytes.dtype, memory.bytes.dim()) == (torch.uint8, 1)
    assert memory.bytes.numel() >= 3 * page
    assert memory.bytes.data_ptr() % exchange.alignment == 0
    memory.bytes.fill_(_FIVE)
    memory.publish()
    socket.send_fds(wire, [page.to_bytes(8, "little")], [memory.descriptor])
    assert wire.recv(1) == b"!", "the other process could not use the memory"
    memory.fetch()
    assert _values(memory.bytes[:page]) == {_NINE}, "what the other process wrote is not seen here"
    assert _values(memory.bytes[2 * page : 3 * page]) == {_FIVE}, "what nobody wrote has changed"
    memory.close()
    with pytest.raises(MemoryError):
        exchange.allocate(2 * device.memory()[1])


def _answer(backend: Backend, access: Access, wire: socket.socket) -> None:
    exchange = opened(backend, access).exchange()
    data, descriptors, _, _ = socket.recv_fds(wire, 8, 1)
    if not data:  # it is not shared
        return
    assert exchange is not None
    page = int.from_bytes(data, "little")
    window = exchange.attach(descriptors[0], [(page, page)] if exchange.fenced else [])
    window.fetch()
    assert _values(window.bytes[:page]) == {_FIVE}, "what was written there is not seen here"
    window.bytes[:page].fill_(_NINE)
    window.publish()
    wire.send(b"!")


def _values(stretch: torch.Tensor) -> set[int]:
    return set(stretch.cpu().tolist())


def _compute(device: OpenedDevice) -> None:
    numbers = torch.arange(1000, dtype=torch.float32)
    there = numbers.to(device.device)
    result = (there + 1).sum()
    device.synchronise()
    assert result.item() == 500500
    assert torch.equal(there.cpu(), numbers)
