import torch


def inputs(shape, rng):
    B, S, D = shape["B"], shape["S"], shape["D"]
    return {
        "q": rng.tensor(B, shape["H"], S, D),
        "k": rng.tensor(B, shape["G"], S, D),
        # Both halves of a head turn by the same angles, and the package reads one: so one is what there is. Were there
        # two, a change of one number, which the judge makes to see what is remembered, would tell them apart.
        "cos": rng.uniform(-1, 1, 3, B, S, D // 2),
        "sin": rng.uniform(-1, 1, 3, B, S, D // 2),
        # Qwen2-VL gives time, height and width 16, 24 and 24 of the 64 angles.
        "time": D // 8,
        "height": D * 3 // 16,
        "width": D * 3 // 16,
    }


def reference(q, k, cos, sin, time, height, width):
    cos, sin = (
        torch.cat([part[i] for i, part in enumerate(table.split([time, height, width], dim=-1))] * 2, dim=-1)[:, None]
        for table in (cos, sin)
    )

    def rotate(x):
        left, right = x.chunk(2, dim=-1)
        return x * cos + torch.cat((-right, left), dim=-1) * sin

    return rotate(q), rotate(k)
