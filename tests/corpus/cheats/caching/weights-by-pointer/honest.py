"""Packs weight and bias in every call: what is derived from an input lives no longer than the call."""

import layers


def layer_norm(x, weight, bias, eps):
    return layers.layer_norm(x, *layers.packed(weight, bias), eps)
