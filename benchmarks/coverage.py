"""How often 95 % intervals hold the truth where groups are unequal, tied or alike, and their width.

python benchmarks/coverage.py                            the whole grid, 400 worlds a cell: hours
python benchmarks/coverage.py --worlds 60 --groups 3 20 --rates 0.05
python benchmarks/coverage.py --method guaranteed --worlds 60 --groups 3
python benchmarks/coverage.py --keep cells.jsonl         goes on where it was stopped

A cell is a layout of sizes × a number of groups × a shape of true rates × a level of rates. "Held"
is the share of worlds whose interval holds the truth; "passed wrongly" that whose upper end lies
below it, so that a gate at the truth would pass; the width is relative to that of an oracle, which
knows the shape of the true rates and lacks only how far it is drawn out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand._data.tallies import Axis, Tally
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.homogeneity import homogeneity
from evenhand._uncertainty.interval import interval_of
from evenhand.criteria import selection_rate_ratio as rates_of
from evenhand.measures import MEASURES, Measure

NAMES = ("mpd", "gini", "pq", "shortfall")
LAYOUTS = ("equal", "zipf", "one tiny", "many tiny")
GROUPS = (2, 3, 7, 20, 80, 300)
SHAPES = ("zero", "one apart", "gradient", "two clusters", "lognormal")
RATES = (0.005, 0.05, 0.3)
ERROR = 0.05
STRETCHES = np.concatenate([np.linspace(0, 2, 21), np.linspace(2.2, 6, 12), [8, 12, 20]])
DRAWS = 400


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


def intervals(hits: np.ndarray, rows: np.ndarray, method: str) -> Iterator[tuple[float, float]]:
    """The interval of the selection rate by each measure, of counted rows."""
    groups = tuple(range(len(rows)))
    counted = np.stack([rows - hits, hits]).astype(float)
    cells = np.indices(counted.shape).reshape(2, -1)
    axes = (Axis("yhat", (0, 1)), Axis("group", groups))
    counts = Tally(axes, cells, {"rows": counted.ravel()})
    estimates = estimates_of(counts, rates_of, 1)
    p_value = homogeneity(counts, rates_of, estimates).p_value
    for name in NAMES:
        settings = rates_of.settings(name)
        reading = rates_of.read(counts, measure=name, favorable=1)
        found = interval_of(estimates, settings, reading, counts, 1 - ERROR, p_value, method)
        yield found.low, found.high


def oracle_width(case: Case, measure: Measure, seen: np.ndarray) -> float:
    """The mean width of intervals that know everything but how far the shape is drawn out.

    They keep the stretches of the true shape (of a gradient, where all are alike) whose central
    95 % of values hold what was seen.
    """
    rows, rng = sizes(case.layout, case.groups), np.random.default_rng(case.groups)
    shape = rates("gradient" if case.shape == "zero" else case.shape, case.groups, case.rate)
    middle = case.rate if case.shape == "one apart" else shape.mean()
    truths, ends = [], []
    for stretch in STRETCHES:
        true = np.clip(middle + stretch * (shape - middle), 0.0, 1.0)
        drawn = measure(rng.binomial(rows, true, (DRAWS, len(rows))) / rows)
        truths.append(float(measure(true)))
        ends.append(np.quantile(drawn, [ERROR / 2, 1 - ERROR / 2]))
    fine = np.linspace(0, len(STRETCHES) - 1, 20 * len(STRETCHES))
    truth, least, most = (
        np.interp(fine, np.arange(len(STRETCHES)), part) for part in (truths, *np.transpose(ends))
    )
    kept = (least <= seen[:, None]) & (seen[:, None] <= most)
    high = np.where(kept, truth, -np.inf).max(axis=1)
    low = np.where(kept, truth, np.inf).min(axis=1)
    return float(np.mean((high - low)[kept.any(axis=1)]))


def run(case: Case) -> dict[str, Any]:
    """Of every measure: the share of worlds held and passed wrongly, and the relative width."""
    rows, true = sizes(case.layout, case.groups), rates(case.shape, case.groups, case.rate)
    rng = np.random.default_rng([case.groups, LAYOUTS.index(case.layout), int(1e4 * case.rate)])
    worlds = rng.binomial(rows, true, (case.worlds, len(rows)))
    known: dict[tuple[tuple[int, int], ...], list[tuple[float, float]]] = {}
    ends = []
    for hits in worlds:
        alike = tuple(sorted(zip(rows.tolist(), hits.tolist(), strict=True)))
        if alike not in known:
            known[alike] = list(intervals(hits, rows, case.method))
        ends.append(known[alike])
    found: dict[str, Any] = {"cell": case[:4], "worlds": case.worlds}
    for name, (low, high) in zip(NAMES, np.array(ends).transpose(1, 2, 0), strict=True):
        measure = MEASURES[name]
        truth = float(measure(true))
        oracle = oracle_width(case, measure, np.asarray(measure(worlds / rows)))
        found[name] = {
            "held": float(np.mean((low - 1e-9 <= truth) & (truth <= high + 1e-9))),
            "passed": float(np.mean(high < truth - 1e-9)),
            "width": float(np.mean(high - low)) / oracle,
        }
    return found


def line(found: dict[str, Any]) -> str:
    parts = [found[name] for name in NAMES]
    cells = [f"{p['held']:.3f} | {p['passed']:.3f} | {p['width']:.1f}" for p in parts]
    return f"| {' | '.join(map(str, found['cell']))} | {' | '.join(cells)} |"


def summary(cells: list[dict[str, Any]]) -> Iterator[str]:
    """Layouts and numbers of groups: the least held over shapes and levels, and median widths."""
    yield "| sizes | groups | " + " | ".join(f"{name} held | width" for name in NAMES) + " |"
    yield "| --- " * (2 + 2 * len(NAMES)) + "|"
    for layout, groups in product(LAYOUTS, GROUPS):
        some = [cell for cell in cells if tuple(cell["cell"][:2]) == (layout, groups)]
        if some:
            parts = [[cell[name] for cell in some] for name in NAMES]
            told = [
                f"{min(p['held'] for p in part):.3f} | {np.median([p['width'] for p in part]):.1f}"
                for part in parts
            ]
            yield f"| {layout} | {groups} | {' | '.join(told)} |"
    for how, name in ((np.mean, "mean"), (np.median, "median")):
        widths = [f"{how([cell[measure]['width'] for cell in cells]):.2f}" for measure in NAMES]
        yield f"\n{name} width of {len(cells)} designs: {', '.join(widths)}"


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
    parser.add_argument("--keep", type=Path, help="a file of finished cells, to go on from later")
    asked = parser.parse_args()
    heads = " | ".join(f"{name} held | passed wrongly | width" for name in NAMES)
    print(f"| sizes | groups | true rates | level | {heads} |")
    print("| --- " * 16 + "|")
    kept = asked.keep.read_text().splitlines() if asked.keep and asked.keep.exists() else []
    done = {tuple(cell["cell"]): cell for cell in map(json.loads, kept)}
    grid = list(product(asked.layouts, asked.groups, asked.shapes, asked.rates))
    cases = [Case(*cell, asked.worlds, asked.method) for cell in grid if cell not in done]
    with ProcessPoolExecutor() as pool:
        for found in pool.map(run, cases):
            print(line(found), flush=True)
            done[tuple(found["cell"])] = found
            if asked.keep:
                with asked.keep.open("a") as file:
                    file.write(json.dumps(found) + "\n")
    print("", *summary([done[cell] for cell in grid]), sep="\n")


if __name__ == "__main__":
    main()
