"""Prints a good deal, where printing belongs."""

import work


def add(x, y, alpha):
    for row in range(min(x.shape[0], 50)):
        print("row", row, "of", x.shape[0])
    return work.add(x, y, alpha)
