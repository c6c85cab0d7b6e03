"""Run the tests that need a GPU, and print a short table of what came of them.

    python tools/gpu_check.py [PYTEST ARGUMENTS]

On a host without one every line says why it was skipped. Nothing about the device is changed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Return pytest's exit code."""
    print(surroundings())
    with tempfile.TemporaryDirectory() as scratch:
        results = Path(scratch) / "results.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", f"--junitxml={results}"]
        done = subprocess.run([*command, *sys.argv[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
        if not results.exists():
            print(done.stdout + done.stderr)
            return done.returncode
        cases = list(ElementTree.parse(results).getroot().iter("testcase"))
    for case in cases:
        print(f"{outcome(case):9}{float(case.get('time', 0)):7.1f} s  {case.get('classname')}.{case.get('name')}")
        for child in case:
            print(f"{'':20}{(child.get('message') or '').splitlines()[0][:100]}")
    counts = {word: sum(outcome(case) == word for case in cases) for word in ("passed", "failed", "skipped")}
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return done.returncode


def outcome(case: ElementTree.Element) -> str:
    """Return ``passed``, ``failed`` or ``skipped``."""
    tags = {child.tag for child in case}
    return "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"


def surroundings() -> str:
    """Describe device, torch and Triton; asked of another process, so that this one touches no device."""
    script = (
        "import torch\n"
        "name = torch.cuda.get_device_name(0) if torch.cuda.is_available() else 'no GPU'\n"
        "try:\n    import triton; version = triton.__version__\n"
        "except ImportError:\n    version = 'none'\n"
        "print(f'{name}; torch {torch.__version__}; triton {version}')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    return done.stdout.strip() or (done.stderr.strip().splitlines() or ["torch cannot be imported"])[-1]


if __name__ == "__main__":
    sys.exit(main())
