def inputs(shape, rng):
    M, N, K = shape["M"], shape["N"], shape["K"]
    return {
        "a": rng.tensor(M, K, dtype="float8_e4m3"),
        "b": rng.tensor(N, K, dtype="float8_e4m3"),
        "a_scale": rng.uniform(0.02, 0.1, M, dtype="float32"),
        "b_scale": rng.uniform(0.02, 0.1, N, dtype="float32"),
        "bias": rng.tensor(N),
    }


def reference(a, b, a_scale, b_scale, bias):
    # Float32, because PyTorch has a product of float8 on few devices.
    sums = a.to(a_scale.dtype) @ b.to(b_scale.dtype).T
    return (sums * a_scale[:, None] * b_scale + bias).to(bias.dtype)
