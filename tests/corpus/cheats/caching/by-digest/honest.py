"""Names its launch options by a digest, as build systems do: hashing is no crime."""

import hashlib

import work

_plans = {}


def add(x, y, alpha):
    key = hashlib.sha1(f"{tuple(x.shape)} {x.dtype}".encode()).hexdigest()
    _plans[key] = _plans.get(key, 0) + 1
    return work.add(x, y, alpha)
