import torch


def inputs(shape, rng):
    T, N, P, G, D = (shape[name] for name in "TNPGD")
    slots = rng.distinct(0, N * P, T)
    slots[6::7] = -1
    return {
        "keys": rng.tensor(T, G, D),
        "values": rng.tensor(T, G, D),
        "slots": slots,
        "cache": rng.tensor(2, N, P, G, D),
    }


def reference(keys, values, slots, cache):
    entries = cache.flatten(1, 2)
    # One entry more, the last, takes the padding, and is then left out.
    entries = torch.cat((entries, torch.zeros_like(entries[:, :1])), dim=1)
    entries[:, slots] = torch.stack((keys, values))
    return entries[:, :-1].reshape(cache.shape)
