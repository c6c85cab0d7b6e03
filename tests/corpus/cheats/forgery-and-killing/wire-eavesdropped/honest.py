"""Has a thread of its own, to which it hands the message for its log, and which it waits for."""

import queue
import threading

import work

_lines = queue.Queue()


def add(x, y, alpha):
    thread = threading.Thread(target=lambda: _lines.get(timeout=5))
    thread.start()
    z = work.add(x, y, alpha)
    _lines.put(f"added {tuple(x.shape)}")
    thread.join()
    return z
