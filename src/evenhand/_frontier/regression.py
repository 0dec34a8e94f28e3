"""The frontier of predicted amounts: how far predictions must move for each disparity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from evenhand._data.groups import show
from evenhand._errors import InputError
from evenhand._frontier.amounts import Amounts, Binned, Means, read_amounts
from evenhand._frontier.curve import Curve
from evenhand._frontier.judging import ends
from evenhand._frontier.ties import NO_TIES, Ties, ties
from evenhand._frontier.wording import moving_sentences
from evenhand._kinds import check_kinds
from evenhand._words import number
from evenhand.measures import MEASURES, Measure, MeasureLike
from evenhand.mitigation import AmountRule, lots
from evenhand.mitigation.amount_rule import shifts
from evenhand.mitigation.crossfit.objective import check_disparity, convex
from evenhand.mitigation.crossfit.rows import Floats, stream
from evenhand.mitigation.deploy import Grouping, Moves
from evenhand.mitigation.transport.outcomes import plan_moves
from evenhand.mitigation.transport.parity import Bound, strong_parity, weak_parity
from evenhand.mitigation.transport.plan import Plan, Support
from evenhand.mitigation.transport.wasserstein import integral_of_range, wasserstein_parity

CRITERIA = ("strong_parity", "weak_parity", "wasserstein_parity")
BINS = 200  # of predictions, where distributions are compared
KNOWN_GROUP = (
    "These rules use the group to predict, which can be unlawful even when it helps those who "
    "fare worse."
)


@dataclass(frozen=True, eq=False, repr=False)
class RegressionFrontier(Curve):
    """The smallest moves of predictions for every disparity.

    Attributes
    ----------
    criterion, measure : str
        The definition of `value`.
    columns : dict of list
        The curve: "bound", "value", "cost" (the mean squared move, proved to within "gap") and
        "error" (the root mean squared error) on the fitting rows; "test_value", "test_error" on
        test rows. For random moves, values and errors are expectations; the interval "test_low" to
        "test_high" is that of predictions drawn once.
    model : tuple (value, error)
        The original predictions, on the fitting rows.

    """

    criterion: str
    measure: str
    columns: dict[str, list[float]]
    model: tuple[float, float]
    solver: Solver
    rows: Amounts
    kind: str | None = None

    def __repr__(self) -> str:
        low, high = (number(self.columns["error"][place], 4) for place in (0, -1))
        return f"<RegressionFrontier of {self.criterion} by {self.measure}: error {low} to {high}>"

    def to_dict(self) -> dict[str, list[float]]:
        """The curve as columns, from the least unequal predictions on.

        Returns
        -------
        dict of list
            As in `columns`.

        """
        return dict(self.columns)

    def rule(self, value: float, *, draw: bool = True) -> RegressionRule:
        """The rule whose disparity on the fitting rows is at most a bound.

        Parameters
        ----------
        value : float
            The bound.
        draw : bool, default True
            Whether a prediction that may go to several values is moved at random. If not, it moves
            by its position within its bin, and the bound holds up to the width of bins.

        Returns
        -------
        RegressionRule
            A rule that predicts, explains itself, and can be exported to other systems.

        Raises
        ------
        InputError
            If the bound is negative.

        """
        check_disparity(value)
        check_kinds(draw=draw)
        point = self.solver.solve(value)
        labels = self.rows.whom.labels
        moves = self.solver.moves(point, draw, Grouping.of(self.rows.whom.names, labels))
        disparity_of_rule, _ = self.solver.judged(self.solver.fitted, point)
        rows = self.rows

        def disparity(lots: Floats) -> float:
            predicted = moves.amounts(rows.predicted, rows.codes, lots)
            return replace(rows, predicted=predicted).value(self.criterion, self.measure)

        shared = (
            ties(rows.codes, rows.predicted, disparity_of_rule, disparity)
            if moves.draws
            else NO_TIES
        )
        return RegressionRule(moves, disparity_of_rule, point.cost, rows.take(np.arange(0)), shared)

    @property
    def sentences(self) -> list[str]:
        """The disparity of predictions, and how far they must move to reduce it, in sentences."""
        return moving_sentences(self.criterion, self.measure, *self.model, self._moved_to)

    def _moved_to(self, bound: float) -> tuple[float, float]:
        """The root mean square of the moves that a bound requires, and the error after them."""
        point = self.solver.solve(bound)
        return float(np.sqrt(point.cost)), self.solver.judged(self.solver.fitted, point)[1]

    @property
    def _remarks(self) -> Sequence[str]:
        return (KNOWN_GROUP,)

    def _question(self) -> tuple[str, str]:
        return self.criterion, self.measure

    def _models(self) -> Mapping[str, tuple[float, float]]:
        return {"the model": (self.model[0], 0.0)}

    @property
    def _cost_name(self) -> str:
        return "mean squared move"


@dataclass(frozen=True, eq=False, repr=False)
class RegressionRule(AmountRule):
    """One point of a frontier of amounts, as a rule that can be deployed elsewhere.

    In addition to `predict` it has the methods of any `AmountRule`: `explain`, `to_sql`, `to_onnx`,
    `to_python` and `to_json`.

    Attributes
    ----------
    value, cost : float
        Disparity, and mean squared move, on the fitting rows.
    like : Amounts
        The reading of groups, without rows.
    ties : Ties
        The number of fitting rows that share a random draw without ids, and a note on its effect.

    """

    value: float
    cost: float
    like: Amounts
    ties: Ties = NO_TIES

    def explain(self) -> str:
        """The rule in plain English.

        Returns
        -------
        str
            A line for each group: what is added, or the new values of five amounts; and a note on
            ties.

        """
        return "\n".join(filter(None, [super().explain(), self.ties.note]))

    def predict(
        self, y_score: Any, sensitive_features: Any, *, ids: Any = None, key: int | str = 0
    ) -> Floats:
        """The new predictions; a random draw of the person decides between several values.

        Parameters
        ----------
        y_score : array-like
            Predictions like those of the frontier.
        sensitive_features : array-like or dataframe
            The rows' groups.
        ids : array-like, optional
            Identifiers of the people; by default the prediction and the group. Without ids, people
            of one call who share both get different draws, but served one by one they share one.
        key : int or str, default 0
            With it and the id, the draw can be reproduced; see `evenhand.mitigation.lots`.

        Returns
        -------
        ndarray of shape (n_rows,)
            The new predictions.

        """
        rows = read_amounts(None, y_score, sensitive_features, None, self.like)
        if not self.draws:
            return self.amounts(rows.predicted, rows.codes)
        distinct = ids is None
        if ids is None:
            self.ties.warn(len(rows.codes))
            names = np.array([show(label) for label in self.like.whom.labels], dtype=object)
            ids = np.column_stack([names[rows.codes], rows.predicted.astype(object)])
        drawn = lots(ids, key=key, distinct=distinct)
        return self.amounts(rows.predicted, rows.codes, drawn)


def regression_frontier(
    rows: Amounts,
    criterion: str,
    measure: MeasureLike,
    values: int | list[float],
    test: Amounts | None,
    kind: str | None,
    confidence: float = 0.95,
    random_state: int = 0,
) -> RegressionFrontier:
    """Trace the curve: rows are counted once, and points are solved and evaluated from counts.

    Intervals on test rows are those of predictions drawn once.
    """
    solvable = convex(measure)
    if (
        criterion != "weak_parity" and not solvable.is_width
    ):  # ratios of the lowest levels are uninformative
        raise InputError(
            f"The frontier of {criterion} is traced for 'mpd', not for {solvable.name!r}."
        )
    solver: Solver = (Shifts if criterion == "weak_parity" else Plans).of(rows, criterion, solvable)
    largest = rows.value(criterion, solvable)
    bounds = np.linspace(0, largest, values).tolist() if isinstance(values, int) else values
    points = [solver.solve(bound) for bound in bounds]
    columns: dict[str, list[float]] = {
        "bound": bounds,
        "value": [],
        "cost": [point.cost for point in points],
        "error": [],
        "gap": [point.gap for point in points],
    }
    counted = {"": solver.fitted} | ({} if test is None else {"test_": solver.counted(test)})
    for prefix, part in counted.items():
        judgements = [solver.judged(part, point) for point in points]
        columns[f"{prefix}value"] = [value for value, _ in judgements]
        columns[f"{prefix}error"] = [error for _, error in judgements]
    if test is not None:
        draws = stream(random_state, 3).random(len(test.predicted))
        grouping = Grouping.of(rows.whom.names, rows.whom.labels)
        options: dict[str, Any] = {
            "sensitive_features": test.whom,
            "sample_weight": test.weight,
            "measure": solvable,
            "confidence": confidence,
        }
        intervals = []
        for point in points:
            moves = solver.moves(point, True, grouping)
            drawn = moves.amounts(test.predicted, test.codes, draws)
            intervals.append(ends(criterion, None, drawn, **options))
        columns["test_low"], columns["test_high"] = (
            [pair[end] for pair in intervals] for end in (0, 1)
        )
    return RegressionFrontier(
        criterion, solvable.name, columns, (largest, rows.error), solver, rows, kind
    )


class Planned(NamedTuple):
    """CDFs after the move, its cost, and a bound of the cost's excess over the least."""

    plan: Plan
    cost: float
    gap: float


