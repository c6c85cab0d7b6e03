"""The trusted side: it draws inputs, owns references, and runs kernels in processes that it does not trust."""

from kernelarena.judge.judge import Judge

__all__ = ["Judge"]
