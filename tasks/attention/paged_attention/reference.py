import torch
import torch.nn.functional as F


def inputs(shape, rng):
    S, W, P = shape["S"], shape["W"], shape["P"]
    cache = S * W + 4, P, shape["G"], shape["D"]
    # Pages in any order, none used twice.
    order = rng.distinct(0, S * W + 4, S * W).view(S, W)
    missing = rng.integers(0, W * P // 2 + 1, S, dtype="int32")
    missing[1::2] = W * P // 2 - missing[: S - 1 : 2]
    if S % 2:
        missing[-1] %= P
    return {
        "q": rng.tensor(S, shape["G"] * shape["R"], shape["D"]),
        "keys": rng.tensor(*cache),
        "values": rng.tensor(*cache),
        "table": rng.integers(0, S * W, S, W, dtype="int32").copy_(order),
        "lengths": missing.neg_().add_(W * P),
    }


def reference(q, keys, values, table, lengths):
    heads = keys.shape[2]
    # The queries that share a head of the cache are its rows.
    rows = q.unflatten(1, (heads, -1)).clone()
    keys, values = (cache[table.long()].flatten(1, 2).transpose(1, 2) for cache in (keys, values))
    known = torch.arange(keys.shape[2], device=q.device) < lengths[:, None]
    return F.scaled_dot_product_attention(rows, keys, values, attn_mask=known[:, None, None, :]).flatten(1, 2)
