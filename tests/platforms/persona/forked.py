"""Runs a test's body in a forked process, because a persona is for processes that do not live on."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable


def forked(body: Callable[[], None]) -> None:
    """Run ``body`` in a child; fail with its traceback if it raises."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        code = 0
        try:
            import torch

            torch.set_num_threads(1)  # a thread pool that the parent has started does not exist here
            body()
        except BaseException:
            os.write(write, traceback.format_exc().encode()[-60_000:])
            code = 1
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code == 0, said or f"the child ended with {code}"
