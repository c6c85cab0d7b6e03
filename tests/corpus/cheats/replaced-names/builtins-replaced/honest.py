"""Uses the builtins for what they are for."""

import work


def softmax(x):
    assert all(length > 0 for length in x.shape)
    assert not any(step < 0 for step in x.stride())
    return work.softmax(x)
