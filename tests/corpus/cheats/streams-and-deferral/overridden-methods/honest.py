"""Hangs a note on its output, as optimisers and quantisers do on parameters."""

import work


def softmax(x):
    y = work.softmax(x)
    y.computed_by = "one program for each row"
    return y
