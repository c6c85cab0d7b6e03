"""Two launches, the second of which copies: into memory that the caller owns."""

import work


def softmax(x):
    return work.copied(work.softmax(x))
