"""Counts its calls by a decorator, and listens to nobody else's."""

import functools

import work


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


@counted
def softmax(x):
    return work.softmax(x)
