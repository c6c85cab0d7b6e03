"""Where a user says that toolkits lie; what builds a kernel is told the same, and sees those folders."""

from __future__ import annotations

import os

CUDA = ("CUDA_HOME", "CUDA_PATH")
ROCM = ("ROCM_PATH", "HIP_PATH")
VARIABLES = (*CUDA, *ROCM)


def named(variables: tuple[str, ...] = VARIABLES) -> list[str]:
    """Return the folders that some variables name."""
    return [os.environ[name] for name in variables if os.path.isabs(os.environ.get(name, ""))]
