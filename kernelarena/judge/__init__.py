"""The trusted side: it draws inputs, owns references, and runs kernels in processes that it does not trust."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelarena.judge.judge import Judge

__all__ = ["Judge"]


def __getattr__(name: str) -> Any:
    # Not imported before it is asked for: it brings torch, and what encloses a kernel is set up before that.
    if name == "Judge":
        from kernelarena.judge.judge import Judge

        return Judge
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
