"""Small designs of every kind, for laws and for other libraries' numbers.

Rates, losses, areas, calibration, means and distributions; of few rows and of many, weighted, in
clusters, in strata and of surveys.
"""

from functools import cache
from typing import Any

import numpy as np

import evenhand as eh
from evenhand.criteria.criterion import Criterion


@cache
def labels(name: str) -> dict[str, Any]:
    """Columns of labels: groups of these sizes, and rates that differ."""
    sizes = {
        "two": [40, 60],
        "small": [4, 12, 40, 90],
        "crowd": [20] * 14 + [35] * 6,
        "large": [4000, 9000, 2500],
        "one apart": [60, *[40] * 24],
        "none selected": [12, 30, 9],
    }.get(name, [60, 90, 50])
    rng = np.random.default_rng(len(sizes))
    group = np.repeat(np.arange(len(sizes)), sizes)
    steep = (group + 1) / (len(sizes) + 1)
    score = np.clip(0.25 + 0.5 * steep + 0.25 * rng.standard_normal(len(group)), 0.01, 0.99)
    if name == "three classes":
        y, p = (np.digitize(score + 0.2 * rng.standard_normal(len(group)), [0.4, 0.65]),) * 2
        p = np.where(rng.random(len(group)) < 0.3, rng.integers(0, 3, len(group)), p)
    else:
        y, p = (rng.random(len(group)) < score).astype(int), (score > 0.5).astype(int)
        p = np.where(rng.random(len(group)) < 0.15, 1 - p, p)
    if name == "small":
        y[group == 0], p[group == 0] = 0, 0  # of whom none is selected, nor qualifies
    if name == "one apart":
        p = np.where(group == 0, rng.random(len(group)) < 0.95, rng.random(len(group)) < 0.35) * 1
    if name == "none selected":
        p = np.where(group == 1, rng.random(len(group)) < 0.1, False) * 1
    columns = {"y_true": y, "y_pred": p, "sensitive_features": group}
    if "weighted" in name:
        columns["sample_weight"] = np.round(0.4 + rng.exponential(1.0, len(group)), 2)
    if "clustered" in name:
        columns["cluster"] = rng.integers(0, 45, len(group))
    if "few clusters" in name:  # each with its own habit
        columns["cluster"] = rng.integers(0, 5, len(group))
        columns["y_pred"] = np.where(columns["cluster"] == 1, 1, p)
    if name == "survey":
        columns["sample_weight"] = surveyed(rng, group)
    if name == "strata":
        columns["strata"] = (rng.random(len(group)) < 0.4).astype(int)
    return columns | ({"y_score": score.round(2)} if name.startswith("scores") else {})


@cache
def numbers(name: str) -> dict[str, Any]:
    """Columns of numbers: groups whose means and losses differ."""
    sizes = {"few": [8, 30, 22], "seventy": [6] * 70}.get(name, [50, 80, 40, 30])
    rng = np.random.default_rng(7)
    group = np.repeat(np.arange(len(sizes)), sizes)
    y = 3 + 0.4 * group + rng.gamma(2.0, 0.7, len(group))
    columns = {"y_true": y, "y_pred": y + (0.3 + 0.2 * group) * rng.standard_normal(len(group))}
    columns["sensitive_features"] = group
    if name == "ties":
        columns["y_pred"] = np.round(2 * columns["y_pred"] - 0.1 * group) / 2
    if name == "below 0":
        columns["y_pred"] = columns["y_pred"] - 4.5
    if "weighted" in name:
        columns["sample_weight"] = np.round(0.4 + rng.exponential(1.0, len(group)), 2)
    if "clustered" in name:
        columns["cluster"] = rng.integers(0, 40, len(group))
    if "few clusters" in name:
        columns["cluster"] = rng.integers(0, 6, len(group))
    if name == "survey":
        columns["sample_weight"] = surveyed(rng, group)
    return columns


def surveyed(rng: np.random.Generator, group: Any) -> Any:
    """Weights of people in 25 places, which are left out one at a time."""
    weight, place = rng.uniform(0.5, 2.0, len(group)), rng.integers(0, 25, len(group))
    repeated = np.where(place[:, None] == np.arange(25), 0.0, weight[:, None] * 25 / 24)
    return eh.survey_weights(weight, replicate_weights=repeated, method="jackknife")


