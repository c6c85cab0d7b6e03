"""How often ``kab-mc compare`` claims a slowdown that is none, and how often it finds one that is there.

Pairs of runs are simulated sample by sample: rounds in mirrored order, each sample with noise, now and then an outlier,
a clock that wanders (the same for both arms), and for each run and shape a bias that lasts for the run, as where code
and data happen to lie makes it, within the noise floor. What follows is the real thing: the protocol's estimate of each
speedup, and the comparison of the two runs.

    python benchmarks/compare_power.py [--pairs 20] [--shapes 200] [--share 0.1]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from random import Random

import numpy as np

from kernelarena.metrics.comparison import CONFIDENCE, RATE, Pace, TimeChange, decide, time_changes
from kernelarena.protocol.timing import Arm, Round
from kernelarena.protocol.timing.ratio import speedup
from kernelarena.protocol.timing.rounds import interleaved
from kernelarena.spec import Evidence, Language, Shape, Speedup, Status, TimedShape, Verdict

EFFECTS = (0.0, 0.02, 0.03, 0.04, 0.05, 0.08, 0.15)
"""By how much kernels are slower in the new run, for the share that is."""
FLOOR = 0.01
NOISE, OUTLIERS, OUTLIER, DRIFT = 0.01, 0.02, 0.3, 0.005
"""Of one sample, as standard deviation of its logarithm; share of outliers, and their mean excess; of the clock, a
round."""
ROUNDS = 50
_SECONDS = 5e-5


def measured(kernel: float, rng: np.random.Generator) -> Speedup:
    """Return what a run says of a kernel that takes that long, s, beside a baseline of `_SECONDS`."""
    clock = np.cumsum(rng.normal(0, DRIFT, ROUNDS))
    noise = rng.normal(0, NOISE, (ROUNDS, 4)) + rng.exponential(OUTLIER, (ROUNDS, 4)) * (
        rng.random((ROUNDS, 4)) < OUTLIERS
    )
    orders = interleaved(ROUNDS, Random(int(rng.integers(2**31))))
    rounds = []
    for at, order in enumerate(orders):
        times = [
            (kernel if arm is Arm.KERNEL else _SECONDS) * math.exp(clock[at] + noise[at, place])
            for place, arm in enumerate(order)
        ]
        rounds.append(Round(order, tuple(times)))
    found = speedup(rounds, CONFIDENCE)
    return Speedup(median=found.value, ci=(found.low, found.high), baseline="simulated")


def run(kernels: Sequence[float], rng: np.random.Generator) -> Verdict:
    """Return a cell of which every shape is one kernel of that many seconds."""
    timings = []
    for number, seconds in enumerate(kernels):
        bias = math.exp(rng.uniform(-1, 1) * math.log1p(FLOOR))
        timings.append(
            TimedShape(
                shape=Shape(dims={"N": number + 1}, dtype="float16"),
                kernel=seconds * bias,
                baseline=_SECONDS,
                speedup=measured(seconds * bias, rng),
                noise=FLOOR,
            )
        )
    return Verdict(
        task="simulated",
        kernel="simulated",
        language=Language.TRITON,
        platform="simulated",
        evidence=Evidence.MEASURED,
        status=Status.PASS,
        timings=tuple(timings),
    )


def simulate(effect: float, share: float, shapes: int, pairs: int, seed: int) -> tuple[float, float, float]:
    """Return the mean share of false claims, the share of pairs with any, and the share of slowdowns that are found."""
    rng = np.random.default_rng(seed)
    slowed = round(share * shapes) if effect else 0
    false_shares, any_false, found = [], 0, 0
    for _ in range(pairs):
        base = rng.uniform(0.3, 3.0, shapes) * _SECONDS
        new = base * np.where(np.arange(shapes) < slowed, 1 + effect, 1.0)
        changes = decide(time_changes(run(base.tolist(), rng), run(new.tolist(), rng), same_baseline=True))
        claims = [(change.shape["N"] <= slowed and change.pace is Pace.SLOWER) for change in _claimed(changes)]
        false_shares.append(claims.count(False) / len(claims) if claims else 0.0)
        any_false += False in claims
        found += claims.count(True)
    return float(np.mean(false_shares)), any_false / pairs, found / (pairs * slowed) if slowed else math.nan


def _claimed(changes: Sequence[TimeChange]) -> list[TimeChange]:
    return [change for change in changes if change.pace is not Pace.NONE]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20, help="of runs, for each effect")
    parser.add_argument("--shapes", type=int, default=200, help="timed in each run")
    parser.add_argument("--share", type=float, default=0.1, help="of shapes that are slower")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"{given.pairs} pairs of runs, {given.shapes} shapes, {given.share:.0%} slower; stated rate {RATE:.0%}")
    print(f"{'slower by':>10} {'false of claimed':>17} {'pairs with any':>15} {'found':>7}")
    worst = 0.0
    for effect in EFFECTS:
        false, pairs, power = simulate(effect, given.share, given.shapes, given.pairs, given.seed)
        worst = max(worst, false)
        found = "–" if math.isnan(power) else f"{power:.0%}"
        print(f"{effect:>10.0%} {false:>17.2%} {pairs:>15.0%} {found:>7}")
    if worst > RATE:
        raise SystemExit(f"{worst:.1%} of the claims are false, and {RATE:.0%} are stated")


if __name__ == "__main__":
    main()
