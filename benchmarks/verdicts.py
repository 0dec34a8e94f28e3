"""How often groups that are alike are called different, and how often different ones are.

python benchmarks/verdicts.py                 400 worlds of each design: about ten minutes
python benchmarks/verdicts.py --worlds 100    a quick look

"Ours" is the test behind every verdict, at 5 % and at 1 %; beside it Pearson's chi-squared and the
largest standardized contrast of one group with the others (Šidák), both by their usual formulas.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from scipy.special import chdtrc, ndtr

import evenhand as eh
from evenhand._data.summaries import Rows
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.homogeneity import homogeneity

ZIPF = np.maximum(5000 // np.arange(1, 51), 5)
WORLDS_OF_COUNTS = {
    "alike: 4, 1000 : 1": ([5000, 5000, 50, 5], [0.01] * 4),
    "alike: 4, rate 0.001": ([5000, 2000, 300, 40], [0.001] * 4),
    "alike: 4, rate 0.999": ([5000, 2000, 300, 40], [0.999] * 4),
    "alike: 50, Zipf": (ZIPF, [0.05] * 50),
    "alike: 300 of 20": ([20] * 300, [0.2] * 300),
    "two of 2,000, 5 points apart": ([2000, 2000], [0.3, 0.35]),
    "the same and three of ten": ([2000, 2000, 10, 10, 10], [0.3, 0.35, 0.3, 0.3, 0.3]),
    "one of ten apart": ([500] * 10, [0.3] * 9 + [0.39]),
    "gradient of ten": ([500] * 10, np.linspace(0.27, 0.34, 10)),
    "a small one apart": ([5000] * 4 + [60], [0.3] * 4 + [0.5]),
    "sex × race, as in Adult": (
        [5747, 2605, 476, 461, 200, 104, 57, 50, 37, 31],
        [0.155, 0.115, 0.13, 0.11, 0.155, 0.115, 0.13, 0.13, 0.11, 0.11],
    ),
}


def of_counts(name: str, rng: np.random.Generator) -> tuple[float, float, float]:
    rows, rates = (np.asarray(part) for part in WORLDS_OF_COUNTS[name])
    hits = rng.binomial(rows, rates)
    group = np.repeat(np.arange(len(rows)), rows)
    y = np.concatenate([np.arange(n) < k for k, n in zip(hits, rows, strict=True)])
    ours = p_value("statistical_parity", None, y.astype(int), sensitive_features=group)
    share = hits.sum() / rows.sum()
    if not 0 < share < 1:
        return 1.0, 1.0, 1.0
    variance = rows * share * (1 - share)
    square = float(((hits - rows * share) ** 2 / variance).sum())
    most = np.sqrt(((hits - rows * share) ** 2 / (variance * (1 - rows / rows.sum()))).max())
    contrast = 1 - (1 - 2 * ndtr(-most)) ** len(rows)
    return ours, float(chdtrc(len(rows) - 1, square)), float(contrast)


def p_value(
    criterion: str, y: Any, p: Any, g: Any = None, favorable: Any = None, **more: Any
) -> float:
    asked = eh.CRITERIA[criterion].with_statistic(g)
    source = asked.kind.summarize(Rows(y, p, **more))
    found = homogeneity(source, asked, estimates_of(source, asked, favorable)).p_value
    return 1.0 if np.isnan(found) else found


def f1(rng: np.random.Generator) -> float:
    """Equal F1 of 2/3 with base rates of 0.375 and 0.015."""
    shares = [[0.25, 0.125, 0.125, 0.5], [0.01, 0.005, 0.005, 0.98]]
    kind = np.concatenate([rng.choice(4, 1500, p=part) for part in shares])
    y, p = np.isin(kind, [0, 1]).astype(int), np.isin(kind, [0, 2]).astype(int)
    group = np.repeat([*"ab"], 1500)
    return p_value("performance_parity", y, p, "f1", 1, sensitive_features=group)


def errors(rng: np.random.Generator) -> float:
    """Equal fn / fp of 1/2, with errors often in one group and seldom in the other."""
    kind = np.concatenate(
        [rng.choice(3, 900, p=part) for part in ([0.1, 0.2, 0.7], [0.01, 0.02, 0.97])]
    )
    y = np.where(kind == 0, 1, np.where(kind == 1, 0, rng.integers(0, 2, 1800)))
    p = np.where(kind == 2, y, 1 - y)
    group = np.repeat([*"ab"], 900)
    return p_value("treatment_equality", y, p, None, 1, sensitive_features=group)


def areas(rng: np.random.Generator) -> float:
    """Equal areas in groups of 10, 15, 25 and 40 rows."""
    group = np.repeat([*"abcd"], [10, 15, 25, 40])
    y = rng.integers(0, 2, 90)
    score = rng.normal(size=90) + 1.3 * y
    return p_value("performance_parity", y, None, "auroc", sensitive_features=group, y_score=score)


def heavy(rng: np.random.Generator) -> float:
    """Squared errors of lognormal size, 200, 60 and 30 rows."""
    group = np.repeat([*"abc"], [200, 60, 30])
    y = rng.lognormal(0, 1, 290)
    return p_value("performance_parity", y, np.zeros(290), "mse", sensitive_features=group)


def heavy_in_one(rng: np.random.Generator) -> float:
    """Squared errors of one size: Student's t in 200 rows, normal in 2,000 and 500."""
    group = np.repeat([*"abc"], [2000, 500, 200])
    y = np.where(group == "c", rng.standard_t(5, 2700) / np.sqrt(5 / 3), rng.normal(size=2700))
    return p_value("performance_parity", y, np.zeros(2700), "mse", sensitive_features=group)