ASKED = {  # the design, the criterion and its statistic
    "two rates": (labels, "two", "statistical_parity", None),
    "rates of small groups": (labels, "small", "statistical_parity", None),
    "odds of small groups": (labels, "small", "equalized_odds", None),
    "rates of twenty groups": (labels, "crowd", "statistical_parity", None),
    "rates of many rows": (labels, "large", "equal_opportunity", None),
    "one group apart": (labels, "one apart", "statistical_parity", None),
    "hardly anyone": (labels, "none selected", "selection_rate_ratio", None),
    "three classes": (labels, "three classes", "statistical_parity", None),
    "odds of three classes": (labels, "three classes", "equalized_odds", None),
    "precision": (labels, "three", "predictive_parity", None),
    "accuracy": (labels, "three", "accuracy_parity", None),
    "error odds": (labels, "three", "treatment_equality", None),
    "average odds": (labels, "three", "average_odds", None),
    "f1": (labels, "three", "performance_parity", "f1"),
    "rates in strata": (labels, "strata", "conditional_statistical_parity", None),
    "weighted rates": (labels, "weighted", "statistical_parity", None),
    "weighted odds": (labels, "weighted", "equalized_odds", None),
    "weighted f1": (labels, "weighted", "performance_parity", "f1"),
    "clustered rates": (labels, "clustered", "statistical_parity", None),
    "clustered precision": (labels, "clustered", "predictive_parity", None),
    "rates of few clusters": (labels, "few clusters", "statistical_parity", None),
    "weighted odds of clusters": (labels, "weighted clustered", "equalized_odds", None),
    "f1 of clusters": (labels, "clustered", "performance_parity", "f1"),
    "average odds of clusters": (labels, "clustered", "average_odds", None),
    "rates of a survey": (labels, "survey", "statistical_parity", None),
    "precision of a survey": (labels, "survey", "predictive_parity", None),
    "areas of clusters": (labels, "scores clustered", "performance_parity", "auroc"),
    "weighted areas": (labels, "scores weighted", "performance_parity", "auroc"),
    "weighted calibration": (labels, "scores weighted", "calibration_parity", None),
    "areas": (labels, "scores", "performance_parity", "auroc"),
    "cross entropy": (labels, "scores", "performance_parity", "cross_entropy"),
    "calibration": (labels, "scores", "calibration_parity", None),
    "calibration errors": (labels, "scores", "calibration_within_groups", None),
    "means": (numbers, "four", "weak_parity", None),
    "means of few": (numbers, "few", "weak_parity", None),
    "weighted means": (numbers, "weighted", "weak_parity", None),
    "clustered means": (numbers, "clustered", "weak_parity", None),
    "means of few clusters": (numbers, "few clusters", "weak_parity", None),
    "means of a survey": (numbers, "survey", "weak_parity", None),
    "squared errors of a survey": (numbers, "survey", "performance_parity", "mse"),
    "means below 0": (numbers, "below 0", "weak_parity", None),
    "likelihood": (numbers, "four", "performance_parity", "gaussian_log_likelihood"),
    "squared errors": (numbers, "four", "performance_parity", "mse"),
    "root of squared errors": (numbers, "four", "performance_parity", "rmse"),
    "variance explained": (numbers, "four", "performance_parity", "r2"),
    "absolute errors": (numbers, "weighted", "performance_parity", "mae"),
    "distributions": (numbers, "four", "strong_parity", None),
    "weighted distributions": (numbers, "weighted", "strong_parity", None),
    "clustered distributions": (numbers, "clustered", "strong_parity", None),
    "distributions with ties": (numbers, "ties", "strong_parity", None),
    "distributions of seventy groups": (numbers, "seventy", "strong_parity", None),
    "areas between distributions": (numbers, "few", "wasserstein_parity", None),
}


FEW = [name for name in ASKED if "seventy" not in name and "ties" not in name]  # which are slow


def question(name: str) -> tuple[Criterion, dict[str, Any]]:
    """The criterion and the columns of a design."""
    make, design, criterion, g = ASKED[name]
    return eh.CRITERIA[criterion].with_statistic(g), make(design)
