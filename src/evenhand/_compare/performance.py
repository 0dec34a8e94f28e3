"""How well each model predicts: accuracy or error, with intervals and paired tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._compare.evidence import Evidence, Labels, Numbers
from evenhand._compare.lists import Lists
from evenhand._compare.tables import Row
from evenhand._uncertainty.clusters import units_of
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.homogeneity import holm
from evenhand.criteria import CRITERIA

Floats = NDArray[np.float64]

EVERYONE = ("everyone",)
PERFORMANCE = ("model", "metric", "value", "low", "high")
PAIRS = ("model", "other", "metric", "difference", "p_value", "p_adjusted", "beyond_chance")


class Metric(NamedTuple):
    """How well a model predicts: its key, its name in text, whether more is better and a share."""

    key: str
    name: str
    more_is_better: bool
    is_rate: bool


ACCURACY = Metric("accuracy", "accuracy", more_is_better=True, is_rate=True)
RMSE = Metric("rmse", "RMSE", more_is_better=False, is_rate=False)
MAE = Metric("mae", "MAE", more_is_better=False, is_rate=False)
PAIRWISE = Metric("pairwise_accuracy", "pairwise accuracy", more_is_better=True, is_rate=True)
RECALL = Metric("discounted_recall", "discounted recall", more_is_better=True, is_rate=False)
CRITERION_OF = {
    PAIRWISE: CRITERIA["pairwise_parity"],
    RECALL: CRITERIA["performance_parity"].with_statistic("discounted_recall"),
    ACCURACY: CRITERIA["accuracy_parity"],
    RMSE: CRITERIA["performance_parity"].with_statistic("rmse"),
    MAE: CRITERIA["performance_parity"].with_statistic("mae"),
}


def metrics_of(evidence: Evidence) -> tuple[Metric, ...]:
    """What can be said of these predictions, the first of which is drawn; nothing without truth."""
    if evidence.truth is None:
        return ()
    if isinstance(evidence, Lists):
        return (PAIRWISE, RECALL)
    return (ACCURACY,) if isinstance(evidence, Labels) else (RMSE, MAE)


def performance_rows(models: Sequence[str], evidence: Evidence, confidence: float) -> Iterator[Row]:
    """A row for every model and metric, of everyone together, with the interval of each."""
    together = np.zeros(len(evidence.groups.labels), dtype=np.intp)
    for metric in metrics_of(evidence):
        criterion = CRITERION_OF[metric]
        need = criterion.statistic.needs
        sources = evidence.observed({need})[need]
        for model, source in zip(models, sources, strict=True):
            estimates = estimates_of(source.regrouped(together, EVERYONE), criterion)
            low, high = estimates.single(confidence)
            yield {
                "model": model,
                "metric": metric.key,
                "value": float(estimates.values[0, 0]),
                "low": float(low[0, 0]),
                "high": float(high[0, 0]),
            }


def performance_pairs(
    models: Sequence[str], evidence: Evidence, confidence: float
) -> Iterator[Row]:
    """A row for every two models: whether one is better by more than chance, on the same rows.

    Of labels without weights this is the exact test of McNemar (1947): only rows count on which
    one model is right and the other wrong. Otherwise it is the paired t-test of the losses, or of
    their sums by cluster; of rankings, of how far each query moves both.
    """
    pairs = list(combinations(range(len(models)), 2))
    values = {
        (row["metric"], row["model"]): row["value"]
        for row in performance_rows(models, evidence, confidence)
    }
    for metric in metrics_of(evidence):
        if isinstance(evidence, Lists):
            p_values = [_p_of_lists(a, b, metric, evidence) for a, b in pairs]
        else:
            losses = [_losses(evidence, model, metric) for model in range(len(models))]
            differences = (losses[a] - losses[b] for a, b in pairs)
            p_values = [_p_value(each, metric, evidence) for each in differences]
        for (a, b), p, adjusted in zip(pairs, p_values, holm(p_values), strict=True):
            first, second = models[a], models[b]
            yield {
                "model": first,
                "other": second,
                "metric": metric.key,
                "difference": values[metric.key, first] - values[metric.key, second],
                "p_value": p,
                "p_adjusted": float(adjusted),
                "beyond_chance": bool(adjusted <= 1 - confidence),
            }


def _p_of_lists(first: int, second: int, metric: Metric, evidence: Lists) -> float:
    """Of two statistics of all rows being the same, by the queries' influence on the difference."""
    statistic = CRITERION_OF[metric].statistic
    together, known = np.zeros(len(evidence.groups.labels), dtype=np.intp), []
    both = [evidence.tallies[m].regrouped(together, EVERYONE) for m in (first, second)]
    mean, other = (float(statistic.read(source).values[0, 0]) for source in both)
    for axis in both[0].clusters:
        moved = []
        for source in both:
            units, parts = units_of(source, axis)
            moved.append(statistic.influence(parts, units.owner, source.whole)[0])
        known.append(_student(mean - other, moved[0] - moved[1]))
    return max(known)


def _losses(evidence: Labels | Numbers, model: int, metric: Metric) -> Floats:
    """What each row costs, such that the mean loss orders models as the metric does."""
    if isinstance(evidence, Labels):
        assert evidence.truth is not None
        wrong = evidence.predicted[model].codes != evidence.truth.codes
        return np.asarray(wrong, dtype=np.float64)
    assert evidence.truth is not None
    error = np.abs(evidence.predicted[model] - evidence.truth)
    return np.asarray(error**2 if metric is RMSE else error)


def _p_value(difference: Floats, metric: Metric, evidence: Labels | Numbers) -> float:
    """Of the paired differences of loss having mean 0; of rows in clusters the largest one."""
    from scipy import stats

    weight, clusters = evidence.weight, evidence.clusters
    times = evidence.times if isinstance(evidence, Labels) else None
    rows_of = np.ones(len(difference), np.int64) if times is None else times
    if clusters:
        share = np.ones(len(difference)) if weight is None else weight
        share = share / share.sum()
        moved = share * (difference - share @ difference)
        sums = [np.bincount(column.codes, moved) for column in clusters.values()]
        return max(_student(float(share @ difference), part[part != 0]) for part in sums)
    if metric is ACCURACY and weight is None:
        worse, better = (int(rows_of[side].sum()) for side in (difference > 0, difference < 0))
        if worse + better == 0:
            return 1.0
        return float(stats.binomtest(worse, worse + better).pvalue)
    share = np.ones(len(difference)) if weight is None else weight
    share = share / (share @ rows_of)
    mean = float((share * rows_of) @ difference)
    return _student(mean, (share * (difference - mean))[share > 0], rows_of[share > 0])


def _student(mean: float, moved: Floats, times: NDArray[np.int64] | None = None) -> float:
    """The p-value of a mean of 0, from what each row, or cluster of rows, adds to it."""
    from scipy import stats

    often = np.ones(len(moved), np.int64) if times is None else times
    rows, error = int(often.sum()), float(np.sqrt(often @ moved**2))
    if error == 0.0 or rows < 2:
        return 1.0 if mean == 0.0 or rows < 2 else 0.0
    statistic = mean / (error * np.sqrt(rows / (rows - 1)))
    return float(2 * stats.t.sf(abs(statistic), rows - 1))
