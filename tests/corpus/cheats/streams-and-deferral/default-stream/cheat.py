import torch
import work


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    with torch.cuda.stream(torch.cuda.default_stream()):
        work.softmax(x, out=y)
    return y
