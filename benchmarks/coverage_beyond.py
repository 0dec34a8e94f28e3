"""Coverage of 95 % intervals where a statistic is not a count: means, losses, areas, distributions.

python benchmarks/coverage_beyond.py                 100 worlds of each case
python benchmarks/coverage_beyond.py --worlds 20     a quick look

Group a of d has the parameter v(a): all 0 ("zero"), one at 0.5 ("one apart"), or evenly from 0 to
0.5 ("spread"). Predictions are gamma with mean 2 + v, errors normal with variance 1 + v, scores of
positives normal with mean 1 + v (of negatives 0), and scores of the distributions normal with mean
v.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

import evenhand as eh
from evenhand._data.summaries import Rows, summarize

MEASURES = ("mpd", "gini", "pq")
GROUPS, ROWS, SHAPES = (2, 10, 50), (200, 1000), ("zero", "one apart", "spread")


class Case(NamedTuple):
    what: str
    groups: int
    rows: int
    shape: str
    worlds: int


def parameters(case: Case) -> np.ndarray:
    if case.shape == "spread":
        return np.linspace(0, 0.5, case.groups)
    return np.where((np.arange(case.groups) == 0) & (case.shape == "one apart"), 0.5, 0.0)


def means(v: np.ndarray, group: np.ndarray, rng: np.random.Generator) -> Any:
    yhat = rng.gamma(2.0, (2 + v[group]) / 2)
    return eh.tally(None, yhat, sensitive_features=group, task="regression")


def losses(v: np.ndarray, group: np.ndarray, rng: np.random.Generator) -> Any:
    error = rng.normal(scale=np.sqrt(1 + v[group]))
    return eh.tally(error, np.zeros(len(group)), sensitive_features=group, task="regression")


def areas(v: np.ndarray, group: np.ndarray, rng: np.random.Generator) -> Any:
    y = rng.integers(0, 2, len(group))
    score = rng.normal((1 + v[group]) * y)
    return summarize("ranks", Rows(y, None, y_score=score, sensitive_features=group))


def levels(v: np.ndarray, group: np.ndarray, rng: np.random.Generator) -> Any:
    return eh.distribution(rng.normal(v[group]), sensitive_features=group)


def true_levels(v: np.ndarray) -> np.ndarray:
    return norm.cdf(np.linspace(-6, 7, 6501)[:, None] - v)


class What(NamedTuple):
    criterion: str
    options: dict[str, str]
    draw: Callable[..., Any]
    truth: Callable[[np.ndarray, str], float]


def measured(values: np.ndarray, name: str) -> float:
    return float(eh.MEASURES[name](values))


def supremum(v: np.ndarray, name: str) -> float:
    at = true_levels(v)
    return float(np.max(eh.MEASURES[name](at if name == "mpd" else np.exp(at))))


def integral(v: np.ndarray, name: str) -> float:
    return float(eh.MEASURES[name](true_levels(v)).sum() * 13 / 6500)


WHAT = {
    "mean": What("weak_parity", {}, means, lambda v, m: measured(2 + v, m)),
    "mse": What("performance_parity", {"g": "mse"}, losses, lambda v, m: measured(1 + v, m)),
    "auroc": What(
        "performance_parity",
        {"g": "auroc"},
        areas,
        lambda v, m: measured(norm.cdf((1 + v) / np.sqrt(2)), m),
    ),
    "supremum of CDFs": What("strong_parity", {}, levels, supremum),
}


def run(case: Case) -> str:
    rng = np.random.default_rng([len(case.what), case.groups, case.rows, SHAPES.index(case.shape)])
    what, v = WHAT[case.what], parameters(case)
    group = np.repeat(np.arange(case.groups), case.rows)
    held, width = dict.fromkeys(MEASURES, 0), dict.fromkeys(MEASURES, 0.0)
    for _ in range(case.worlds):
        source = what.draw(v, group, rng)
        for name in MEASURES:
            found = eh.interval(what.criterion, source, measure=name, **what.options)
            held[name] += found.low - 1e-9 <= what.truth(v, name) <= found.high + 1e-9
            width[name] += found.high - found.low
    cells = [
        f"{held[name] / case.worlds:.2f} | {width[name] / case.worlds:.4f}" for name in MEASURES
    ]
    return f"| {case.what} | {case.groups} | {case.rows} | {case.shape} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=100, help="worlds of each case")
    parser.add_argument("--what", nargs="*", default=list(WHAT), help="which statistics")
    options = parser.parse_args()
    heads = [f"{name} held | width" for name in MEASURES]
    print(f"| statistic | groups | rows in each | true values | {' | '.join(heads)} |")
    print("| --- " * 10 + "|")
    cases = [Case(*case, options.worlds) for case in product(options.what, GROUPS, ROWS, SHAPES)]
    with ProcessPoolExecutor() as pool:
        for line in pool.map(run, cases):
            print(line, flush=True)


if __name__ == "__main__":
    main()
