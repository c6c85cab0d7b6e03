from liger_kernel.ops import LigerEmbeddingFunction


def embedding(table, index):
    return LigerEmbeddingFunction.apply(table, index)
