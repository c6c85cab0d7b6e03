from liger_kernel.ops import rope_backward


def rotary_embedding_backward(grad_q, grad_k, cos, sin):
    # The package rotates in place, and takes [batch, heads, tokens, dimension] that lies in memory with heads third.
    q, k = grad_q.clone()[None].transpose(1, 2), grad_k.clone()[None].transpose(1, 2)
    q, k = rope_backward(q, k, cos, sin, rotary_dim=q.shape[-1])
    return q.transpose(1, 2)[0], k.transpose(1, 2)[0]
