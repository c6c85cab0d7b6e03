"""Judges for the schedule's tests: they decide at once, and do to their process what the kernel's id tells them to.

Imported by Ray's workers, which find this folder on PYTHONPATH.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from kernelarena.spec import Evidence, Reason, Status, Verdict

LOG = "KERNELARENA_TEST_LOG"


class Judge:
    """Notes every cell that it computes in the folder of ``LOG``, one file each, so that none is lost to a race."""

    def __init__(self):
        self.folder = Path(os.environ[LOG])

    def judge(self, kernel, task, platform, sweep, hidden_seed):
        before = len(list(self.folder.glob(f"{kernel.id}@{platform.id}@*")))
        note = {"pid": os.getpid(), "seed": hidden_seed, "task": task.task.id, "time": time.time()}
        action = kernel.files["kernel.py"]
        if action == "child":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            note["child"] = child.pid
        path = self.folder / f"{kernel.id}@{platform.id}@{before}"
        path.write_text(json.dumps(note))
        if action == "die" or (action == "die-once" and before == 0):
            os.kill(os.getpid(), signal.SIGKILL)
        if action == "raise":
            raise RuntimeError("a bug\nwith two lines")
        if action in ("hang", "child"):
            time.sleep(600)
        if action == "slow":
            time.sleep(0.2)
        about = dict(task=kernel.task, kernel=kernel.id, language=kernel.language, platform=platform.id)
        if action == "infra":
            return Verdict(**about, status=Status.INFRA, reason=Reason.DEVICE_UNHEALTHY, detail="too hot")
        if action == "fail":
            return Verdict(**about, status=Status.FAIL, reason=Reason.MISMATCH, evidence=Evidence.COMPILED, detail="no")
        return Verdict(**about, status=Status.PASS, evidence=Evidence.COMPILED, detail=str(hidden_seed))

    def close(self):
        (self.folder / f"closed@{os.getpid()}").touch()
