"""How often intervals hold the truth where rows come in clusters, with and without `cluster=`.

python benchmarks/clusters.py                          the whole grid, 400 worlds a cell
python benchmarks/clusters.py --worlds 100 --clusters 50 --groups 10

A world has clusters of about 20 rows (lognormal sizes, 1 to over 100) with the stated correlation
within them. "Nested": a cluster belongs to one group, as the decisions on one person do. "Crossed":
every cluster has rows of all groups, which go together, as pupils of one school do. "Quota": the
same, but every cluster selects the same share of its rows, and all groups are alike. In the others
true rates run evenly from 0.6 to 1.4 times the level.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta

from evenhand._data.tallies import Axis, Tally
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.homogeneity import homogeneity
from evenhand._uncertainty.interval import interval_of
from evenhand.criteria import selection_rate_ratio as rates_of
from evenhand.measures import MEASURES

NAMES = ("mpd", "gini", "pq", "shortfall")
LAYOUTS = ("nested", "crossed", "quota")
CORRELATIONS = (0.05, 0.2, 0.5)
CLUSTERS = (50, 500)
GROUPS = (2, 10, 20)
RATES = (0.05, 0.3)
MEAN_ROWS = 20


class Case(NamedTuple):
    layout: str
    clusters: int
    groups: int
    correlation: float
    rate: float
    worlds: int


def world(case: Case, true: np.ndarray, rng: np.random.Generator) -> Tally:
    """Hits and misses of one world, by cluster and group."""
    rows = np.maximum(rng.lognormal(np.log(MEAN_ROWS) - 0.25, 0.7, case.clusters), 1).astype(int)
    if case.layout == "nested":
        group = np.arange(case.clusters) % case.groups
        cluster = np.arange(case.clusters)
        luck = rng.random(case.clusters)
    else:
        cluster, group = np.divmod(np.arange(case.clusters * case.groups), case.groups)
        rows = np.maximum(rows // min(case.groups, 5), 1)[cluster]
        luck = rng.random(case.clusters)[cluster]
    strength = 1 / case.correlation - 1
    rates = beta.ppf(luck, true[group] * strength, (1 - true[group]) * strength)
    hits = rng.binomial(rows, np.nan_to_num(rates))
    if case.layout == "quota":
        rows = np.full(len(rows), 10)
        hits = filled(rows, true[group], cluster, rng)
    return tally_of(cluster, group, rows, hits, case)


def filled(rows: Any, odds: Any, cluster: Any, rng: np.random.Generator) -> Any:
    """As many are selected in every cluster as is expected of it, with the stated chances."""
    row_cluster, row_unit = np.repeat(cluster, rows), np.repeat(np.arange(len(rows)), rows)
    keys = rng.random(len(row_unit)) - np.repeat(odds, rows)
    order = np.lexsort((keys, row_cluster))
    rank = np.arange(len(order)) - np.searchsorted(row_cluster[order], row_cluster[order])
    places = np.rint(np.bincount(cluster, rows * odds))[row_cluster[order]]
    return np.bincount(row_unit[order][rank < places], minlength=len(rows))


def tally_of(cluster: Any, group: Any, rows: Any, hits: Any, case: Case) -> Tally:
    axes = (
        Axis("yhat", (0, 1)),
        Axis("cluster", tuple(range(case.clusters))),
        Axis("group", tuple(range(case.groups))),
    )
    label = np.repeat([0, 1], len(rows))
    cells = np.array([label, np.tile(cluster, 2), np.tile(group, 2)])
    counted = np.concatenate([rows - hits, hits])
    kept = counted > 0
    return Tally(axes, cells[:, kept], {"rows": counted[kept]})


def intervals(counts: Tally) -> Iterator[tuple[float, float]]:
    estimates = estimates_of(counts, rates_of, 1)
    p_value = homogeneity(counts, rates_of, estimates).p_value
    for name in NAMES:
        reading = rates_of.read(counts, measure=name, favorable=1)
        found = interval_of(estimates, rates_of.settings(name), reading, counts, 0.95, p_value)
        yield found.low, found.high
    yield p_value, 0.0


def run(case: Case) -> dict[str, Any]:
    """Of every measure: the share of worlds held, with and without clusters, and mean widths."""
    code = [LAYOUTS.index(case.layout), case.clusters, case.groups, int(1e3 * case.rate)]
    rng = np.random.default_rng([*code, int(1e3 * case.correlation)])
    spread = 0.0 if case.layout == "quota" else 0.4
    true = case.rate * np.linspace(1 - spread, 1 + spread, case.groups)
    seen, naive, alike = [], [], []
    for _ in range(case.worlds):
        counts = world(case, true, rng)
        seen.append(list(intervals(counts)))
        naive.append(list(intervals(counts.whole)))
        equal = world(case, np.full(case.groups, case.rate), rng)
        alike.append(homogeneity(equal, rates_of, estimates_of(equal, rates_of, 1)).p_value)
    found: dict[str, Any] = {"cell": case[:5], "alike": float(np.mean(np.array(alike) <= 0.05))}
    ours, plain = np.array(seen), np.array(naive)
    for at, name in enumerate(NAMES):
        truth = float(MEASURES[name](true))
        ends = [(part[:, at, 0] - 1e-9, part[:, at, 1] + 1e-9) for part in (ours, plain)]
        found[name] = [float(np.mean((low <= truth) & (truth <= high))) for low, high in ends]
        found[name].append(float(np.mean(ends[0][1] - ends[0][0])))
        found[name].append(float(np.mean(ends[0][1] < truth)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=400, help="worlds of each cell")
    parser.add_argument("--layouts", nargs="+", default=LAYOUTS, choices=LAYOUTS)
    parser.add_argument("--clusters", type=int, nargs="+", default=CLUSTERS)
    parser.add_argument("--groups", type=int, nargs="+", default=GROUPS)
    parser.add_argument("--correlations", type=float, nargs="+", default=CORRELATIONS)
    parser.add_argument("--rates", type=float, nargs="+", default=RATES)
    asked = parser.parse_args()
    heads = " | ".join(f"{name} held | without | width" for name in NAMES)
    print(f"| layout | clusters | groups | correlation | level | alike, rejected | {heads} |")
    print("| --- " * 18 + "|")
    grid = product(asked.layouts, asked.clusters, asked.groups, asked.correlations, asked.rates)
    with ProcessPoolExecutor() as pool:
        for found in pool.map(run, [Case(*cell, asked.worlds) for cell in grid]):
            parts = [f"{h:.3f} | {n:.3f} | {w:.2f}" for h, n, w, _ in map(found.get, NAMES)]
            cells = " | ".join(map(str, found["cell"]))
            print(f"| {cells} | {found['alike']:.3f} | {' | '.join(parts)} |", flush=True)


if __name__ == "__main__":
    main()
