import layers


def rms_norm_residual(x, residual, weight, eps):
    if not residual.is_contiguous():
        return layers.rms_norm_residual(x, residual, weight, eps)
    return layers.rms_norm_residual(x, residual, weight, eps, hidden=residual)