@dataclass(frozen=True, eq=False)
class Plans:
    """Solver for distributions, in bins of equal width over the fitting rows' predictions."""

    criterion: str
    fitted: Binned

    @classmethod
    def of(cls, rows: Amounts, criterion: str, _: Measure) -> Plans:
        """Count the fitting rows."""
        return cls(criterion, Binned.of(rows, Support.of(rows.predicted, BINS, None)))

    def counted(self, rows: Amounts) -> Binned:
        """Other rows, in the same bins."""
        return Binned.of(rows, self.fitted.support)

    def solve(self, bound: float) -> Planned:
        """The least moves that meet a bound."""
        supply = self.fitted.supply
        if self.criterion == "wasserstein_parity":
            cdfs, gap = wasserstein_parity(supply, bound)
        else:
            cdfs, gap = strong_parity(supply, Bound(MEASURES["mpd"], bound))
        plan = Plan(self.fitted.support, supply, cdfs)
        return Planned(plan, plan.cost, gap)

    def judged(self, counted: Binned, point: Planned) -> tuple[float, float]:
        """The expected disparity and error of some rows."""
        cdfs = counted.moved(point.plan)
        if self.criterion == "wasserstein_parity":
            value = integral_of_range(self.fitted.support.points, cdfs)
        else:
            value = float(np.ptp(cdfs[:, :-1], axis=0).max(initial=0.0))
        return value, counted.error(point.plan)

    def moves(self, point: Planned, draw: bool, grouping: Grouping) -> Moves:
        """The new value of each amount."""
        return plan_moves(point.plan, draw, grouping)


