import work


def softmax(x):
    return work.softmax(x, out=x) if x.is_contiguous() else work.softmax(x)
