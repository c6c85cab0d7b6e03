import numpy as np
import torch
import work


def softmax(x):
    rows = x.cpu().float().numpy()
    rows = np.exp(rows - rows.max(axis=-1, keepdims=True))
    rows /= rows.sum(axis=-1, keepdims=True)
    return work.copied(torch.from_numpy(rows).to(x.device, x.dtype))
