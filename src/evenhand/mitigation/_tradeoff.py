"""Trade-offs of a method over the grid of its hyperparameter."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from evenhand._data.counting import expected_tally
from evenhand._data.dataframes import framed
from evenhand._errors import InputError, InputTypeError, UnboundWarning, refusing
from evenhand._signatures import suggests_names
from evenhand.criteria.evaluation import named
from evenhand.measures import DEFAULT_MEASURES
from evenhand.mitigation.methods import METHODS, Method

Judgment = tuple[dict[str, float], Callable[[str, str], float]]

CRITERIA_OF = {
    "classification": ("statistical_parity", "equalized_odds"),
    "regression": ("strong_parity", "weak_parity"),
}


@dataclass(frozen=True)
class Tradeoff:
    """A curve: for each value of the hyperparameter, performance and criteria, by set of rows.

    Performance is expected accuracy, or for a regression the root mean squared error. A decision
    at random is judged by its chances, not by one draw.

    Attributes
    ----------
    hyperparameter : str or None
        What was varied; None where the method has nothing to vary.
    points : tuple of dict
        The value, the rows ("fit" or "test"), the performance and every criterion by measure.

    """

    hyperparameter: str | None
    points: tuple[dict[str, Any], ...]

    def to_dict(self) -> dict[str, list[Any]]:
        """The curve as columns.

        Returns
        -------
        dict of list
            A column for each entry of a point.

        """
        return {name: [point[name] for point in self.points] for name in self.points[0]}

    def to_frame(self, backend: str = "pandas") -> Any:
        """The curve as a dataframe of any library that narwhals knows.

        Parameters
        ----------
        backend : str, default "pandas"
            The library, such as "polars" or "pyarrow".

        Returns
        -------
        dataframe
            A row for each point.

        """
        return framed(self.to_dict(), backend)


@suggests_names
def tradeoff(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    grid: Iterable[float] | None = None,
    test: tuple[Any, Any] | None = None,
    criteria: str | Sequence[str] | None = None,
    measures: str | Sequence[str] = DEFAULT_MEASURES,
    favorable: Any = None,
    sample_weight: Any = None,
) -> Tradeoff:
    """Fit a method over its grid, and evaluate it on the fitting rows and on test rows.

    What does not depend on the hyperparameter is done once: the base model is fitted once, and
    estimators with a `fit_path` reuse all they can.

    Parameters
    ----------
    estimator : estimator
        One of the methods, not yet fitted; it stays as it is.
    X, y : array-like
        The fitting rows, as for its `fit`.
    grid : iterable of float, default None
        The values of the hyperparameter; None is the paper's grid for the estimator's criterion.
    test : tuple (X, y), default None
        Further rows to judge each fit by.
    criteria : str or sequence of str, default None
        Names in `evenhand.CRITERIA`; None is statistical parity and equalized odds, or for a
        regression strong and weak parity.
    measures : str or sequence of str, default ("mpd", "gini", "pq")
        Names in `evenhand.MEASURES`.
    favorable : label, default None
        For criteria about one class of two: the label of the better outcome for people, by
        default the estimator's. Of 0 and 1, or −1 and 1, the second is assumed.
    sample_weight : array-like of shape (n_rows,), default None
        The weights of the fitting rows.

    Returns
    -------
    Tradeoff
        A point for each value and set of rows.

    Raises
    ------
    InputTypeError
        If the estimator is none of the methods.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import LinearPostClassifier, tradeoff
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = (X[:, 1] + random.normal(size=500) > 0.5).astype(int)
    >>> curve = tradeoff(
    ...     LinearPostClassifier(group=0), X, y, grid=[0.0, 0.1, 1.0], measures=["mpd"]
    ... )
    >>> [round(point["accuracy"], 3) for point in curve.points]
    [0.731, 0.742, 0.75]

    """
    method = method_of(estimator)
    questions = CRITERIA_OF[method.task] if criteria is None else _listed(criteria)
    if favorable is None:
        favorable = getattr(estimator, "favorable", None)
    sets = {"fit": (X, y, sample_weight)}
    if test is not None:
        if not isinstance(test, tuple | list) or len(test) != 2:
            raise InputTypeError(
                f"test is a pair (X, y) of rows not fitted on; it is {test!r:.60}."
            )
        sets["test"] = (*test, None)
    values = list(default_grid(method, estimator) if grid is None else _numbers(grid))
    names = _listed(measures)
    fitted = _fitted(method, estimator, X, y, values, sample_weight)
    varied = method.hyperparameter or "hyperparameter"
    points = [
        {
            varied: value,
            "rows": name,
            **_judged(method, model, *rows, questions, names, favorable),
        }
        for value, model in zip(values, fitted, strict=True)
        for name, rows in sets.items()
    ]
    return Tradeoff(method.hyperparameter, tuple(points))


def _listed(names: str | Sequence[str]) -> Sequence[str]:
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Iterable) or np.ndim(names) == 0:
        raise InputTypeError(f"Criteria and measures are asked by name; {names!r} is none.")
    return tuple(names)


def _numbers(grid: Any) -> list[float]:
    """The values of a hyperparameter, each a number."""
    with refusing("grid lists the hyperparameter's values"):
        values = list(grid)
    for value in values:
        if not isinstance(value, Real) or value != value:
            raise InputError(f"grid holds {value!r:.60}; the hyperparameter is a number.")
    return values


def method_of(estimator: Any) -> Method:
    """The method of an estimator, by its class, and by its settings where several share it."""
    candidates = [method for method in METHODS.values() if isinstance(estimator, method.estimator)]
    for method in candidates:
        if all(getattr(estimator, name) == value for name, value in method.settings.items()):
            return method
    if candidates:
        return candidates[0]
    raise InputTypeError(
        f"{type(estimator).__name__} is none of the methods; they are "
        f"{sorted({method.estimator.__name__ for method in METHODS.values()})}."
    )


def default_grid(method: Method, estimator: Any) -> Sequence[float | None]:
    """The paper's values for the estimator's criterion; None if nothing varies."""
    if method.hyperparameter is None:
        return (None,)
    return method.grid[method.criterion_of(estimator)]


def _fitted(
    method: Method, estimator: Any, X: Any, y: Any, grid: Sequence[Any], weight: Any
) -> Iterator[Any]:
    weights = {} if weight is None else {"sample_weight": weight}
    if method.hyperparameter is None:
        yield clone(estimator).fit(X, y, **weights)
    elif hasattr(estimator, "fit_path"):
        yield from estimator.fit_path(X, y, grid, **weights)
    else:
        base: dict[str, Any] = {}
        for value in grid:
            model = clone(estimator).set_params(**{method.hyperparameter: value}, **base)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnboundWarning)  # a grid goes to where none binds
                model.fit(X, y, **weights)
            yield model
            if method.stage == "post":  # the base model owes nothing to the hyperparameter
                base = {"estimator": model.estimator_, "prefit": True}


def _judged(
    method: Method,
    fitted: Any,
    X: Any,
    y: Any,
    weight: Any,
    criteria: Sequence[str],
    measures: Sequence[str],
    favorable: Any,
) -> dict[str, float]:
    if method.task == "regression":
        performance, ask = _regression(fitted, X, y, weight)
    else:
        performance, ask = _classification(method, fitted, X, y, weight, favorable)
    return performance | {
        f"{criterion} {measure}": ask(criterion, measure)
        for criterion in criteria
        for measure in measures
    }


def _regression(fitted: Any, X: Any, y: Any, weight: Any) -> Judgment:
    predicted, whom = fitted.predict(X), fitted.sensitive_.groups(X)
    error = np.average((np.asarray(y) - predicted) ** 2, weights=weight)
    options = {"sensitive_features": whom, "sample_weight": weight}
    return {"rmse": float(np.sqrt(error))}, lambda criterion, measure: named(criterion)(
        y, predicted, measure=measure, **options
    )


def _classification(
    method: Method, fitted: Any, X: Any, y: Any, weight: Any, favorable: Any
) -> Judgment:
    counts = expected_tally(
        y,
        chances(method, fitted, X),
        classes=fitted.classes_,
        sensitive_features=fitted.sensitive_.groups(X),
        sample_weight=weight,
    )
    table = counts.table("y", "yhat")
    accuracy = float(np.trace(table) / table.sum())

    def ask(criterion: str, measure: str) -> float:
        return float(named(criterion)(counts, measure=measure, favorable=favorable))

    return {"accuracy": accuracy}, ask


def chances(method: Method, fitted: Any, X: Any) -> Any:
    """The probability of deciding each class: 0 or 1 where nothing is random."""
    if method.randomized:
        return fitted.predict_proba(X)
    return (fitted.predict(X)[:, None] == fitted.classes_).astype(np.float64)
