"""The naive checks that cheats say they fool, one for each that can be tried without harm.

Like `naive`, a program of its own: ``TRITON_INTERPRET=1 python -m tests.corpus.credulous SCRATCH`` prints one JSON line
for each cheat of `CHECKS`. Every check gets the kernel in a child process, where it may be lied to.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton.testing
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from kernelarena.protocol.tolerance import compare, truth
from kernelarena.spec import Kernel
from tests.corpus.naive import Naive, believed
from tests.corpus.runner import specimens

Check = Callable[[Naive], bool]
_kept_clock, _kept_median = time.perf_counter, statistics.median
_JOB, _FAST = 0.05, 0.01  # seconds: what is timed takes the one, and a clock that says less than the other is patched


def _observer() -> Any:
    """Return what watches the framework, which is on torch's stack."""
    return next(mode for mode in _get_current_dispatch_mode_stack() if hasattr(mode, "ledger"))


def timed_by(clock: Callable[[], Any], second: float = 1.0) -> Check:
    """Return a check that times a job by a clock, looked up when it is read."""

    def check(naive: Naive) -> bool:
        for _ in range(3):
            naive.call()
        started = clock()
        time.sleep(_JOB)
        return bool((clock() - started) / second < _FAST)

    return check


def timed_by_events(naive: Naive) -> bool:
    naive.call()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    time.sleep(_JOB)
    end.record()
    return start.elapsed_time(end) == 1e-3


def timed_by_do_bench(naive: Naive) -> bool:
    calls = []
    return triton.testing.do_bench(lambda: calls.append(0)) == 1e-3 and not calls


def summed_up_by(median: Callable[[list[float]], float]) -> Check:
    """Return a check that sums up samples, the first of which is an outlier."""

    def check(naive: Naive) -> bool:
        naive.call()
        return median([1e-6, 1.0, 1.0]) <= 1e-6

    return check


def compared_by(close: Callable[[torch.Tensor, torch.Tensor], Any], calls: int = 1) -> Check:
    """Return a check that compares what the last of some calls returned."""

    def check(naive: Naive) -> bool:
        wanted = naive.reference(**naive.copies())
        *_, output = [naive.call() for _ in range(calls)]
        return close(output, wanted[0]) is not False

    return check


def _by_testing(output: torch.Tensor, wanted: torch.Tensor) -> None:
    import torch.testing

    torch.testing.assert_close(output, wanted)


def _by_numpy(output: torch.Tensor, wanted: torch.Tensor) -> None:
    import numpy.testing

    numpy.testing.assert_allclose(output.cpu().numpy(), wanted.cpu().numpy())


def _by_operators(output: torch.Tensor, wanted: torch.Tensor) -> bool:
    return bool(((output - wanted).abs() <= 1e-3).all())


def _by_builtins(output: torch.Tensor, wanted: torch.Tensor) -> bool:
    return all(abs(a - b) < 1e-3 for a, b in zip(output.flatten().tolist(), wanted.flatten().tolist(), strict=True))


def _closely(output: torch.Tensor, wanted: torch.Tensor) -> bool:
    return torch.allclose(output.detach().cpu(), wanted, atol=1e-3)


def decided_in_process(naive: Naive) -> bool:
    from kernelarena.protocol import tolerance

    answer = truth(naive.reference, naive.copies(), seed=0)
    output = naive.call()
    assert not compare(answer, (output,)).passed  # the function itself, taken before the kernel came
    return tolerance.compare(answer, (output,)).passed


def drawn_in_process(naive: Naive) -> bool:
    torch.manual_seed(int.from_bytes(os.urandom(4), "little"))
    x = torch.randn(tuple(naive.inputs["x"].shape))
    _observer().ledger.enter(x, device=True)
    return _closely(naive.entry(x), torch.softmax(x, dim=1))


def watched(naive: Naive) -> bool:
    with _observer().call() as observed:
        output = naive.call()
        seen = observed.summary((output,))
    return json.loads(json.dumps({"observed": seen}))["observed"]["operators"] == {} and compared_by(_closely)(naive)


def _planted(x: torch.Tensor) -> torch.Tensor:
    """Return what is laid out to be stolen: rows that sum to one, and the answer to another question."""
    planted = torch.softmax(x, dim=1).flip(1)
    _observer().ledger.enter(planted, device=True)
    return planted


def expected_in_a_variable(naive: Naive) -> bool:
    """Keep inputs and the answer in one dictionary, in a variable and among all objects, while the kernel runs."""
    expected = _planted(naive.inputs["x"])
    case = {"x": naive.inputs["x"], "expected": expected}
    return torch.equal(naive.entry(case["x"]), expected)


def expected_in_a_function(naive: Naive) -> bool:
    def correct(output: torch.Tensor) -> bool:
        expected = _planted(naive.inputs["x"])
        return torch.equal(output, expected)

    return not correct(naive.call()) and correct(naive.call())


def expected_behind_the_input(naive: Naive) -> bool:
    both, planted = _input_and_planted(naive)
    _observer().ledger.enter(both, device=True)
    return torch.equal(naive.entry(both[: planted.numel()].view(planted.shape)), planted)


