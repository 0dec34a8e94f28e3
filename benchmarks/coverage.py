"""How often the 95 % interval of a criterion holds the true value, and how wide it is.

python benchmarks/coverage.py                 the whole grid, 200 worlds each: about 20 minutes
python benchmarks/coverage.py --worlds 40     a quick look
python benchmarks/coverage.py --only 2 50 spread
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

import evenhand as eh
from evenhand._uncertainty.interval import Worlds, bounds, stories
from evenhand._uncertainty.question import questions

MEASURES = ("mpd", "gini", "pq")
GROUPS, ROWS, SHAPES = (2, 10, 50, 200), (50, 500, 2000), ("zero", "one apart", "spread")


class Case(NamedTuple):
    groups: int
    rows: int
    shape: str
    worlds: int


def rates(case: Case) -> np.ndarray:
    """True selection rates: all 0.3, one at 0.45, or evenly from 0.2 to 0.4."""
    if case.shape == "spread":
        return np.linspace(0.2, 0.4, case.groups)
    return np.where((np.arange(case.groups) == 0) & (case.shape == "one apart"), 0.45, 0.3)


def counted(selected: np.ndarray, rows: int) -> eh.Tally:
    """A tally of so many selected of so many rows in every group."""
    groups = len(selected)
    axes = eh.tally(None, [0, 1] * groups, sensitive_features=np.repeat(np.arange(groups), 2))
    cells = np.array([np.tile([0, 1], groups), np.repeat(np.arange(groups), 2)])
    sums = np.column_stack([rows - selected, selected]).ravel()
    return eh.Tally(axes.axes, cells, {"rows": sums})


def box_width(selected: np.ndarray, rows: int) -> float:
    """Width of a simple bound of MPD: intervals of all rates at once, by Bonferroni."""
    rate = selected / rows
    reach = norm.ppf(1 - 0.025 / len(rate)) * np.sqrt(
        np.maximum(rate * (1 - rate), 1 / rows) / rows
    )
    low = max(0.0, (rate - reach).max() - (rate + reach).min())
    return float((rate + reach).max() - (rate - reach).min() - low)


def intervals(counts: eh.Tally, rng: np.random.Generator) -> dict[str, eh.ConfidenceInterval]:
    """Intervals by all measures, which share their worlds as in an audit."""
    model, asked = questions(counts, "statistical_parity", MEASURES)
    worlds = Worlds(model, list(stories(model)), rng)
    return dict(zip(MEASURES, (bounds(one, worlds, 0.95) for one in asked), strict=True))


def run(case: Case) -> str:
    rng = np.random.default_rng([case.groups, case.rows, SHAPES.index(case.shape)])
    true = rates(case)
    expected = counted(true * case.rows, case.rows)
    truth = {name: eh.evaluate("statistical_parity", expected, measure=name) for name in MEASURES}
    held, width, box = dict.fromkeys(MEASURES, 0), dict.fromkeys(MEASURES, 0.0), 0.0
    for _ in range(case.worlds):
        selected = rng.binomial(case.rows, true)
        box += box_width(selected, case.rows)
        for name, found in intervals(counted(selected, case.rows), rng).items():
            held[name] += found.low - 1e-9 <= truth[name] <= found.high + 1e-9
            width[name] += found.high - found.low
    cells = [
        f"{held[name] / case.worlds:.3f} | {width[name] / case.worlds:.4f}" for name in MEASURES
    ]
    where = f"{case.groups} | {case.rows} | {case.shape}"
    return f"| {where} | {' | '.join(cells)} | {box / case.worlds:.4f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=200, help="worlds of each case")
    parser.add_argument("--only", nargs=3, metavar=("GROUPS", "ROWS", "SHAPE"), help="one case")
    options = parser.parse_args()
    heads = [f"{name} held | width" for name in MEASURES]
    print(f"| groups | rows in each | true rates | {' | '.join(heads)} | simple bound of mpd |")
    print("| --- " * 10 + "|")
    cases = [Case(*case, options.worlds) for case in product(GROUPS, ROWS, SHAPES)]
    if options.only:
        groups, rows, shape = options.only
        cases = [Case(int(groups), int(rows), shape, options.worlds)]
    with ProcessPoolExecutor() as pool:
        for line in pool.map(run, cases):
            print(line, flush=True)


if __name__ == "__main__":
    main()
