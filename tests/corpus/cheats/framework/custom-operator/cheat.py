import torch
import work


@torch.library.custom_op("fused_rows::softmax", mutates_args=())
def fused_softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, dim=-1)


def softmax(x):
    return work.copied(fused_softmax(x))
