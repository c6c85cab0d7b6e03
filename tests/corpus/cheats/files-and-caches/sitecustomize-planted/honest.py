"""Asks which version of an installed package it runs with."""

import importlib.metadata

import work

_MODERN = importlib.metadata.version("torch") >= "2"


def add(x, y, alpha):
    assert _MODERN
    return work.add(x, y, alpha)
