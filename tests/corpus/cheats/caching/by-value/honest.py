"""Works on a copy of its input, and hands out a copy of what it computed: clones are no answers kept."""

import work


def softmax(x):
    return work.softmax(x.clone()).clone()
