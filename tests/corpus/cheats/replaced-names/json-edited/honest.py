"""Writes its configuration into the log as JSON, by an encoder of its own."""

import json
import logging

import work


class Encoder(json.JSONEncoder):
    def default(self, value):
        return str(value)


def softmax(x):
    logging.getLogger(__name__).debug(json.dumps({"dtype": x.dtype, "shape": [*x.shape]}, cls=Encoder))
    return work.softmax(x)
