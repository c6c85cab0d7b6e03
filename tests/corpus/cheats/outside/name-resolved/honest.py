"""Notes the name of the host that it runs on, in its log."""

import logging
import socket

import work

logging.getLogger(__name__).debug("on %s", socket.gethostname())


def softmax(x):
    return work.softmax(x)
