from torch import nn


class TritonSoftmax(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = nn.Softmax(dim=-1)

    def forward(self, x):
        return self.kernel(x)
