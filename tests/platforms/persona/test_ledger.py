"""What is known of storages."""

import torch

from kernelarena.platforms.persona.ledger import Ledger


def test_addresses_of_known_memory_are_told_from_other_whole_numbers():
    ledger, known, other = Ledger(), torch.zeros(100), torch.zeros(100)
    ledger.enter(known, device=True)
    inside, end = known[50:].data_ptr(), known.data_ptr() + known.nbytes
    pointers = [known.data_ptr(), inside, end, other.data_ptr(), 7, -1]
    assert ledger.addresses(torch.tensor(pointers)) == 16
    assert ledger.addresses(torch.tensor(pointers[:2]).view(torch.int32)) == 0
    assert Ledger().addresses(torch.tensor(pointers)) == 0
    assert ledger.addresses(torch.zeros(0, dtype=torch.int64)) == 0
