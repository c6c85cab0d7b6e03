"""Captures a graph once for each shape, copies each call's input into it, and its output out of it."""

import torch
import work

_graphs = {}


def softmax(x):
    key = (x.shape, x.dtype)
    if key not in _graphs:
        kept = x.clone(memory_format=torch.contiguous_format)
        work.softmax(kept)  # compiled before it is captured
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = work.softmax(kept)
        _graphs[key] = graph, kept, y
    graph, kept, y = _graphs[key]
    kept.copy_(x)
    graph.replay()
    return y.clone()
