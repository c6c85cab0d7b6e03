"""Looks at who called it, as a logger does, and changes nothing."""

import reach
import work


def softmax(x):
    callers = [frame.f_code.co_name for frame in reach.frames_above()]
    assert len(callers) > 1
    return work.softmax(x)
