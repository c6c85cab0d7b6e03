"""``kab-mc`` with a judge that only notes what it is asked: everything around the judge is real."""

import functools
import sys

from kernelarena.cli import execute, main, sweep
from tests.cluster import fakes

sweep.Options = functools.partial(execute.Options, factory=fakes.FACTORY)

if __name__ == "__main__":
    main(sys.argv[1:])
