import torch


def on_grid(x, step):
    # Which of two sums that are nearly equal is larger depends on how one rounds. Sums over a grid are exact.
    return x.copy_((x.double() / step).round() * step)


def inputs(shape, rng):
    B, V = shape["B"], shape["V"]
    logits = on_grid(rng.tensor(B, V), 2.0**-10)
    noise = rng.uniform(1e-6, 1 - 1e-6, B, V, dtype="float32").log_().neg_().log_().neg_()  # Gumbel's
    top_k = rng.integers(1, min(V, 64) + 1, B, dtype="int32")
    # Logits that equal the k-th largest are among the top k as well.
    smallest = logits.sort(dim=-1, descending=True).values.gather(1, top_k.long()[:, None] - 1)
    return {"logits": logits, "noise": on_grid(noise, 2.0**-14), "top_k": top_k.copy_((logits >= smallest).sum(dim=-1))}


def reference(logits, noise, top_k):
    smallest = logits.sort(dim=-1, descending=True).values.gather(1, top_k.long()[:, None] - 1)
    keys = torch.where(logits >= smallest, logits + noise, -torch.inf)
    tokens = torch.arange(logits.shape[1], device=logits.device)
    token = torch.where(keys == keys.amax(dim=-1, keepdim=True), tokens, logits.shape[1]).amin(dim=-1)
    logprobs = torch.log_softmax(logits, dim=-1, dtype=noise.dtype)
    return token, logprobs.gather(1, token[:, None])
