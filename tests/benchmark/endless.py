"""A design that takes long: its runs are done one by one, until somebody kills the process."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmark.designs import design
from evenhand.benchmark import run
from evenhand.benchmark.design.studies import treatment
from evenhand.benchmark.running import jobs

RUNS = 24  # of each seed


def long_design(seeds=1):
    grid = tuple(0.002 * k for k in range(1, RUNS + 1))
    return design(treatment("LinearPost", grid=grid), seeds=tuple(range(seeds)))


def slowly(kept):
    def keep(store, outcome):
        kept(store, outcome)
        time.sleep(0.1)

    return keep


if __name__ == "__main__":
    jobs._keep = slowly(jobs._keep)
    workers = int(sys.argv[2])
    run(long_design(seeds=workers), sys.argv[1], n_jobs=workers)
