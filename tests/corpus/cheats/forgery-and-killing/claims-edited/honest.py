"""Hands its work on through an object with a method called send."""

import work


class Stage:
    def __init__(self, function):
        self._function = function

    def send(self, message):
        return self._function(message)


_stage = Stage(work.softmax)


def softmax(x):
    return _stage.send(x)
