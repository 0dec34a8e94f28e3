"""How often the 95 % interval of a difference between two models holds the true difference.

python benchmarks/compare_coverage.py                            the whole grid: hours
python benchmarks/compare_coverage.py --worlds 200 --groups 3 20 --rates 0.05 --others flat
python benchmarks/compare_coverage.py --bootstrap --worlds 100 --groups 50 --rates 0.3

Sizes of groups and true rates of the first model are those of `coverage.py`. The second model has
the same rates ("same"), one rate everywhere ("flat"), the same rates the other way round
("reversed") or twice the rates ("double"). The two decide by the same draw in no row
("independent"), in 90 %, or in 99.5 % of the rows. The width is relative to the central 95 % of the
observed differences; with --bootstrap the coverage and the relative width of a plain bootstrap of
the rows (percentiles, 400 draws) follow.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np
from coverage import GROUPS, LAYOUTS, NAMES, RATES, SHAPES, rates, sizes

from evenhand._uncertainty.curves import rate_curves
from evenhand._uncertainty.geometry import Cloud
from evenhand._uncertainty.paired import correlated, farthest, reach_of
from evenhand._uncertainty.paths import path_of
from evenhand.measures import MEASURES

SHARED = {"independent": 0.0, "90 % shared": 0.9, "99.5 % shared": 0.995}
OTHERS = ("same", "flat", "reversed", "double")
DRAWS = 400


class Case(NamedTuple):
    layout: str
    groups: int
    shape: str
    rate: float
    shared: str
    other: str
    worlds: int
    bootstrap: bool


def other_rates(case: Case) -> np.ndarray:
    """True rates of the second model."""
    same = rates(case.shape, case.groups, case.rate)
    return {
        "same": same,
        "flat": np.full(case.groups, case.rate),
        "reversed": same[::-1],
        "double": np.minimum(rates(case.shape, case.groups, 2 * case.rate), 0.95),
    }[case.other]


def joint(first: np.ndarray, second: np.ndarray, shared: float) -> np.ndarray:
    """Shares (groups, 4) of rows selected by both models, by the first or second only, by none."""
    both = shared * np.minimum(first, second) + (1 - shared) * first * second
    return np.stack([both, first - both, second - both, 1 - first - second + both], axis=1)


def interval(counts: np.ndarray, name: str) -> tuple[float, float]:
    """The 95 % interval of the difference, from counts (groups, 4)."""
    rows, measure = counts.sum(axis=1).astype(float), MEASURES[name]
    hits = [(counts[:, 0] + counts[:, k]).astype(float) for k in (1, 2)]
    share = [part / rows for part in hits]
    covariance = (counts[:, 0] / rows - share[0] * share[1]) / rows
    variances = [part * (1 - part) / rows for part in share]
    together = correlated(covariance, *variances, 1 / rows, 1 / rows)
    everyone, reach = np.ones(len(rows), bool), np.array([reach_of(0.95)])
    one, two = (
        path_of(Cloud(part / rows, rate_curves(part, rows)), everyone, measure) for part in hits
    )
    low = -farthest(two, one, together, measure, reach)[0]
    return float(low), float(farthest(one, two, together, measure, reach)[0])


def observed(counts: np.ndarray, name: str) -> np.ndarray:
    """The observed difference, of counts (…, groups, 4)."""
    rows, measure = counts.sum(axis=-1), MEASURES[name]
    one, two = ((counts[..., 0] + counts[..., k]) / rows for k in (1, 2))
    return np.asarray(measure(one) - measure(two))


def run(case: Case) -> str:
    first, second = rates(case.shape, case.groups, case.rate), other_rates(case)
    rows, shares = sizes(case.layout, case.groups), joint(first, second, SHARED[case.shared])
    rng = np.random.default_rng([case.groups, LAYOUTS.index(case.layout), int(1e4 * case.rate)])
    worlds = rng.multinomial(rows, shares, size=(case.worlds, len(rows)))
    cells = []
    for name in NAMES:
        truth = float(MEASURES[name](first) - MEASURES[name](second))
        spread = np.subtract(*np.quantile(observed(worlds, name), [0.975, 0.025]))
        ends = [np.array([interval(counts, name) for counts in worlds])]
        if case.bootstrap:
            ends.append(np.array([plain(counts, rows, name, rng) for counts in worlds]))
        for low, high in (part.T for part in ends):
            held = np.mean((low <= truth + 1e-9) & (truth <= high + 1e-9))
            width = f"{np.mean(high - low) / spread:.1f}" if spread > 0 else "–"
            cells.append(f"{held:.3f} | {width}")
    where = [case.layout, case.groups, case.shape, f"{case.rate:g}", case.shared, case.other]
    return f"| {' | '.join(map(str, where))} | {' | '.join(cells)} |"


def plain(
    counts: np.ndarray, rows: np.ndarray, name: str, rng: np.random.Generator
) -> tuple[float, float]:
    """Percentiles of the difference in rows drawn again."""
    drawn = rng.multinomial(rows, counts / rows[:, None], size=(DRAWS, len(rows)))
    low, high = np.quantile(observed(drawn, name), [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=400, help="worlds of each cell")
    parser.add_argument("--groups", type=int, nargs="+", default=GROUPS)
    parser.add_argument("--layouts", nargs="+", default=LAYOUTS, choices=LAYOUTS)
    parser.add_argument("--shapes", nargs="+", default=SHAPES, choices=SHAPES)
    parser.add_argument("--rates", type=float, nargs="+", default=RATES)
    parser.add_argument("--shared", nargs="+", default=tuple(SHARED), choices=SHARED)
    parser.add_argument("--others", nargs="+", default=OTHERS, choices=OTHERS)
    parser.add_argument("--bootstrap", action="store_true", help="beside a plain bootstrap")
    asked = parser.parse_args()
    parts = " | plain held | width" if asked.bootstrap else ""
    heads = " | ".join(f"{name} held | width{parts}" for name in NAMES)
    print(f"| sizes | groups | true rates | level | models | second model | {heads} |")
    print("| --- " * (6 + len(NAMES) * (4 if asked.bootstrap else 2)) + "|", flush=True)
    grid = product(
        *(asked.layouts, asked.groups, asked.shapes, asked.rates, asked.shared, asked.others)
    )
    cases = [Case(*cell, asked.worlds, asked.bootstrap) for cell in grid]
    with ProcessPoolExecutor() as pool:
        for line in pool.map(run, cases):
            print(line, flush=True)


if __name__ == "__main__":
    main()
