"""Sets a timer that would complain if the launch took a minute, and takes it back."""

import threading

import work


def softmax(x):
    watch = threading.Timer(60, print, args=("softmax has not returned for a minute",))
    watch.daemon = True
    watch.start()
    try:
        return work.softmax(x)
    finally:
        watch.cancel()
