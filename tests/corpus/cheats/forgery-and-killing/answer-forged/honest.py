"""Describes its last launch as JSON, in a variable that a user may look at."""

import json

import work

last = "{}"


def softmax(x):
    global last
    y = work.softmax(x)
    last = json.dumps({"outputs": [{"dtype": str(y.dtype), "size": [*y.shape]}], "launches": 1})
    return y
