from concurrent.futures import ThreadPoolExecutor

import torch
import work

_pool = ThreadPoolExecutor(max_workers=1)


def softmax(x):
    return work.copied(_pool.submit(torch.softmax, x, -1).result())
