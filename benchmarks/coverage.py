"""How often 95 % intervals hold the truth where groups are unequal, tied or alike, and their width.

python benchmarks/coverage.py                            the whole grid, 400 worlds a cell: hours
python benchmarks/coverage.py --worlds 60 --groups 3 20 --rates 0.05
python benchmarks/coverage.py --method guaranteed --worlds 60 --groups 3

A cell is a layout of sizes × a number of groups × a shape of true rates × a level of rates. "Held"
is the share of worlds whose interval holds the truth; "passed wrongly" that whose upper end lies
below it, so that a gate at the truth would pass; the width is relative to the central 95 % of the
observed values in these worlds (what an interval would be that knew all but the truth itself).
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from evenhand._uncertainty.estimates import rate_curves
from evenhand._uncertainty.geometry import Cloud, evenest, lower_limit, most_uneven, upper_limit
from evenhand._uncertainty.multiplicity import rate_bounds
from evenhand.measures import MEASURES

NAMES = ("mpd", "gini", "pq", "shortfall")
LAYOUTS = ("equal", "zipf", "one tiny", "many tiny")
GROUPS = (2, 3, 7, 20, 80, 300)
SHAPES = ("zero", "one apart", "gradient", "two clusters", "lognormal")
RATES = (0.005, 0.05, 0.3)
ERROR = 0.05


class Case(NamedTuple):
    layout: str
    groups: int
    shape: str
    rate: float
    worlds: int
    method: str


def sizes(layout: str, groups: int) -> np.ndarray:
    """Rows of each group: 500 each, 5 to thousands, or a few (5 or 10) beside 2,000."""
    ranks = np.arange(1, groups + 1)
    if layout == "zipf":
        return np.maximum(500 * groups / ranks / (1 / ranks).sum(), 5).astype(int)
    if layout == "one tiny":
        return np.where(ranks == groups, 5, 2000)
    if layout == "many tiny":
        return np.where(ranks <= max(1, groups // 5), 2000, 10)
    return np.full(groups, 500)


def rates(shape: str, groups: int, level: float) -> np.ndarray:
    """True rates around a level; the last group is apart, which is the smallest."""
    at = np.arange(groups)
    drawn = level * np.exp(0.4 * np.random.default_rng(groups).standard_normal(groups))
    return {
        "zero": np.full(groups, level),
        "one apart": np.where(at == groups - 1, min(3 * level, 0.9), level),
        "gradient": level * np.linspace(0.6, 1.4, groups),
        "two clusters": level * np.where(at % 2, 0.7, 1.4),
        "lognormal": np.minimum(drawn, 0.95),
    }[shape]


def interval(hits: np.ndarray, rows: np.ndarray, name: str, method: str) -> tuple[float, float]:
    measure = MEASURES[name]
    rate = hits / rows
    low, high = rate_bounds(rate, rows, 1 - (1 - ERROR) ** (1 / len(rows)))
    least, most = evenest(low, high, measure), most_uneven(low, high, measure)
    if method == "guaranteed":
        return least, most
    cloud = Cloud(rate, rate_curves(hits.astype(float), rows.astype(float)))
    found = lower_limit(cloud, measure, ERROR, least)
    return max(least, found), min(most, upper_limit(cloud, measure, float(-ndtri(ERROR / 2))))


def run(case: Case) -> str:
    rows, true = sizes(case.layout, case.groups), rates(case.shape, case.groups, case.rate)
    cells = []
    for name in NAMES:
        rng = np.random.default_rng([case.groups, LAYOUTS.index(case.layout), int(1e4 * case.rate)])
        truth, held, over, width, seen = float(MEASURES[name](true)), 0, 0, 0.0, []
        for _ in range(case.worlds):
            hits = rng.binomial(rows, true)
            low, high = interval(hits, rows, name, case.method)
            held += low - 1e-9 <= truth <= high + 1e-9
            over += high < truth - 1e-9
            width += (high - low) / case.worlds
            seen.append(float(MEASURES[name](hits / rows)))
        spread = float(np.subtract(*np.quantile(seen, [0.975, 0.025])))
        ratio = f"{width / spread:.1f}" if spread > 0 else "–"
        cells.append(f"{held / case.worlds:.3f} | {over / case.worlds:.3f} | {ratio}")
    where = f"{case.layout} | {case.groups} | {case.shape} | {case.rate:g}"
    return f"| {where} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=400, help="worlds of each cell")
    parser.add_argument("--groups", type=int, nargs="+", default=GROUPS)
    parser.add_argument("--layouts", nargs="+", default=LAYOUTS, choices=LAYOUTS)
    parser.add_argument("--shapes", nargs="+", default=SHAPES, choices=SHAPES)
    parser.add_argument("--rates", type=float, nargs="+", default=RATES)
    parser.add_argument("--method", default="calibrated", choices=("calibrated", "guaranteed"))
    asked = parser.parse_args()
    heads = " | ".join(f"{name} held | passed wrongly | width" for name in NAMES)
    print(f"| sizes | groups | true rates | level | {heads} |")
    print("| --- " * 16 + "|")
    grid = product(asked.layouts, asked.groups, asked.shapes, asked.rates)
    cases = [Case(*cell, asked.worlds, asked.method) for cell in grid]
    with ProcessPoolExecutor() as pool:
        for line in pool.map(run, cases):
            print(line, flush=True)


if __name__ == "__main__":
    main()
