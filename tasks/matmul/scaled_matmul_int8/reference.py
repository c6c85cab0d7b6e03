def inputs(shape, rng):
    M, N, K = shape["M"], shape["N"], shape["K"]
    return {
        "a": rng.tensor(M, K, dtype="int8"),
        "b": rng.tensor(N, K, dtype="int8"),
        "a_scale": rng.uniform(0.002, 0.01, M, dtype="float32"),
        "b_scale": rng.uniform(0.002, 0.01, N, dtype="float32"),
        "bias": rng.tensor(N),
    }


def reference(a, b, a_scale, b_scale, bias):
    # PyTorch has no product of integers on every device. In float32 the sums are rounded, in float64 exact.
    sums = a.to(a_scale.dtype) @ b.to(b_scale.dtype).T
    return (sums * a_scale[:, None] * b_scale + bias).to(bias.dtype)
