"""Demographic parity, equalized odds and equal opportunity as one number, in fairlearn's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from evenhand._errors import InputError
from evenhand._signatures import documented
from evenhand.compat._base_metrics import false_positive_rate, selection_rate, true_positive_rate
from evenhand.compat._metric_frame import MetricFrame
from evenhand.compat._reductions import Method

COLUMNS = """\
y_true : array-like
    True labels.
y_pred : array-like
    Predicted labels, of which 1 is positive.
sensitive_features : array-like, dict of columns, pandas.Series or pandas.DataFrame
    The column or columns that name the groups; several are intersected.
method : {"between_groups", "to_overall"}, default "between_groups"
    Between two groups, or between a group and all rows.
sample_weight : array-like, optional
    Weights of the rows; by default every row weighs 1."""

AGGREGATE = """\
agg : {"worst_case", "mean"}, default "worst_case"
    The worse of the two rates, or their mean."""

Aggregate = Literal["worst_case", "mean"]


@documented(columns=COLUMNS)
def demographic_parity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
) -> float:
    """Largest difference in selection rate.

    Parameters
    ----------
    {columns}

    Returns
    -------
    float
        0 if all groups are selected at one rate.

    Examples
    --------
    >>> print(
    ...     demographic_parity_difference(
    ...         [1, 0, 1, 0], [1, 0, 0, 0], sensitive_features=["a", "a", "b", "b"]
    ...     )
    ... )
    0.5

    """
    frame = _frame(selection_rate, y_true, y_pred, sensitive_features, sample_weight)
    return float(frame.difference(method=method))


@documented(columns=COLUMNS)
def demographic_parity_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
) -> float:
    """Least ratio of selection rates.

    Parameters
    ----------
    {columns}

    Returns
    -------
    float
        1 if all groups are selected at one rate.

    Examples
    --------
    >>> print(
    ...     demographic_parity_ratio(
    ...         [1, 0, 1, 0], [1, 1, 0, 1], sensitive_features=["a", "a", "b", "b"]
    ...     )
    ... )
    0.5

    """
    frame = _frame(selection_rate, y_true, y_pred, sensitive_features, sample_weight)
    return float(frame.ratio(method=method))


@documented(columns=COLUMNS, aggregate=AGGREGATE)
def equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    agg: Aggregate = "worst_case",
) -> float:
    """Largest difference in true or false positive rate.

    Parameters
    ----------
    {columns}
    {aggregate}

    Returns
    -------
    float
        0 if all groups have the same true and false positive rates.

    Examples
    --------
    >>> print(
    ...     equalized_odds_difference(
    ...         [1, 0, 1, 0], [1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"], agg="mean"
    ...     )
    ... )
    0.5

    """
    _check_aggregate(agg)
    odds = _odds(y_true, y_pred, sensitive_features, sample_weight).difference(method=method)
    return float(max(odds) if agg == "worst_case" else odds.mean())


@documented(columns=COLUMNS, aggregate=AGGREGATE)
def equalized_odds_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    agg: Aggregate = "worst_case",
) -> float:
    """Least ratio of true or of false positive rates.

    Parameters
    ----------
    {columns}
    {aggregate}

    Returns
    -------
    float
        1 if all groups have the same true and false positive rates.

    Examples
    --------
    >>> print(
    ...     equalized_odds_ratio(
    ...         [1, 0, 1, 0], [1, 1, 1, 1], sensitive_features=["a", "a", "b", "b"]
    ...     )
    ... )
    1.0

    """
    _check_aggregate(agg)
    odds = _odds(y_true, y_pred, sensitive_features, sample_weight).ratio(method=method)
    return float(min(odds) if agg == "worst_case" else odds.mean())


@documented(columns=COLUMNS)
def equal_opportunity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
) -> float:
    """Largest difference in true positive rate.

    Parameters
    ----------
    {columns}

    Returns
    -------
    float
        0 if all groups have one true positive rate.

    Examples
    --------
    >>> print(
    ...     equal_opportunity_difference(
    ...         [1, 0, 1, 1], [1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"]
    ...     )
    ... )
    0.5

    """
    frame = _frame(true_positive_rate, y_true, y_pred, sensitive_features, sample_weight)
    return float(frame.difference(method=method))


@documented(columns=COLUMNS)
def equal_opportunity_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
) -> float:
    """Least ratio of true positive rates.

    Parameters
    ----------
    {columns}

    Returns
    -------
    float
        1 if all groups have one true positive rate.

    Examples
    --------
    >>> print(
    ...     equal_opportunity_ratio(
    ...         [1, 0, 1, 1], [1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"]
    ...     )
    ... )
    0.5

    """
    frame = _frame(true_positive_rate, y_true, y_pred, sensitive_features, sample_weight)
    return float(frame.ratio(method=method))


def _frame(
    metric: Callable[..., float], y_true: Any, y_pred: Any, features: Any, weight: Any
) -> MetricFrame:
    return MetricFrame(
        metrics=metric,
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=features,
        sample_params={"sample_weight": weight},
    )


def _odds(y_true: Any, y_pred: Any, features: Any, weight: Any) -> MetricFrame:
    return MetricFrame(
        metrics={"tpr": true_positive_rate, "fpr": false_positive_rate},
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=features,
        sample_params={"tpr": {"sample_weight": weight}, "fpr": {"sample_weight": weight}},
    )


def _check_aggregate(agg: str) -> None:
    if agg not in ("worst_case", "mean"):
        raise InputError(f"agg is {agg!r}; it must be 'worst_case' or 'mean'.")
