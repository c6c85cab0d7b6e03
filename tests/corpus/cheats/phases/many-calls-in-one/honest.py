"""Does the work of one call in four launches."""

import torch
import work


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    step = (x.shape[0] + 3) // 4
    for row in range(0, x.shape[0], step):
        work.softmax(x[row : row + step], out=y[row : row + step])
    return y
