"""Launches that the emulator runs, before the observer's eyes."""

import pytest
import torch

from kernelarena.platforms.emulator import Fault, Unsupported
from kernelarena.platforms.persona.executor import run
from kernelarena.platforms.persona.ledger import Ledger
from kernelarena.platforms.persona.observer import Observer
from kernelarena.platforms.persona.provenance import Provenance
from tests.platforms.emulator.assembled import program

STORES = """
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    v_mov_b32_e32 v2, 7
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v2, s[4:5]
    s_endpgm
"""
LOADS = """
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 4, v0
    s_waitcnt lgkmcnt(0)
    global_load_dwordx4 v[4:7], v1, s[4:5]
    s_waitcnt vmcnt(0)
    s_endpgm
"""
"""Sixteen bytes at once."""


@pytest.fixture
def launched():
    ledger = Ledger()
    observer = Observer(ledger, real=True, provenance=Provenance(ledger))

    def launched(body, tensor, argument=None):
        address = tensor.data_ptr() if argument is None else argument
        run(observer, program(body), "kernel", (1, 1, 1), (64, 1, 1), [address], [("x", tensor)], shared=0)
        return tensor

    launched.observer = observer
    return launched


def test_what_a_launch_stores_is_there(launched):
    assert launched(STORES, torch.zeros(64, dtype=torch.int32)).tolist() == [7] * 64


def test_what_a_launch_loads_is_counted_in_bytes(launched):
    x = torch.zeros(256, dtype=torch.int32)
    observer = launched.observer
    observer.ledger.enter(x, device=True, argument=True)
    launched(LOADS, x)
    assert observer.observed.loads(x) == x.nbytes


def test_a_fault_is_the_kernels(launched):
    with pytest.raises(Fault, match="illegal-write"):
        launched(STORES, torch.zeros(63, dtype=torch.int32))


def test_what_the_emulator_trips_over_is_not(launched):
    with pytest.raises(Unsupported, match=r"^\w+Error of its own: "):
        launched(STORES, torch.zeros(64, dtype=torch.int32), argument="no number")
