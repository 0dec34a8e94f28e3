"""Any criterion as a scikit-learn scorer; the group is a column of X."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand._errors import InputError
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import evaluate, named

NEEDS_SCORES = ("ranks", "losses", "bins")


@dataclass(frozen=True)
class FairnessScorer:
    """A callable (estimator, X, y) that scikit-learn's model selection takes as `scoring`."""

    criterion: Criterion
    group: Any
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the criterion's value on the estimator's predictions for X."""
        g = self.options.get("g")
        needs = self.criterion.with_statistic(g).statistic.needs
        y_score = scores_of(estimator, X) if needs in NEEDS_SCORES and not callable(g) else None
        options = {"sample_weight": sample_weight, "y_score": y_score, **self.options}
        if y_score is not None:
            options.setdefault("classes", list(estimator.classes_))
        column = columns_from(X, self.group)
        predicted = estimator.predict(X)
        return -evaluate(self.criterion, y, predicted, sensitive_features=column, **options)


def make_scorer(criterion: str | Criterion, *, group: Any, **options: Any) -> FairnessScorer:
    """A scorer for `cross_validate` and `GridSearchCV`; greater is better, and 0 is best.

    `group` names one or more columns of X (by position where X is an array); options are those of
    `evaluate`, such as measure="gini".

    >>> scorer = make_scorer("equalized_odds", group="sex", measure="mpd")
    >>> scorer.group
    'sex'
    """
    return FairnessScorer(named(criterion), group, options)


def scores_of(estimator: Any, X: Any) -> Any:
    """Probabilities where the estimator has them, else its decision function."""
    if hasattr(estimator, "predict_proba"):
        return estimator.predict_proba(X)
    return estimator.decision_function(X)


def columns_from(X: Any, group: Any) -> Any:
    """The sensitive column or columns of X."""
    many = not isinstance(group, str) and isinstance(group, Sequence)
    if isinstance(X, np.ndarray):
        return X[:, list(group) if many else group]
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    wanted = list(group) if many else [group]
    absent = [name for name in wanted if name not in frame.columns]
    if absent:
        raise InputError(f"X has no column {absent[0]!r}; its columns are {frame.columns}.")
    return frame.select(wanted).to_native()
