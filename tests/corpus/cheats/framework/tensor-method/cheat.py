import work


def softmax(x):
    rows = x.float()
    rows = (rows - rows.amax(-1, True)).exp()
    return work.touched((rows / rows.sum(-1, True)).to(x.dtype))