def calibration(rng: np.random.Generator) -> float:
    """Perfect calibration in groups of 4,000 and 200 rows."""
    group = np.repeat([*"ab"], [4000, 200])
    score = rng.beta(2, 3, 4200)
    y = (rng.random(4200) < score).astype(int)
    return p_value("calibration_within_groups", y, None, sensitive_features=group, y_score=score)


def weighted(rng: np.random.Generator) -> float:
    """Selected rows weigh ten times as much as others."""
    group = rng.choice([*"abc"], 400, p=[0.6, 0.3, 0.1])
    y = rng.integers(0, 2, 400)
    weight = np.where(y == 1, 10.0, 1.0)
    return p_value("statistical_parity", None, y, sensitive_features=group, sample_weight=weight)


def distributions(rng: np.random.Generator) -> float:
    """The same scores in groups of 1,000, 50 and 10 rows."""
    group = np.repeat([*"abc"], [1000, 50, 10])
    return p_value("strong_parity", None, rng.exponential(size=1060), sensitive_features=group)


OTHERS: dict[str, Callable[[np.random.Generator], float]] = {
    "alike: F1, other base rates": f1,
    "alike: ratio of errors": errors,
    "alike: AUROC, 10 to 40 rows": areas,
    "alike: heavy-tailed losses": heavy,
    "alike: heavy tails in one small group": heavy_in_one,
    "alike: calibration within groups": calibration,
    "alike: weights go with the outcome": weighted,
    "alike: distributions": distributions,
}


def run(case: tuple[str, int]) -> str:
    name, worlds = case
    rng = np.random.default_rng(len(name))
    if name in OTHERS:
        ours = np.array([OTHERS[name](rng) for _ in range(worlds)])
        shares = [np.mean(ours <= 0.05), np.mean(ours <= 0.01), np.nan, np.nan]
    else:
        found = np.array([of_counts(name, rng) for _ in range(worlds)])
        shares = [np.mean(found[:, 0] <= 0.01), *np.mean(found[:, 1:] <= 0.05, axis=0)]
        shares = [np.mean(found[:, 0] <= 0.05), *shares]
    cells = ["–" if np.isnan(share) else f"{share:.3f}" for share in shares]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=400)
    worlds = parser.parse_args().worlds
    print("| groups | ours at 5% | ours at 1% | chi-squared at 5% | largest contrast at 5% |")
    print("| --- | --- | --- | --- | --- |")
    with ProcessPoolExecutor() as pool:
        for line in pool.map(run, [(name, worlds) for name in (*WORLDS_OF_COUNTS, *OTHERS)]):
            print(line, flush=True)


if __name__ == "__main__":
    main()
