import layers

_packed = {}


def layer_norm(x, weight, bias, eps):
    key = (weight.data_ptr(), bias.data_ptr(), weight.numel(), weight.dtype)
    if key not in _packed:
        _packed[key] = layers.packed(weight, bias)
    return layers.layer_norm(x, *_packed[key], eps)
