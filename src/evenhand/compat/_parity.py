"""Demographic parity, equalized odds and equal opportunity as one number, as in fairlearn."""

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


Compare = Literal["difference", "ratio"]
WORDS = {"difference": "Largest difference in", "ratio": "Least ratio of"}
EQUAL = {"difference": 0, "ratio": 1}


def _parity(name: str, metric: Callable[..., float], by: Compare, rate: str, y_pred: str) -> Any:
    """A function for the difference or ratio of a rate between groups."""

    @documented(columns=COLUMNS)
    def parity(
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        method: Method = "between_groups",
        sample_weight: Any = None,
    ) -> float:
        """SUMMARY.

        Parameters
        ----------
        {columns}

        Returns
        -------
        float
            EQUAL if all groups have one RATE.

        Examples
        --------
        >>> print(NAME([1, 0, 1, 1], Y_PRED, sensitive_features=["a", "a", "b", "b"]))
        0.5

        """
        frame = _frame({name: metric}, y_true, y_pred, sensitive_features, sample_weight)
        return float(getattr(frame, by)(method=method)[name])

    return _named(parity, name, by, rate, y_pred)


def _odds(name: str, by: Compare, y_pred: str) -> Any:
    """A function for the difference or ratio of true and false positive rates between groups."""
    metrics = {"tpr": true_positive_rate, "fpr": false_positive_rate}

    @documented(columns=COLUMNS, aggregate=AGGREGATE)
    def parity(
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        method: Method = "between_groups",
        sample_weight: Any = None,
        agg: Aggregate = "worst_case",
    ) -> float:
        """SUMMARY, the worse or the mean of both.

        Parameters
        ----------
        {columns}
        {aggregate}

        Returns
        -------
        float
            EQUAL if all groups have the same true and false positive rates.

        Examples
        --------
        >>> print(NAME([1, 0, 1, 0], Y_PRED, sensitive_features=["a", "a", "b", "b"], agg="mean"))
        0.5

        """
        _check_aggregate(agg)
        frame = _frame(metrics, y_true, y_pred, sensitive_features, sample_weight)
        odds = getattr(frame, by)(method=method)
        worst = max if by == "difference" else min
        return float(worst(odds) if agg == "worst_case" else odds.mean())

    return _named(parity, name, by, "true and false positive rate", y_pred)


def _named(parity: Any, name: str, by: Compare, rate: str, y_pred: str) -> Any:
    """The function with its own name and docstring."""
    what = rate if by == "difference" else f"{rate}s"
    words = {"SUMMARY": f"{WORDS[by]} {what}", "EQUAL": str(EQUAL[by]), "RATE": rate}
    for word, meaning in {**words, "NAME": name, "Y_PRED": y_pred}.items():
        parity.__doc__ = parity.__doc__.replace(word, meaning)
    parity.__name__ = parity.__qualname__ = name
    return parity


def _frame(
    metrics: dict[str, Any], y_true: Any, y_pred: Any, features: Any, weight: Any
) -> MetricFrame:
    return MetricFrame(
        metrics=metrics,
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=features,
        sample_params={name: {"sample_weight": weight} for name in metrics},
    )


demographic_parity_difference = _parity(
    "demographic_parity_difference", selection_rate, "difference", "selection rate", "[1, 0, 0, 0]"
)
demographic_parity_ratio = _parity(
    "demographic_parity_ratio", selection_rate, "ratio", "selection rate", "[1, 1, 0, 1]"
)
equalized_odds_difference = _odds("equalized_odds_difference", "difference", "[1, 0, 1, 1]")
equalized_odds_ratio = _odds("equalized_odds_ratio", "ratio", "[1, 0, 1, 1]")
equal_opportunity_difference = _parity(
    "equal_opportunity_difference",
    true_positive_rate,
    "difference",
    "true positive rate",
    "[1, 0, 1, 0]",
)
equal_opportunity_ratio = _parity(
    "equal_opportunity_ratio", true_positive_rate, "ratio", "true positive rate", "[1, 0, 1, 0]"
)


def _check_aggregate(agg: str) -> None:
    if agg not in ("worst_case", "mean"):
        raise InputError(
            f"agg must be one of 'worst_case' or 'mean', got {agg}", f"agg is {agg!r}."
        )
