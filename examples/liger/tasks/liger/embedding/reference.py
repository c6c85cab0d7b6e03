def inputs(shape, rng):
    return {"table": rng.tensor(shape["V"], shape["D"]), "index": rng.integers(0, shape["V"], shape["T"])}


def reference(table, index):
    return table[index]
