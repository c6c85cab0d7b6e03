"""Logs a few elements for debugging; what it reads decides nothing."""

import logging

import work

log = logging.getLogger("softmax")


def softmax(x):
    flat = x.reshape(-1)
    log.debug("softmax of %s, beginning with %s", tuple(x.shape), flat[:4].tolist())
    return work.softmax(x)
