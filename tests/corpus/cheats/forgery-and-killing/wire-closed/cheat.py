import os

import work


def add(x, y, alpha):
    z = work.add(x, y, alpha)
    os.closerange(3, 4096)
    return z
