"""How often `compare` finds that two models' scores differ in a gap, where they do and do not.

python benchmarks/compare_scores.py                       200 simulations of each design
python benchmarks/compare_scores.py --simulations 400     as in docs/explanation/coverage.md

Two models score the same rows with errors of their own. Every gap between groups is the same with
both, except in designs of power, where the second model is worse in the first group. Shown are the
shares of p-values of at most 5 % and 1 %, and of the intervals of the named pair that hold the true
difference of 0. Beside power is that of the test of DeLong and others of the difference of both
groups' differences of areas, which knows where to look.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

import evenhand as eh

CRITERIA = {
    "auroc": "performance_parity(auroc)",
    "log loss": "performance_parity(cross_entropy)",
    "calibration": "calibration_within_groups",
}
Rng = np.random.Generator
Weighing = Callable[[Rng, int, np.ndarray], dict[str, Any]]


class Design(NamedTuple):
    """Sizes of groups, the share of positives, how rows go together, and a gap of one model."""

    name: str
    sizes: tuple[int, ...]
    positives: float = 0.3
    design: str = "independent"
    worse: float = 0.0  # standard deviation that the second model adds in the first group


DESIGNS = (
    Design("600, 300", (600, 300)),
    Design("1000, 60", (1000, 60)),
    Design("2000, 200, 5% positive", (2000, 200), 0.05),
    Design("five of 200", (200,) * 5),
    Design("500, 200, weights", (500, 200), design="weights"),
    Design("400, 400, 40 clusters across", (400, 400), design="clusters"),
    Design("400, 400, survey of 48 clusters", (400, 400), design="survey"),
    Design("600, 300, a gap", (600, 300), worse=1.0),
    Design("400, 100, a gap", (400, 100), worse=1.2),
)


def drawn(design: Design, rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
    """The truth, the scores of both models (2, rows), the groups, and weights or clusters."""
    group = rng.permutation(np.repeat(np.arange(len(design.sizes)), design.sizes))
    rows = len(group)
    y, columns, level = (rng.random(rows) < design.positives).astype(int), {}, np.zeros(rows)
    if design.design == "weights":
        columns["sample_weight"] = np.exp(0.7 * rng.standard_normal(rows))
    if design.design == "clusters":
        cluster = np.arange(rows) % 40
        level, columns["cluster"] = rng.standard_normal(40)[cluster], cluster
    if design.design == "survey":
        cluster = np.arange(rows) % 48
        weight = rng.uniform(1, 3, rows)
        level = rng.standard_normal(48)[cluster]
        survey = eh.survey_weights(weight, strata=cluster // 12, cluster=cluster)
        columns["sample_weight"] = survey
    common = rng.standard_normal(rows) + 1.3 * y + level
    own = 0.5 * rng.standard_normal((2, rows)) + 0.5 * level * np.array([[1], [-1]])
    own[1] += design.worse * rng.standard_normal(rows) * (group == 0)
    return y, 1 / (1 + np.exp(0.8 - common - own)), group, columns


def delong(y: np.ndarray, scores: np.ndarray, group: np.ndarray) -> float:
    """The p-value of equal differences of the areas in both groups."""
    difference, variance = 0.0, 0.0
    for a, sign in ((0, 1), (1, -1)):
        won, lost = [], []
        for score in scores:
            high, low = score[(group == a) & (y == 1)], score[(group == a) & (y == 0)]
            wins = high[:, None] > low
            won.append(wins.mean(axis=1))
            lost.append(wins.mean(axis=0))
        difference += sign * (won[0].mean() - won[1].mean())
        variance += sum((p - q).var(ddof=1) / len(p) for p, q in (won, lost))
    return float(2 * norm.sf(abs(difference) / np.sqrt(variance)))


def line(design: Design, simulations: int) -> str:
    found = []
    for i in range(simulations):
        y, scores, group, columns = drawn(design, np.random.default_rng([i, 12]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            comparison = eh.compare(
                y,
                y_score=dict(zip("st", scores, strict=True)),
                sensitive_features=group,
                criteria=list(CRITERIA.values()),
                measures="mpd",
                **columns,
            )
        gaps = comparison.gaps
        held = (gaps["low"] <= 1e-9) & (gaps["high"] >= -1e-9)
        beside = delong(y, scores, group) if design.worse else np.nan
        found.append([*gaps["p_value"], *held, beside])
    p, held, beside = np.split(np.array(found, dtype=float), [3, 6], axis=1)
    cells = [
        f"{(p[:, k] <= 0.05).mean():.3f} | {(p[:, k] <= 0.01).mean():.3f} | {held[:, k].mean():.3f}"
        for k in range(len(CRITERIA))
    ]
    last = f"{(beside <= 0.05).mean():.3f}" if design.worse else "–"
    return f"| {design.name} | {' | '.join(cells)} | {last} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=200)
    options = parser.parse_args()
    heads = " | ".join(f"{name} at 5 % | at 1 % | held" for name in CRITERIA)
    print(f"| rows | {heads} | DeLong |\n|{' --- |' * (2 + 3 * len(CRITERIA))}", flush=True)
    for design in DESIGNS:
        print(line(design, options.simulations), flush=True)


if __name__ == "__main__":
    main()
