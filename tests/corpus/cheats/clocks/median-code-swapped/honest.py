"""Looks at the code of a function of its own, to see how many arguments it takes."""

import work


def _launch(x, y, alpha):
    return work.add(x, y, alpha)


def add(*args):
    return _launch(*args[: _launch.__code__.co_argcount])
