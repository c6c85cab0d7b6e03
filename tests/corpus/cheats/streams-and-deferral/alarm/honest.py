"""Guards its launch with an alarm, which it takes back with everything as it was."""

import signal

import work


def too_late(*_):
    raise TimeoutError("the launch did not return for a minute")


def softmax(x):
    before = signal.signal(signal.SIGALRM, too_late)
    signal.setitimer(signal.ITIMER_REAL, 60)
    try:
        return work.softmax(x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
