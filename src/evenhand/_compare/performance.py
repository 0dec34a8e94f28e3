"""Performance of models: accuracy or error, with intervals and paired tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._compare.design import Design
from evenhand._compare.evidence import Evidence
from evenhand._compare.labels import Labels
from evenhand._compare.lists import Lists
from evenhand._compare.numbers import Numbers
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
    """A metric of performance: key, name, whether more is better, and whether it is a share."""

    key: str
    name: str
    more_is_better: bool
    is_rate: bool


ACCURACY = Metric("accuracy", "accuracy", more_is_better=True, is_rate=True)
RMSE = Metric("rmse", "RMSE", more_is_better=False, is_rate=False)
MAE = Metric("mae", "MAE", more_is_better=False, is_rate=False)
AUROC = Metric("auroc", "AUROC", more_is_better=True, is_rate=False)
PAIRWISE = Metric("pairwise_accuracy", "pairwise accuracy", more_is_better=True, is_rate=True)
RECALL = Metric("discounted_recall", "discounted recall", more_is_better=True, is_rate=False)
CRITERION_OF = {
    PAIRWISE: CRITERIA["pairwise_parity"],
    RECALL: CRITERIA["performance_parity"].with_statistic("discounted_recall"),
    ACCURACY: CRITERIA["accuracy_parity"],
    AUROC: CRITERIA["performance_parity"].with_statistic("auroc"),
    RMSE: CRITERIA["performance_parity"].with_statistic("rmse"),
    MAE: CRITERIA["performance_parity"].with_statistic("mae"),
}


def metrics_of(evidence: Evidence) -> tuple[Metric, ...]:
    """The metrics of these predictions, the first for charts; none without the truth."""
    if evidence.truth is None:
        return ()
    if isinstance(evidence, Lists):
        return (PAIRWISE, RECALL)
    if isinstance(evidence, Numbers):
        return (RMSE, MAE)
    return (ACCURACY, AUROC) if evidence.scores and evidence.scores.is_binary else (ACCURACY,)


def performance_rows(models: Sequence[str], evidence: Evidence, confidence: float) -> Iterator[Row]:
    """A row for every model and metric over all rows, with its interval."""
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
    """A row for every two models: whether one is significantly better, on the same rows.

    For labels without weights this is the exact test of McNemar (1947): only rows count on which
    one model is right and the other wrong. Otherwise it is the paired t-test of the losses, or of
    their sums by cluster; for rankings, of the influences of queries.
    """
    pairs = list(combinations(range(len(models)), 2))
    values = {
        (row["metric"], row["model"]): row["value"]
        for row in performance_rows(models, evidence, confidence)
    }
    for metric in metrics_of(evidence):
        if isinstance(evidence, Lists):
            p_values = [_p_of_lists(a, b, metric, evidence) for a, b in pairs]
        elif isinstance(evidence, Labels) and metric is AUROC:
            p_values = _p_of_areas(pairs, evidence)
        else:
            losses = [_losses(evidence, model, metric) for model in range(len(models))]
            differences = (losses[a] - losses[b] for a, b in pairs)
            p_values = [_p_value(difference, metric, evidence) for difference in differences]
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
    """P-value of two equal statistics of all rows, by the queries' influence on the difference."""
    statistic = CRITERION_OF[metric].statistic
    one_group, p_values = np.zeros(len(evidence.groups.labels), dtype=np.intp), []
    sources = [evidence.tallies[m].regrouped(one_group, EVERYONE) for m in (first, second)]
    mean, second_mean = (float(statistic.read(source).values[0, 0]) for source in sources)
    for axis in sources[0].clusters:
        influences = []
        for source in sources:
            units, parts = units_of(source, axis)
            influences.append(statistic.influence(parts, units.owner, source.whole)[0])
        p_values.append(_student(mean - second_mean, influences[0] - influences[1]))
    return max(p_values)


def _p_of_areas(pairs: Sequence[tuple[int, int]], evidence: Labels) -> list[float]:
    """P-values of two equal areas under the ROC curve of all rows (DeLong et al. 1988)."""
    everyone = evidence.regrouped(EVERYONE)
    assert everyone.scores is not None
    criterion, sources = CRITERION_OF[AUROC], everyone.observed({"ranks"})["ranks"]
    influences = [
        everyone.scores.influences(criterion.statistic, model, source)
        for model, source in enumerate(sources)
    ]
    values = [float(criterion.table(source).values[0, 0]) for source in sources]
    weight = everyone.design.weight
    moves = [
        each[0] if weight is None else weight * each[0] for each in influences if each is not None
    ]
    return [
        _p_of_moves(values[a] - values[b], moves[a] - moves[b], everyone.design) for a, b in pairs
    ]


def _p_of_moves(mean: float, contributions: Floats, design: Design) -> float:
    """P-value of a mean of 0, from the contributions of rows; the largest over clusterings."""
    if design.survey is not None and design.survey.scale:
        weight = np.where(design.survey.weight > 0, design.survey.weight, np.inf)
        shares = design.survey.replicates / weight
        return _student(mean, np.sqrt(design.survey.scale) * (shares @ contributions))
    parts = [contributions]
    if design.clusters:
        columns = design.clusters.values()
        parts = [np.bincount(column.codes, contributions).astype(np.float64) for column in columns]
    return max(_student(mean, part[part != 0]) for part in parts)


def _losses(evidence: Labels | Numbers, model: int, metric: Metric) -> Floats:
    """The loss of each row, whose mean orders models as the metric does."""
    if isinstance(evidence, Labels):
        assert evidence.truth is not None
        wrong = evidence.predicted[model].codes != evidence.truth.codes
        return np.asarray(wrong, dtype=np.float64)
    assert evidence.truth is not None
    error = np.abs(evidence.predicted[model] - evidence.truth)
    return np.asarray(error**2 if metric is RMSE else error)


def _p_value(difference: Floats, metric: Metric, evidence: Labels | Numbers) -> float:
    """P-value of a mean of 0 of paired differences of loss; the largest over clusterings."""
    from scipy import stats

    weight, times = evidence.design.weight, evidence.design.times
    rows_of = np.ones(len(difference), np.int64) if times is None else times
    if evidence.design.clusters or evidence.design.survey is not None:
        share = np.ones(len(difference)) if weight is None else weight
        share = share / share.sum()
        contributions = share * (difference - share @ difference)
        return _p_of_moves(float(share @ difference), contributions, evidence.design)
    if metric is ACCURACY and weight is None:
        losses_, wins = (int(rows_of[side].sum()) for side in (difference > 0, difference < 0))
        if losses_ + wins == 0:
            return 1.0
        return float(stats.binomtest(losses_, losses_ + wins).pvalue)
    share = np.ones(len(difference)) if weight is None else weight
    share = share / (share @ rows_of)
    mean = float((share * rows_of) @ difference)
    return _student(mean, (share * (difference - mean))[share > 0], rows_of[share > 0])


def _student(mean: float, contributions: Floats, times: NDArray[np.int64] | None = None) -> float:
    """P-value of a mean of 0, from the contributions of rows or clusters."""
    from scipy import stats

    counts = np.ones(len(contributions), np.int64) if times is None else times
    rows, error = int(counts.sum()), float(np.sqrt(counts @ contributions**2))
    if error == 0.0 or rows < 2:
        return 1.0 if mean == 0.0 or rows < 2 else 0.0
    statistic = mean / (error * np.sqrt(rows / (rows - 1)))
    return float(2 * stats.t.sf(abs(statistic), rows - 1))
