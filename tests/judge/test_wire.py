import os
import socket
import struct
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelarena.judge.wire import MAX_MESSAGE, Wire, WireError, WireTimeout

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def wires():
    ours, theirs = Wire.pair()
    other = Wire(theirs)
    yield ours, other
    ours.close()
    other.close()


def soon():
    return time.monotonic() + 5


@settings(max_examples=50)
@given(st.lists(st.dictionaries(st.text(), json_values, max_size=4), min_size=1, max_size=5))
def test_messages_arrive_whole_and_in_order(messages):
    ours, theirs = Wire.pair()
    other = Wire(theirs)
    for message in messages:
        ours.send(message)
    assert [other.receive(soon()) for _ in messages] == messages
    ours.close()
    other.close()


def test_files_stay_with_the_message_that_brought_them(wires):
    """Several messages can be delivered in one read; files must not be handed to the first of them."""
    ours, other = wires
    read, write = os.pipe()
    ours.send({"n": 1})
    ours.send({"n": 2}, files=[write])
    ours.send({"n": 3})
    assert other.receive_with_files(soon()) == ({"n": 1}, [])
    message, files = other.receive_with_files(soon())
    assert message == {"n": 2}
    assert len(files) == 1
    os.write(files[0], b"through")
    assert os.read(read, 7) == b"through"
    assert other.receive_with_files(soon()) == ({"n": 3}, [])
    for descriptor in (read, write, *files):
        os.close(descriptor)


def test_pending_tells_of_messages_that_were_read_but_not_taken(wires):
    ours, other = wires
    ours.send({"n": 1})
    ours.send({"n": 2})
    other.receive(soon())
    assert other.pending
    other.receive(soon())
    assert not other.pending


def test_deadline_passes_when_half_a_message_came(wires):
    ours, other = wires
    ours.sock.sendall(struct.pack("<IB", 100, 0) + b'{"half":')
    with pytest.raises(WireTimeout):
        other.receive(time.monotonic() + 0.05)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<IB", MAX_MESSAGE + 1, 0),
        struct.pack("<IB", 2, 200) + b"{}",
        struct.pack("<IB", 2, 1) + b"{}",
        struct.pack("<IB", 4, 0) + b"nope",
        struct.pack("<IB", 2, 0) + b"[]",
        struct.pack("<IB", 4, 0) + b"\xff\xfe\xfd\xfc",
        struct.pack("<IB", 200_000, 0) + b"[" * 200_000,
    ],
    ids=["too long", "too many files", "missing files", "not JSON", "not an object", "not text", "nested too deep"],
)
def test_what_is_not_a_message_is_an_error(wires, data):
    ours, other = wires
    ours.sock.setblocking(True)
    ours.sock.sendall(data)
    with pytest.raises(WireError):
        other.receive(soon())


def test_the_end_of_the_other_side_is_an_error(wires):
    ours, other = wires
    ours.close()
    with pytest.raises(WireError):
        other.receive(soon())
    with pytest.raises(WireError):
        other.send({"to": "nobody"})


def test_messages_larger_than_the_socket_buffer_pass():
    import threading

    ours, theirs = Wire.pair()
    other = Wire(theirs)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    message = {"text": "x" * 3_000_000}
    sender = threading.Thread(target=ours.send, args=(message,))
    sender.start()
    assert other.receive(time.monotonic() + 30) == message
    sender.join()
    ours.close()
    other.close()


def test_a_message_that_is_not_there_is_not_waited_for(wires):
    ours, other = wires
    assert other.try_receive() is None
    ours.sock.sendall(struct.pack("<IB", 7, 0) + b'{"n"')
    assert other.try_receive() is None
    ours.sock.sendall(b":1}")
    assert other.try_receive() == {"n": 1}
    ours.close()
    with pytest.raises(WireError):
        other.try_receive()


def test_a_side_that_does_not_read_is_given_up_on(wires):
    ours, _ = wires
    with pytest.raises(WireTimeout):
        ours.send({"text": "x" * 10_000_000}, deadline=time.monotonic() + 0.2)


def test_files_are_closed_where_none_may_come():
    ours, theirs = Wire.pair(takes_files=False)
    other = Wire(theirs)
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(5):
        other.send({"n": 1}, files=[0, 0, 0])
        with pytest.raises(WireError):
            ours.receive(soon())
        ours._received.clear()
    assert set(os.listdir("/proc/self/fd")) == before
    ours.close()
    other.close()


def test_a_wire_takes_no_longer_message_than_it_is_told_to():
    ours, theirs = Wire.pair(limit=100)
    other = Wire(theirs)
    other.send({"text": "x" * 50})
    assert ours.receive(soon()) == {"text": "x" * 50}
    assert ours.received > 50
    other.send({"text": "x" * 200})
    with pytest.raises(WireError):
        ours.receive(soon())
    ours.close()
    other.close()
