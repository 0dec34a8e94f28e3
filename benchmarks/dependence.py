"""Every statistic under every dependence: how often groups that are alike are said to differ.

python benchmarks/dependence.py                        60 simulations of each pair
python benchmarks/dependence.py --simulations 400      as in docs/explanation/coverage.md
python benchmarks/dependence.py --only auroc survey    statistics or dependences with these words

A few large effects are common to the rows of a cluster: they move labels, scores, predictions and
errors alike. Clusters lie inside of groups, have rows of all groups, are crossed, or were sampled
within strata with weights, of which the replicates tell. Each line is a dependence: the shares of
p-values of at most 5 % and 1 % by statistic.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from adversarial import Columns, Design, Rng, asked, repeated

import evenhand as eh

STATISTICS: dict[str, tuple[str, str | None]] = {
    "selection rate": ("statistical_parity", None),
    "tpr": ("equal_opportunity", None),
    "tpr, fpr": ("equalized_odds", None),
    "ppv": ("predictive_parity", None),
    "f1": ("performance_parity", "f1"),
    "fn / fp": ("treatment_equality", None),
    "auroc": ("performance_parity", "auroc"),
    "log loss": ("performance_parity", "cross_entropy"),
    "calibration": ("calibration_within_groups", None),
    "outcomes by score": ("calibration_parity", None),
    "mean": ("weak_parity", None),
    "mse": ("performance_parity", "mse"),
    "r2": ("performance_parity", "r2"),
    "distribution": ("strong_parity", None),
}
LABELS = ("selection rate", "tpr", "tpr, fpr", "ppv", "f1", "fn / fp")
SCORES = ("auroc", "log loss", "calibration", "outcomes by score")

Units = Callable[[Rng], tuple[np.ndarray, np.ndarray, Columns]]


def inside(rng: Rng) -> tuple[np.ndarray, np.ndarray, Columns]:
    """25 clusters of each of two groups."""
    cluster = np.repeat(np.arange(50), rng.integers(5, 25, 50))
    return (cluster >= 25).astype(int), rng.standard_normal(50)[cluster], {"cluster": cluster}


def across(groups: int) -> Units:
    """40 clusters with rows of all groups, unequally many."""

    def units(rng: Rng) -> tuple[np.ndarray, np.ndarray, Columns]:
        cluster = np.repeat(np.arange(40), rng.integers(10, 30, 40))
        group = rng.choice(
            groups, len(cluster), p=np.arange(groups, 0, -1) * 2 / groups / (groups + 1)
        )
        return group, rng.standard_normal(40)[cluster], {"cluster": cluster}

    return units


def crossed(rng: Rng) -> tuple[np.ndarray, np.ndarray, Columns]:
    """25 raters of 30 items."""
    one, two = np.repeat(np.arange(25), 30), np.tile(np.arange(30), 25)
    level = (rng.standard_normal(25)[one] + rng.standard_normal(30)[two]) / np.sqrt(2)
    return rng.integers(0, 2, len(one)), level, {"cluster": {"rater": one, "item": two}}


def survey(is_inside: bool, groups: int = 2) -> Units:
    """Four strata of twelve clusters, with weights by stratum and by row."""

    def units(rng: Rng) -> tuple[np.ndarray, np.ndarray, Columns]:
        cluster = np.repeat(np.arange(48), rng.integers(8, 24, 48))
        stratum = cluster // 12
        group = cluster % groups if is_inside else rng.integers(0, groups, len(cluster))
        level = rng.standard_normal(48)[cluster] + 0.5 * stratum
        weight = np.array([1.0, 2.0, 3.0, 5.0])[stratum] * rng.uniform(0.7, 1.4, len(cluster))
        weights = eh.survey_weights(weight, strata=stratum, cluster=cluster)
        return group, level, {"sample_weight": weights}

    return units


def weighted(rng: Rng) -> tuple[np.ndarray, np.ndarray, Columns]:
    """Independent rows, with weights that follow a common part of all values."""
    group = repeated((500, 200))
    level = rng.standard_normal(700)
    return group, level, {"sample_weight": np.exp(0.5 * level + 0.4 * rng.standard_normal(700))}


def plain(rng: Rng) -> tuple[np.ndarray, np.ndarray, Columns]:
    group = repeated((500, 200))
    return group, rng.standard_normal(700), {}


DEPENDENCES: dict[str, Units] = {
    "independent rows": plain,
    "weights follow the value": weighted,
    "25 clusters inside of each of 2 groups": inside,
    "40 clusters across 2 groups": across(2),
    "40 clusters across 4 groups": across(4),
    "25 raters crossed with 30 items": crossed,
    "survey, 48 clusters inside of 2 groups": survey(True),
    "survey, 48 clusters across 2 groups": survey(False),
    "survey, 48 clusters across 4 groups": survey(False, 4),
}


def drawn(units: Units, statistic: str) -> Callable[[Rng], Columns]:
    def draw(rng: Rng) -> Columns:
        group, level, columns = units(rng)
        rows = len(group)
        score = 1 / (1 + np.exp(-0.8 * (level + rng.standard_normal(rows))))
        y = (rng.random(rows) < 1 / (1 + np.exp(-level - rng.standard_normal(rows)))).astype(int)
        columns |= {"sensitive_features": group}
        if statistic in LABELS:
            said = (score > 0.5).astype(int)
            return columns | {"y_true": y, "y_pred": said, "favorable": 1}
        if statistic in SCORES:
            return columns | {"y_true": y, "y_score": score, "score_of": 1}
        values = level + rng.standard_normal(rows)
        if statistic in ("mse", "r2"):
            spread = np.exp(0.4 * level)  # of the errors, which are larger in some clusters
            return columns | {
                "y_true": values + spread * rng.standard_normal(rows),
                "y_pred": values,
            }
        return columns | {"y_pred": values}

    return draw


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=60)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| statistic | dependence | at 5 % | at 1 % |\n| --- | --- | --- | --- |", flush=True)
    for name, (criterion, g) in STATISTICS.items():
        for dependence, units in DEPENDENCES.items():
            if options.only and not any(
                word in (name, *dependence.replace(",", "").split()) for word in options.only
            ):
                continue
            design = Design(name, criterion, drawn(units, name), g=g)
            seeds = ([i, options.seed] for i in range(options.simulations))
            p = np.array([asked(design, np.random.default_rng(seed)).p_value for seed in seeds])
            shares = " | ".join(f"{np.mean(p <= level):.3f}" for level in (0.05, 0.01))
            print(f"| {name} | {dependence} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
