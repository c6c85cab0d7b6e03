import torch


def inputs(shape, rng):
    # Squares of lots: real routers favour some experts and leave others empty.
    size = shape["T"], shape["K"]
    ids = rng.integers(0, shape["E"], *size, dtype=shape.dtype)
    ids.copy_((rng.uniform(0.0, 1.0, *size, dtype="float64").square() * shape["E"]).long().clamp_(max=shape["E"] - 1))
    return {"ids": ids, "experts": shape["E"], "block": shape["P"]}


def reference(ids, experts, block):
    pairs = ids.flatten().long()
    room = pairs.numel() + experts * (block - 1)
    counts = (pairs[:, None] == torch.arange(experts, device=ids.device)).sum(dim=0)
    padded = (counts + block - 1) // block * block
    ends = padded.cumsum(dim=0)

    expert, order = pairs.sort(stable=True)
    within = torch.arange(pairs.numel(), device=ids.device) - (counts.cumsum(dim=0) - counts)[expert]
    sorted_ids = torch.full((room,), pairs.numel(), device=ids.device)
    sorted_ids = sorted_ids.scatter(0, (ends - padded)[expert] + within, order)

    starts = torch.arange(0, room, block, device=ids.device)
    owner = (ends <= starts[:, None]).sum(dim=1)
    block_experts = torch.where(owner < experts, owner, -1)
    return sorted_ids.to(torch.int32), block_experts.to(torch.int32), ends[-1:].to(torch.int32)
