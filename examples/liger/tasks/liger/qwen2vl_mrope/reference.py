import torch


def inputs(shape, rng):
    B, S, D = shape["B"], shape["S"], shape["D"]
    cos, sin = rng.uniform(-1, 1, 3, B, S, D), rng.uniform(-1, 1, 3, B, S, D)
    for table in (cos, sin):
        table[..., D // 2 :] = table[..., : D // 2]  # both halves of a head turn by the same angles
    return {
        "q": rng.tensor(B, shape["H"], S, D),
        "k": rng.tensor(B, shape["G"], S, D),
        "cos": cos,
        "sin": sin,
        # Qwen2-VL gives time, height and width 16, 24 and 24 of the 64 angles.
        "time": D // 8,
        "height": D * 3 // 16,
        "width": D * 3 // 16,
    }


def reference(q, k, cos, sin, time, height, width):
    sections = 2 * [time, height, width]
    cos, sin = (
        torch.cat([part[i % 3] for i, part in enumerate(table.split(sections, dim=-1))], dim=-1)[:, None]
        for table in (cos, sin)
    )

    def rotate(x):
        left, right = x.chunk(2, dim=-1)
        return x * cos + torch.cat((-right, left), dim=-1) * sin

    return rotate(q), rotate(k)
