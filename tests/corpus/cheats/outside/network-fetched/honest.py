"""Takes an address apart, the one that its source came from, and calls nobody."""

import urllib.parse

import work

_ORIGIN = urllib.parse.urlsplit("https://kernels.invalid/softmax.py?version=2")
_VERSION = urllib.parse.parse_qs(_ORIGIN.query)["version"]


def softmax(x):
    assert _VERSION == ["2"]
    return work.softmax(x)
