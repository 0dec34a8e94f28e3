"""FairProj: half a million rows, five classes, five groups.

python benchmarks/mitigation/projection.py [--rows 500000 --classes 5 --groups 5]

Times the fit of the prices and the projection of all rows from given probabilities. "off by" is
how much further than epsilon a ratio of the projected rows lies from 1: what the ridge leaves.
"""

from __future__ import annotations

import argparse
import resource

import numpy as np
from adult import head, row, spent
from threadpoolctl import threadpool_limits

from evenhand.mitigation import ProjectionClassifier
from evenhand.mitigation.groups import cell_masses
from evenhand.mitigation.projection import Ratios, fit_prices, project, smoothed

BAR = 30.0
GIB = 2**20  # of ru_maxrss, which is in KiB


def main() -> None:
    """One line for each divergence, criterion and bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("rows", 500_000), ("classes", 5), ("groups", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    p, y, group = made_up(options.rows, options.classes, options.groups)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIB
    print(head("divergence", "criterion", "epsilon", "CPU", "wall", f"< {BAR:g} s", "off by"))
    with threadpool_limits(1):
        for divergence in ("kl", "ce"):
            for criterion in ProjectionClassifier.criteria:
                for epsilon in (0.0, 0.01, 0.1):
                    print(line(divergence, criterion, epsilon, p, y, group), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIB
    print(f"\nMemory: {before:.2f} GiB with the data, {peak:.2f} GiB at the peak.")


def made_up(rows: int, classes: int, groups: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities whose law depends on the group, and labels drawn from them."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, groups, rows)
    logits = 1.5 * rng.normal(size=(rows, classes))
    logits += 0.6 * rng.normal(size=(groups, classes))[group]
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    return p, (rng.random((rows, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1), group


def line(divergence: str, criterion: str, epsilon: float, p, y, group) -> str:
    mass = cell_masses(y, group, p.shape[1], int(group.max()) + 1)
    ratios = Ratios.of(criterion, mass, epsilon)

    def run() -> np.ndarray:
        columns = smoothed(p)
        prices = fit_prices(columns, group, ratios, divergence=divergence)
        return project(columns, group, prices, ratios, divergence)

    took = spent(run)
    counted = took.result * smoothed(p).T if ratios.own else took.result
    rates = np.array([np.bincount(group, column) for column in counted.T]) / len(y) / ratios.cell
    everyone = counted.mean(axis=0)[:, None] / ratios.overall
    off = max(abs(rates / everyone - 1).max() - epsilon, 0.0)
    verdict = "pass" if took.wall < BAR else "MISS"
    times = f"{took.cpu:.1f} s", f"{took.wall:.1f} s"
    return row(divergence, criterion, epsilon, *times, verdict, f"{off:.4f}")


if __name__ == "__main__":
    main()