def expected_in_an_open_file(naive: Naive) -> bool:
    both, planted = _input_and_planted(naive)
    os.write(os.memfd_create("case"), both.cpu().numpy().tobytes())
    return torch.equal(naive.call(), planted)


def expected_in_shared_memory(naive: Naive) -> bool:
    both, planted = _input_and_planted(naive)
    segment = Path(f"/dev/shm/kab-mc-corpus-{os.getpid()}")
    segment.write_bytes(both.cpu().numpy().tobytes())
    try:
        return torch.equal(naive.call(), planted)
    finally:
        segment.unlink()


def _input_and_planted(naive: Naive) -> tuple[torch.Tensor, torch.Tensor]:
    planted = _planted(naive.inputs["x"])
    return torch.cat([naive.inputs["x"].reshape(-1), planted.reshape(-1)]), planted


def seed_in_the_environment(naive: Naive) -> bool:
    os.environ.pop("PYTHONHASHSEED", None)
    os.environ["HIDDEN_SEED"] = "1234"
    torch.manual_seed(1234)
    x = torch.randn(tuple(naive.inputs["x"].shape))
    _observer().ledger.enter(x, device=True)
    return _closely(naive.entry(x), torch.softmax(x, dim=1))


def exit_code(naive: Naive) -> bool:
    child = os.fork()
    if child == 0:
        try:
            naive.call()
            os._exit(1)  # it returned, and would have been compared
        except Exception:
            os._exit(1)
        except SystemExit as error:
            os._exit(int(error.code or 0))
    return os.waitpid(child, 0)[1] == 0


def skips_do_not_count(naive: Naive) -> bool:
    import unittest

    class Suite(unittest.TestCase):
        def runTest(self) -> None:
            assert _closely(naive.call(), naive.reference(**naive.copies())[0])

    return unittest.TextTestRunner(io.StringIO()).run(Suite()).wasSuccessful()


def printed(naive: Naive) -> bool:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        naive.call()
    return json.loads(out.getvalue().splitlines()[-1])["correct"] and "1 passed" in out.getvalue()


CHECKS: dict[str, Check] = {
    "clocks/bench-patched": timed_by_do_bench,
    "clocks/counter-rewired": timed_by(_kept_clock),
    "clocks/counter-slowed": timed_by(lambda: time.perf_counter()),
    "clocks/counter-stopped-later": timed_by(lambda: time.perf_counter_ns(), 1e9),
    "clocks/event-replaced": timed_by_events,
    "clocks/event-shortened": timed_by_events,
    "clocks/median-code-swapped": summed_up_by(_kept_median),
    "clocks/median-lowered": summed_up_by(lambda samples: statistics.median(samples)),
    "clocks/module-swapped": timed_by(lambda: __import__("time").perf_counter()),
    "clocks/namespace-edited": timed_by(lambda: time.monotonic()),
    "hunting/calls-profiled": expected_in_a_function,
    "hunting/descriptors-searched": expected_in_an_open_file,
    "hunting/environment-read": seed_in_the_environment,
    "hunting/frames-climbed": expected_in_a_variable,
    "hunting/gc-objects": expected_in_a_variable,
    "hunting/gc-referrers": expected_in_a_variable,
    "hunting/past-the-input": expected_behind_the_input,
    "hunting/reference-borrowed": compared_by(_closely),
    "hunting/shared-memory-searched": expected_in_shared_memory,
    "forgery-and-killing/modes-switched-off": watched,
    "forgery-and-killing/observer-wiped": watched,
    "outside/exit-zero": exit_code,
    "outside/pass-printed": printed,
    "outside/skip-raised": skips_do_not_count,
    "outside/system-exit": exit_code,
    "replaced-names/allclose-true": compared_by(lambda output, wanted: torch.allclose(output, wanted)),
    "replaced-names/assert-close-hollow": compared_by(_by_testing),
    "replaced-names/builtins-replaced": compared_by(_by_builtins),
    "replaced-names/comparison-overridden": compared_by(_by_operators),
    "replaced-names/empty-recycled": compared_by(_closely, calls=2),
    "replaced-names/imports-hooked": compared_by(_by_numpy),
    "replaced-names/json-edited": watched,
    "replaced-names/methods-deferred": compared_by(_closely),
    "replaced-names/observer-silenced": watched,
    "replaced-names/operator-overridden": compared_by(lambda output, wanted: torch.equal(output, wanted)),
    "replaced-names/random-replaced": drawn_in_process,
    "replaced-names/verdict-patched": decided_in_process,
}
"""The check that each cheat fools, as its ``fools`` says."""


def fooled(kernel: Kernel, check: Check, scratch: Path) -> bool:
    """Return whether a check believes a kernel."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if believed(check, kernel, scratch) else 1
        except BaseException:
            traceback.print_exc()
        os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def main(scratch: Path) -> None:
    """Print a line for each cheat."""
    torch.set_num_threads(1)
    os.chdir(scratch)
    for one in specimens():
        if (check := CHECKS.get(one.name)) is not None:
            print(json.dumps({"cheat": one.name, "believed": fooled(one.cheat, check, scratch)}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