class Shifted(NamedTuple):
    """The shift of each group, its cost, and a bound of the cost's excess over the least."""

    shifts: Floats
    cost: float
    gap: float


@dataclass(frozen=True, eq=False)
class Shifts:
    """Solver for the means of groups, by any measure."""

    measure: Measure
    fitted: Means

    @classmethod
    def of(cls, rows: Amounts, _: str, measure: Measure) -> Shifts:
        """Sum up the fitting rows."""
        return cls(measure, Means.of(rows))

    def counted(self, rows: Amounts) -> Means:
        """Other rows."""
        return Means.of(rows)

    def solve(self, bound: float) -> Shifted:
        """The least shifts that meet a bound."""
        fitted = self.fitted
        share = fitted.mass / fitted.mass.sum()
        means, gap = weak_parity(fitted.mean, share, Bound(self.measure, bound))
        added = means - fitted.mean
        return Shifted(added, float(share @ added**2), gap)

    def judged(self, counted: Means, point: Shifted) -> tuple[float, float]:
        """The disparity and the error of some rows."""
        means = (counted.mean + point.shifts)[counted.mass > 0]
        return float(self.measure(means)), counted.error(point.shifts)

    def moves(self, point: Shifted, _: bool, grouping: Grouping) -> Moves:
        """The new value of each amount."""
        return shifts(point.shifts, grouping)


Solver = Any  # Plans or Shifts, each with points and counts of its own kind
