"""Any criterion as a scikit-learn scorer; the group is a column of X."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand._columns import Label
from evenhand._dataframes import column_of
from evenhand._signatures import SETTINGS, documented, suggests_names
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import evaluate, named
from evenhand.measures import Aggregate, Measure, is_ratio


@suggests_names
@documented(settings=SETTINGS)
def make_scorer(
    criterion: str | Criterion,
    *,
    group: Any,
    strata: Any = None,
    measure: str | Measure | None = None,
    aggregate: str | Aggregate | None = None,
    g: str | Callable[[Any, Any], Any] | None = None,
    transform: str | None = None,
    favorable: Label = None,
    tau: float | None = None,
    classes: Sequence[Label] | None = None,
) -> FairnessScorer:
    """A scorer for `cross_validate` and `GridSearchCV`; greater is better.

    The best score is 0; by the measure "ratio", which is taken as it is, it is 1.

    Parameters
    ----------
    criterion : str or Criterion
        A name in `CRITERIA`, such as "equalized_odds", or a criterion of your own.
    group : str, int or list
        The sensitive column or columns of X, by name; by position where X is an array.
    strata : str, int or list, optional
        The columns of X within which "conditional_statistical_parity" compares groups.
    {settings}
    classes : sequence of labels, optional
        Labels of the columns of scores; by default the estimator's `classes_`.

    Returns
    -------
    FairnessScorer
        A callable (estimator, X, y), whose value is minus that of the criterion; of a ratio, the
        ratio itself.

    Raises
    ------
    InputError
        If there is no such criterion, measure, aggregate, statistic or transform.

    Examples
    --------
    >>> scorer = make_scorer("equalized_odds", group="sex", measure="mpd")
    >>> scorer
    FairnessScorer('equalized_odds', group='sex', measure='mpd')

    """
    chosen = named(criterion)
    chosen.with_statistic(g).settings(measure, aggregate, transform, tau).resolve()
    options = {
        "measure": measure,
        "aggregate": aggregate,
        "g": g,
        "transform": transform,
        "favorable": favorable,
        "classes": classes,
        "tau": tau,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return FairnessScorer(chosen, group, given, strata)


@dataclass(frozen=True, repr=False)
class FairnessScorer:
    """A callable (estimator, X, y) that scikit-learn's model selection takes as `scoring`."""

    criterion: Criterion
    group: Any
    options: dict[str, Any] = field(default_factory=dict)
    strata: Any = None

    def __call__(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the criterion's value on the estimator's predictions for X; a ratio as it is."""
        g, options = self.options.get("g"), dict(self.options)
        if self.criterion.with_statistic(g).kind.about == "scores" and not callable(g):
            options["y_score"] = scores_of(estimator, X)
            options.setdefault("classes", list(estimator.classes_))
        if self.strata is not None:
            options["strata"] = columns_from(X, self.strata)
        sign = 1 if is_ratio(options.get("measure") or self.criterion.measure) else -1
        return sign * evaluate(
            self.criterion,
            y,
            estimator.predict(X),
            sensitive_features=columns_from(X, self.group),
            sample_weight=sample_weight,
            **options,
        )

    def __repr__(self) -> str:
        strata = {} if self.strata is None else {"strata": self.strata}
        options = {"group": self.group, **strata, **self.options}
        written = ", ".join(f"{name}={value!r}" for name, value in options.items())
        return f"FairnessScorer({self.criterion.name!r}, {written})"


def scores_of(estimator: Any, X: Any) -> Any:
    """Probabilities where the estimator has them, else its decision function."""
    if hasattr(estimator, "predict_proba"):
        return estimator.predict_proba(X)
    return estimator.decision_function(X)


def columns_from(X: Any, group: Any) -> dict[str, Any]:
    """The sensitive column or columns of X, by name."""
    many = not isinstance(group, str) and isinstance(group, Sequence)
    return {str(name): column_of(X, name) for name in (group if many else [group])}
