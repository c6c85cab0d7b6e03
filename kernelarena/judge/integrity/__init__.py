"""What the candidate process notices about the kernel it runs: names replaced, and acts that no kernel needs."""

from kernelarena.judge.integrity.act import Act
from kernelarena.judge.integrity.guard import Guard, prepare

__all__ = ["Act", "Guard", "prepare"]
