"""The table of groups × metrics: decisions, and how well each group is predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.subgroups import Subgroup
from evenhand._columns import Label
from evenhand._data.evidence import Evidence
from evenhand._data.groups import show
from evenhand._data.tallies import Tally
from evenhand.statistics import STATISTICS, P, Statistic
from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]

MOST_CLASSES = 8  # for which each class has a column


class Metric(NamedTuple):
    """A column of the table: key, name, meaning, and whether it is a share."""

    key: str
    name: str
    meaning: str
    is_rate: bool = True


SIGNED = "mean_error"  # the metric of which 0 is best


@dataclass(frozen=True, eq=False)
class MetricTable:
    """Metrics of every group; `of_class` is the class that rates are about, if any.

    `values` and `side` are (metrics, groups); `side` is 1 for a group significantly above everybody
    else and −1 for one below, by the bounds of the scan of subgroups.
    """

    metrics: tuple[Metric, ...]
    groups: tuple[Label, ...]
    rows: NDArray[np.int64]
    values: Floats
    overall: Floats
    side: NDArray[np.int64]
    of_class: Label = None

    @cached_property
    def difference(self) -> Floats:
        """The largest value of each metric minus the smallest."""
        return np.asarray(_extreme(np.fmax, self.values) - _extreme(np.fmin, self.values))

    @cached_property
    def ratio(self) -> Floats:
        """The smallest value of each metric over the largest; NaN if it can be negative."""
        low, high = _extreme(np.fmin, self.values), _extreme(np.fmax, self.values)
        signed = np.array([metric.key == SIGNED for metric in self.metrics], dtype=bool)
        defined = (low >= 0) & (high > 0) & ~signed
        return np.asarray(np.where(defined, ratio(low, high), np.nan))


def metric_table(evidence: Evidence, of_class: Label, subgroups: Sequence[Subgroup]) -> MetricTable:
    """The metrics that the evidence allows.

    For several classes without a favorable one: accuracy, and how often each is predicted.

    Parameters
    ----------
    evidence : Evidence
        The groups and what was counted of them.
    of_class : label
        The class of the rates; None of a regression and where every class has a column.
    subgroups : sequence of Subgroup
        The scan, for the flags.

    Returns
    -------
    MetricTable
        A column for each group.

    """
    counts = evidence.counted
    if evidence.task == "regression":
        sums = evidence.sources["moments"]
        assert isinstance(sums, Tally)
        metric_values = _regression(sums, counts.table("group"))
        statistics = REGRESSION_SCAN
        metrics = METRICS
    elif evidence.task == "ranking":
        metric_values, statistics, metrics = _ranking(counts), RANKING_SCAN, METRICS
    elif of_class is None:
        classes = counts.labels("yhat")
        metrics = {class_key(label): _class_metric(label) for label in classes}
        metrics["accuracy"] = METRICS["accuracy"]
        metric_values = _shares(evidence, counts)
        statistics = {**RATE_SCAN}
        statistics |= {f"selection rate of {show(c)}": (class_key(c), 1) for c in classes}
    else:
        metrics = METRICS
        metric_values = _rates(evidence, counts, of_class)
        statistics = {**RATE_SCAN, f"selection rate of {show(of_class)}": ("selection_rate", 1)}
        statistics |= {f"error rate where the truth is {show(of_class)}": TPR_SCAN}
    columns = tuple(metrics[key] for key in metric_values)
    values = np.array([np.append(*metric_values[key]) for key in metric_values]).reshape(
        len(metric_values), -1
    )
    sides = _significant_sides(evidence, list(metric_values), subgroups, statistics)
    rows = evidence.rows.astype(np.int64)
    return MetricTable(
        columns, evidence.groups, rows, values[:, :-1], values[:, -1], sides, of_class
    )


def has_column_for_each_class(evidence: Evidence) -> bool:
    """Whether each class gets a column: rates are about none, and there are few."""
    if not evidence.is_of_labels or evidence.favorable is not None:
        return False
    return 2 < len(evidence.counted.labels("yhat")) <= MOST_CLASSES


def class_key(label: Label) -> str:
    """The key of the share that is predicted to be of a class.

    >>> class_key("poor")
    'selection_rate(poor)'
    """
    return f"selection_rate({show(label)})"


def _class_metric(label: Label) -> Metric:
    return Metric(class_key(label), f"“{show(label)}”", f"share predicted “{show(label)}”")


Metrics = dict[str, tuple[Floats, Floats]]  # by group, and overall


def _shares(evidence: Evidence, counts: Tally) -> Metrics:
    metrics: Metrics = {}
    if "labels" in evidence.sources:
        metrics["accuracy"] = _rate(counts, STATISTICS["accuracy"], 0)
    for at, label in enumerate(counts.labels("yhat")):
        metrics[class_key(label)] = _rate(counts, STATISTICS["selection_rate"], at)
    return metrics


def _rates(evidence: Evidence, counts: Tally, of_class: Label) -> Metrics:
    classes = counts.labels("yhat")
    good = [label == of_class for label in classes].index(True)
    names = RATES if "labels" in evidence.sources else ("selection_rate",)
    return {name: _rate(counts, RATES[name], good if RATES[name].over else 0) for name in names}


def _regression(sums: Tally, weight: Floats) -> Metrics:
    def total(column: str) -> Floats:
        return np.append(sums.table("group", of=column), sums.table("group", of=column).sum())

    def split(values: Floats) -> tuple[Floats, Floats]:
        return values[:-1], values[-1:]

    size = np.append(weight, weight.sum())
    mean = ratio(total("yhat"), size)
    if "y" not in sums.sums:
        return {"mean_prediction": split(mean)}
    target, squares = ratio(total("y"), size), ratio(total("squared_error"), size)
    spread = ratio(total("y²"), size) - target**2
    metrics = {"mean_prediction": mean, "mean_target": target, "mean_error": mean - target}
    if "absolute_error" in sums.sums:
        metrics["mae"] = ratio(total("absolute_error"), size)
    metrics["rmse"] = np.sqrt(squares)
    flat = spread <= 1e-12 * (1 + target**2)  # a constant target: nothing to explain
    metrics["r2"] = np.where(flat, np.nan, 1 - ratio(squares, np.where(flat, 1.0, spread)))
    return {key: split(values) for key, values in metrics.items()}


def _ranking(sums: Tally) -> Metrics:
    everyone = sums.whole.regrouped(np.zeros(len(sums.groups), dtype=np.intp), ("everyone",))
    return {
        key: (STATISTICS[key].read(sums).values[0], STATISTICS[key].read(everyone).values[0])
        for key in OF_LISTS
        if STATISTICS[key].sums <= sums.sums.keys()
    }


def _rate(counts: Tally, statistic: Statistic, at: int) -> tuple[Floats, Floats]:
    """A rate by group, and overall."""
    shares = statistic.shares(counts)
    assert shares is not None
    hits, rows = shares.hits[at], shares.rows[at]
    return ratio(hits, rows), ratio(hits.sum(keepdims=True), rows.sum(keepdims=True))


RATES: dict[str, Statistic] = {
    "base_rate": P("y"),
    "selection_rate": STATISTICS["selection_rate"],
    "true_positive_rate": STATISTICS["tpr"],
    "false_positive_rate": STATISTICS["fpr"],
    "precision": STATISTICS["ppv"],
    "accuracy": STATISTICS["accuracy"],
}
TPR_SCAN = ("true_positive_rate", -1)  # a false negative rate is one minus the true positive rate
RATE_SCAN: dict[str, tuple[str, int]] = {
    "error rate": ("accuracy", -1),
    "false positive rate": ("false_positive_rate", 1),
    "false negative rate": TPR_SCAN,
}
REGRESSION_SCAN: dict[str, tuple[str, int]] = {
    "mean error": ("mean_error", 1),
    "mean prediction": ("mean_prediction", 1),
    "mean squared error": ("rmse", 1),
}

RANKING_SCAN: dict[str, tuple[str, int]] = {
    "exposure": ("exposure", 1),
    "share of the top": ("top_k_share", 1),
}
OF_LISTS = (
    "exposure",
    "top_k_share",
    "first_place",
    "exposure_per_relevance",
    "discounted_recall",
    "pairwise_accuracy",
)


def _significant_sides(
    evidence: Evidence,
    keys: Sequence[str],
    subgroups: Sequence[Subgroup],
    statistics: Mapping[str, tuple[str, int]],
) -> NDArray[np.int64]:
    """Side of everybody else on which each group is: 1, −1, or 0 if not significant."""
    place = {label: i for i, label in enumerate(evidence.groups)}
    sides = np.zeros((len(keys), len(place)), dtype=np.int64)
    for subgroup in subgroups:
        key, sign = statistics.get(subgroup.statistic, ("", 0))
        if key in keys and subgroup.flagged and subgroup.columns == evidence.columns:
            side = sign * int(np.sign(subgroup.difference))
            sides[keys.index(key), place[subgroup.label]] = side
    return sides


def _extreme(function: np.ufunc, values: Floats) -> Floats:
    return np.asarray(function.reduce(values, axis=1))


METRICS = {
    metric.key: metric
    for metric in (
        Metric("base_rate", "Base rate", "share whose true outcome is the favorable one"),
        Metric("selection_rate", "Selection rate", "share given the favorable prediction"),
        Metric(
            "true_positive_rate", "True positive rate", "of the truly favorable, share selected"
        ),
        Metric("false_positive_rate", "False positive rate", "of all others, share selected"),
        Metric("precision", "Precision", "of the selected, share truly favorable"),
        Metric("accuracy", "Accuracy", "share predicted right"),
        Metric("mean_prediction", "Mean prediction", "mean of the predictions", False),
        Metric("mean_target", "Mean target", "mean of the true values", False),
        Metric("mean_error", "Mean error", "mean prediction minus mean target: the bias", False),
        Metric("mae", "MAE", "mean absolute error", False),
        Metric("rmse", "RMSE", "root mean squared error", False),
        Metric("r2", "R²", "share of the target's variance explained, within the group", False),
        Metric("exposure", "Exposure", "mean attention that places get, the first 1", False),
        Metric("top_k_share", "Top k", "share that is in the first k places"),
        Metric("first_place", "First place", "share that is first in its list"),
        Metric(
            "exposure_per_relevance", "Exposure per relevance", "sum of one over the other", False
        ),
        Metric(
            "discounted_recall", "Discounted recall", "mean attention of what is relevant", False
        ),
        Metric(
            "pairwise_accuracy", "Pairwise accuracy", "how often what is more relevant is ahead"
        ),
    )
}
