"""The frontier of predicted amounts: how far predictions must move to be as even as that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._columns.encoding import check_lengths, finite, weights
from evenhand._dataframes import framed
from evenhand._errors import InputError
from evenhand._frontier.picture import draw
from evenhand._groups import Groups, groups
from evenhand._words import did_you_mean, number
from evenhand.criteria.evaluation import named
from evenhand.mitigation import GivenScores, ParityConstrainedRegressor

CRITERIA = ("strong_parity", "weak_parity")
MEASURES = {  # ratios of the lowest levels of distributions say nothing
    "strong_parity": ("mpd",),
    "weak_parity": ("mpd", "gini", "pq"),
}


@dataclass(frozen=True, eq=False)
class Amounts:
    """True and predicted amounts of rows, and their groups."""

    truth: Any
    predicted: Any
    whom: Groups
    weight: Any

    def value(self, predicted: Any, criterion: str, measure: str) -> float:
        """The disparity of predictions."""
        options = {"sensitive_features": self.whom, "sample_weight": self.weight}
        return float(named(criterion)(self.truth, predicted, measure=measure, **options))

    def error(self, predicted: Any) -> float:
        """The root of the mean squared error, NaN where the truth is not known."""
        if self.truth is None:
            return float("nan")
        return float(np.sqrt(np.average((self.truth - predicted) ** 2, weights=self.weight)))

    @property
    def table(self) -> Any:
        """What the method reads: the prediction, and the group's number."""
        return np.column_stack([self.predicted, self.whom.codes])


def read_amounts(y_true: Any, predicted: Any, features: Any, sample_weight: Any) -> Amounts:
    """The rows, checked."""
    found = Amounts(
        None if y_true is None else finite(y_true, "y_true"),
        finite(predicted, "y_score"),
        groups(features),
        weights(sample_weight),
    )
    check_lengths(
        y_true=found.truth,
        y_score=found.predicted,
        sensitive_features=found.whom.codes,
        sample_weight=found.weight,
    )
    return found


@dataclass(frozen=True, eq=False)
class RegressionFrontier:
    """The least that predictions must move, for every disparity.

    Attributes
    ----------
    criterion, measure : str
        What `value` is.
    columns : dict of list
        The curve: "bound", "value", "cost" (the mean squared move, proved to within "gap") and
        "error" (the root mean squared error) on the fitting rows; "test_value", "test_error" on
        others.
    rules : tuple of ParityConstrainedRegressor
        The fitted method of each point.

    """

    criterion: str
    measure: str
    columns: dict[str, list[float]]
    rules: tuple[ParityConstrainedRegressor, ...]
    model: tuple[float, float]
    rows: Amounts
    kind: str | None = None

    def __repr__(self) -> str:
        low, high = (number(self.columns["error"][at], 4) for at in (0, -1))
        return f"<RegressionFrontier of {self.criterion} by {self.measure}: error {low} to {high}>"

    def to_dict(self) -> dict[str, list[float]]:
        """The curve as columns, from the most even predictions on.

        Returns
        -------
        dict of list
            As in `columns`.

        """
        return dict(self.columns)

    def to_frame(self, backend: str | None = None) -> Any:
        """The curve as a dataframe.

        Parameters
        ----------
        backend : str, optional
            The library, such as "polars"; by default the one of the data.

        Returns
        -------
        dataframe
            A row for each point.

        """
        return framed(self.columns, backend or self.kind)

    def rule(self, value: float) -> ParityConstrainedRegressor:
        """The method fitted for a disparity of at most so much.

        Parameters
        ----------
        value : float
            The bound.

        Returns
        -------
        ParityConstrainedRegressor
            It reads a prediction and the number of a group, in the order of the labels.

        """
        return _fitted(self.rows, self.criterion, self.measure, value)

    def summary(self) -> list[str]:
        """What the frontier says, in sentences.

        Returns
        -------
        list of str
            The plain ones first.

        """
        value, error = self.model
        name = f"{self.criterion.replace('_', ' ')} ({self.measure})"
        found = [
            f"The model's {name} is {number(value)} at a root mean squared error of "
            f"{number(error, 4)}."
        ]
        for share in (0.5, 0.0):
            goal = share * value
            cost = self.rule(goal).cost_
            found.append(
                f"{number(value)} → {number(goal)} moves predictions by {number(np.sqrt(cost))} "
                f"(root mean square), and no less would do (proved)."
            )
        return found

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve and the model.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            The picture.

        """
        curve = {"bound": self.columns["bound"], "cost": self.columns["cost"]}
        names = (f"{self.criterion.replace('_', ' ')}, {self.measure}", "mean squared move")
        return draw(curve, {"the model": (self.model[0], 0.0)}, names, ax)


def regression_frontier(
    rows: Amounts,
    criterion: str,
    measure: str,
    values: int | Sequence[float],
    test: Amounts | None,
    kind: str | None,
) -> RegressionFrontier:
    """Trace the curve, one bound after another."""
    known = MEASURES[criterion]
    if measure not in known:
        raise InputError(
            f"The frontier of {criterion} is not traced for {measure!r}."
            f"{did_you_mean(measure, known)} It is for {', '.join(known)}."
        )
    most = rows.value(rows.predicted, criterion, measure)
    bounds = np.linspace(0, most, values) if isinstance(values, int) else sorted(values)
    rules = tuple(_fitted(rows, criterion, measure, float(bound)) for bound in bounds)
    columns: dict[str, list[float]] = {
        "bound": [float(bound) for bound in bounds],
        "value": [],
        "cost": [rule.cost_ for rule in rules],
        "error": [],
        "gap": [rule.gap_ for rule in rules],
    }
    for prefix, part in (("", rows), ("test_", test)):
        if part is not None:
            moved = [rule.predict(part.table) for rule in rules]
            columns[f"{prefix}value"] = [part.value(each, criterion, measure) for each in moved]
            columns[f"{prefix}error"] = [part.error(each) for each in moved]
    model = (most, rows.error(rows.predicted))
    return RegressionFrontier(criterion, measure, columns, rules, model, rows, kind)


def _fitted(
    rows: Amounts, criterion: Any, measure: Any, bound: float
) -> ParityConstrainedRegressor:
    method = ParityConstrainedRegressor(
        GivenScores(0),
        group=1,
        criterion=criterion,
        measure=measure,
        epsilon=bound,
        random_state=0,
    )
    truth = rows.predicted if rows.truth is None else rows.truth
    return method.fit(rows.table, truth, sample_weight=rows.weight)
