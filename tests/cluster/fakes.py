"""A judge for tests of what surrounds it: it does to its process what a comment in the kernel says."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from kernelarena.errors import InputError
from kernelarena.spec import Evidence, Reason, Status, Verdict

FACTORY = "tests.cluster.fakes:Judge"
LOG = "KERNELARENA_TEST_LOG"
"""The folder in which every computed cell is noted, one file each, so that none is lost to a race."""


def source(action):
    return f"# do: {action}\ndef softmax(x):\n    return x\n"


def computed(folder):
    """Return how often each cell was computed."""
    counts = {}
    for path in Path(folder).glob("*@*@*"):
        kernel, platform, _ = path.name.split("@")
        counts[kernel, platform] = counts.get((kernel, platform), 0) + 1
    return counts


def notes(folder):
    return [json.loads(path.read_text()) for path in Path(folder).glob("*@*@*")]


class Judge:
    def __init__(self):
        self.folder = Path(os.environ[LOG])

    def judge(self, kernel, task, platform, sweep, hidden_seed):
        before = len(list(self.folder.glob(f"{kernel.id}@{platform.id}@*")))
        note = {"cell": [kernel.id, platform.id], "pid": os.getpid(), "seed": hidden_seed, "time": time.time()}
        note["exit"] = subprocess.run(["sh", "-c", "exit 3"], check=False).returncode
        action = re.search(r"# do: (\S+)", kernel.files["kernel.py"])[1]
        if action == "hang":
            note["child"] = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid
        (self.folder / f"{kernel.id}@{platform.id}@{before}").write_text(json.dumps(note))
        if action == "die" or (action == "die-once" and before == 0):
            os.kill(os.getpid(), signal.SIGKILL)
        if action == "raise":
            raise RuntimeError("a bug\nwith two lines")
        if action == "bad-task":
            raise InputError("tasks/x/reference.py:3: it does not work")
        if action == "hang":
            time.sleep(600)
        if action == "slow":
            time.sleep(0.25)
        about = {"task": kernel.task, "kernel": kernel.id, "language": kernel.language, "platform": platform.id}
        if action == "hot":
            return Verdict(**about, status=Status.INFRA, reason=Reason.DEVICE_UNHEALTHY, detail="too hot")
        if action == "fail":
            return Verdict(**about, status=Status.FAIL, reason=Reason.MISMATCH, evidence=Evidence.COMPILED, detail="no")
        return Verdict(**about, status=Status.PASS, evidence=Evidence.COMPILED, detail=f"seed {hidden_seed}")

    def build(self, kernel, task, platform, sweep):
        (self.folder / f"built~{kernel.id}~{platform.id}").write_text(str(os.getpid()))
        if "# do: die-built" in kernel.files["kernel.py"]:
            os.kill(os.getpid(), signal.SIGKILL)
        if "# do: hang-built" in kernel.files["kernel.py"]:
            time.sleep(600)
        if "# do: raise-built" in kernel.files["kernel.py"]:
            raise RuntimeError("no compiler")

    def close(self):
        (self.folder / f"closed-{os.getpid()}").touch()
