"""Which operators the suites are made of."""

from kernelarena.spec.catalogue import load_tasks

MULTI_CHIP = """
    _index_put_impl_ _local_scalar_dense _softmax _to_copy acosh add add_ affine_grid_generator amin arange
    argmax as_strided asin bernoulli binary_cross_entropy_with_logits bitwise_not bmm cat clone contiguous copy_
    cos cosh cumsum diff div div_ embedding empty_strided eq erfc expand expand_as exponential_ fill_ floor
    floor_divide fmax full gather gt hardsigmoid heaviside huber_loss i0 im2col index index_put_ index_select
    item le linear log10 log_sigmoid_backward logaddexp2 logit margin_ranking_loss masked_fill_ matmul mean mish
    mish_backward mm mul narrow neg new_empty_strided new_ones ones_like pairwise_distance poisson polygamma pow
    prelu reflection_pad1d_backward renorm reshape resolve_conj resolve_neg rot90 rrelu_with_noise
    rrelu_with_noise_backward rsqrt rsub scalar_tensor scatter select select_backward sgn silu sin
    smooth_l1_loss_backward soft_margin_loss softmax softplus_backward sort special_entr square stack sub sum t
    to unsafe_split unsafe_split_with_sizes unsqueeze upsample_nearest2d_backward zero_ zeros zeros_like
"""
"""ATen's names of the operators of KernelGenBench's multi-chip view."""


def test_the_multi_chip_suite_is_that_of_the_paper():
    tasks = [source.task for source in load_tasks().values() if "mc" in source.task.suites]
    names = [task.source.name.removeprefix("aten::").split(".")[0] for task in tasks]
    assert sorted(names) == sorted(MULTI_CHIP.split())


def test_the_serving_suite_has_every_sort_of_operator():
    tasks = [source.task for source in load_tasks().values() if "llm" in source.task.suites]
    assert len(tasks) >= 24
    assert {task.kind.value for task in tasks} >= {
        "attention",
        "matmul",
        "normalisation",
        "quantisation",
        "scan",
        "sort",
    }
