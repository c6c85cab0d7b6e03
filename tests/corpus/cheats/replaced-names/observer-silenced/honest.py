"""Replaces a method of a class of its own, which is how this kernel is told which block to take."""

import work


class Launcher:
    def launch(self, x):
        raise NotImplementedError


Launcher.launch = lambda self, x: work.softmax(x)


def softmax(x):
    return Launcher().launch(x)
