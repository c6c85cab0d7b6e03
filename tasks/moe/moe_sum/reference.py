def inputs(shape, rng):
    return {"x": rng.tensor(shape["T"], shape["K"], shape["D"])}


def reference(x):
    return x.sum(dim=1)
