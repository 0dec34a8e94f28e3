"""Any criterion by name, in one call."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._errors import InputError
from evenhand.criteria.catalogue import CRITERIA
from evenhand.criteria.criterion import Criterion
from evenhand.measures import Aggregate, Measure


class UndefinedWarning(UserWarning):
    """A criterion has no value, because fewer than two groups were observed where it looks."""


def evaluate(
    criterion: str | Criterion,
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any = None,
    measure: str | Measure | None = None,
    aggregate: str | Aggregate | None = None,
    g: str | Callable[[Any, Any], Any] | None = None,
    transform: str | None = None,
    sample_weight: Any = None,
    y_score: Any = None,
    strata: Any = None,
    favorable: Label = None,
    classes: Any = None,
    tau: float | None = None,
) -> float:
    """How unequally a criterion's statistic falls on the groups: 0 is equal, larger is worse.

    Parameters
    ----------
    criterion : str or Criterion
        A name in `CRITERIA`, such as "equalized_odds".
    y_true, y_pred : array-like
        True and predicted labels or values; or one Tally or Distribution made before, alone.
    sensitive_features : array-like or dataframe
        The column or columns that name the groups, or what `groups` made of them.
    measure : str or callable
        "pq" (the default), "gini", "mpd", "shortfall", or a function of the last axis.
    aggregate : str or callable
        "worst" (the default), "mean" or "total" over classes; over cut points "worst" (the
        supremum) or "integral".
    g : str or callable
        The statistic of "performance_parity", such as "f1" or "mse", or a function
        (y_true, y_pred) that gives a loss for each row.
    transform : str
        "exp" or "raw"; None is the criterion's own habit.
    sample_weight : array-like
        Weights of the rows.
    y_score : array-like
        Scores for AUROC, cross-entropy and calibration: one column, or one for each class.
    strata : array-like or dataframe
        Within which "conditional_statistical_parity" compares groups.
    favorable : label
        The favorable label, where a criterion asks about one class.
    classes : sequence of labels
        Of the columns of `y_score`, where `y_true` does not show them all.
    tau : float
        For "strong_parity": keep to cut points whose pooled F is at least tau.

    Examples
    --------
    >>> evaluate(
    ...     "statistical_parity",
    ...     ["no", "yes", "no", "no"],
    ...     ["no", "yes", "yes", "no"],
    ...     sensitive_features=["a", "a", "b", "b"],
    ... )
    0.0

    """
    reading = named(criterion).read(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        y_score=y_score,
        strata=strata,
        measure=measure,
        aggregate=aggregate,
        g=g,
        transform=transform,
        tau=tau,
        favorable=favorable,
        classes=classes,
    )
    if np.isnan(reading.value):
        warnings.warn(f"Undefined: {reading}", UndefinedWarning, stacklevel=2)
    return float(reading)


def named(criterion: str | Criterion) -> Criterion:
    """Find a criterion by name, or take it as it is."""
    if isinstance(criterion, Criterion):
        return criterion
    if criterion in CRITERIA:
        return CRITERIA[criterion]
    near = difflib.get_close_matches(criterion, CRITERIA, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise InputError(f"There is no criterion {criterion!r}. {hint}There are {list(CRITERIA)}.")
