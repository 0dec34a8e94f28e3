"""A frontier of disparity and cost, as a table, a figure and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand._data.groups import show
from evenhand._frontier.curve import Curve
from evenhand._frontier.judging import Judgement
from evenhand._frontier.rule import Rule
from evenhand._frontier.wording import Place, sentences
from evenhand._kinds import check_kinds
from evenhand._words import number, percent, plural
from evenhand.mitigation.crossfit.advice import Advice
from evenhand.mitigation.crossfit.objective import Objective, check_disparity
from evenhand.mitigation.crossfit.rows import Floats, Rows
from evenhand.mitigation.crossfit.tracing import Tracer
from evenhand.mitigation.optimal import DecisionRule

RISING = "Within each group a higher score is never worse"


@dataclass(frozen=True, eq=False)
class Point:
    """The frontier at one bound: the proved optimum on the fitting rows, and the recommended rule.

    Without random decisions for small groups the two are the same, unless the cheapest rule prefers
    lower scores: `rising_cost` is the extra cost of a recommended rule that does not. `test` is the
    rule on test rows.
    """

    bound: float
    value: float
    cost: float
    accuracy: float
    gap: float
    rule: DecisionRule
    fitted: Judgement
    test: Judgement | None
    rising_cost: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Frontier(Curve):
    """The least cost of any rule on these scores, for every disparity.

    Attributes
    ----------
    criterion, measure : str
        The definition of `value`.
    points : tuple of Point
        The points, from the least unequal decisions to those without a bound.
    model : Judgement
        The decisions in use, or those of the largest score, on the fitting rows.
    model_test : Judgement or None
        The same on the test rows.
    fitted_to : {"labels", "scores"}
        The truth that the recommended rules are fitted to.
    rate_error : float
        The largest standard error of a group's rate under the least unequal recommended rule;
        infinite if no decisions are random to limit it.
    lot : ndarray of shape (n_groups,)
        The share of each group's decisions that are made at random for that reason, in the same
        rule. Rules of looser bounds have as many random decisions or fewer.
    notes : tuple of str
        What a reader should know.
    question, rows, advice, proof : object
        The question, the fitting rows, and the solvers of recommended rules and of the proof.
    kind : str or None
        The library of the data's dataframes.

    """

    question: Objective
    rows: Rows
    points: tuple[Point, ...]
    model: Judgement
    model_test: Judgement | None
    notes: tuple[str, ...]
    advice: Advice
    proof: Tracer
    kind: str | None = None

    @property
    def criterion(self) -> str:
        """The criterion whose rates are compared."""
        return self.question.criterion

    @property
    def measure(self) -> str:
        """The name of the measure of their inequality."""
        return self.question.measure.name

    @property
    def fitted_to(self) -> str:
        """The truth that the recommended rules are fitted to: labels or scores."""
        return self.advice.truth

    @property
    def rate_error(self) -> float:
        """The largest standard error of a group's rate under the least unequal recommended rule."""
        return self.advice.error(self.points[0].bound)

    @property
    def lot(self) -> Floats:
        """The share of each group that this rule decides at random, to keep that error small."""
        return self.advice.lots[self.rate_error]

    def __repr__(self) -> str:
        low, high = self.points[0], self.points[-1]
        return (
            f"<Frontier of {self.criterion} by {self.measure}: cost {number(high.cost, 4)} at "
            f"{number(high.value)} to {number(low.cost, 4)} at {number(low.value)}>"
        )

    def to_dict(self) -> dict[str, list[float]]:
        """The curve as columns, from the least unequal decisions to those without a bound.

        Returns
        -------
        dict of list
            "value", "cost", "accuracy" and "gap" are the proved frontier of the fitting rows: no
            rule whose disparity is at most the "bound" costs less than cost − gap; "rising_cost"
            is the extra cost of never preferring a lower score. "rule_value", "rule_cost" and
            "rule_accuracy" are those of the recommended rule. With test rows, "test_value" is the
            expectation over random decisions, "test_low" and "test_high" are its interval from
            decisions drawn once, and "test_cost", its standard error "test_error" and
            "test_accuracy" complete the table.

        """
        columns: dict[str, list[float]] = {
            name: [getattr(point, name) for point in self.points]
            for name in ("bound", "value", "cost", "accuracy", "gap", "rising_cost")
        }
        columns["rule_value"] = [point.fitted.value for point in self.points]
        columns["rule_cost"] = [point.fitted.cost for point in self.points]
        columns["rule_accuracy"] = [point.fitted.accuracy for point in self.points]
        tests = [point.test for point in self.points if point.test is not None]
        if tests:
            for name in ("value", "low", "high", "cost", "error", "accuracy"):
                columns[f"test_{name}"] = [getattr(test, name) for test in tests]
        return columns

    def rule(self, value: float, *, draw: bool = True) -> Rule:
        """The recommended rule whose disparity on the fitting rows is at most a bound.

        Parameters
        ----------
        value : float
            The bound. The rule is solved for it, whether or not it is one of the points.
        draw : bool, default True
            Whether it may decide at random. If not, the most frequent part of the mixture in each
            group always decides there; `value` and `cost` of the rule account for that.

        Returns
        -------
        Rule
            A rule that decides, explains itself, and can be exported to other systems. Its `value`
            is by the labels of the fitting rows; rules fitted to scores can differ from the bound.

        Raises
        ------
        InputError
            If the bound is negative.

        """
        check_disparity(value)
        check_kinds(draw=draw)
        solution = next(iter(self.advice.along([value])))
        decisions = solution.rule if draw else solution.rule.nearest()
        tracer = self.advice.tracers[self.advice.error(value)]
        extra = tracer.cost_of_rising(value, solution)
        remark = f"{RISING}, which costs {self._costs(extra)} (rising=False)." if extra else ""
        return Rule.of(decisions, self.rows, self.question, remark)

    @cached_property
    def least_at_model_cost(self) -> float:
        """The least disparity of any rule on these scores at the model's cost; proved."""
        largest = max(self.model.value, self.points[-1].value)
        return self.proof.least_value(self.model.cost, largest)

    def cost_at(self, value: float) -> float:
        """The least cost at a disparity, solved exactly.

        Parameters
        ----------
        value : float
            The disparity.

        Returns
        -------
        float
            The cost.

        """
        check_disparity(value)
        return self.proof.cost_at(value)

    @property
    def sentences(self) -> list[str]:
        """The frontier in sentences, the plain ones first."""
        model = Place(
            self.model.value, self.model.cost, self._displayed(self.model), self.model.aside
        )
        lowest = self.least_at_model_cost
        kind = ""
        if self.rows.unknown:
            kind = "weighted " if self.rows.proxy is None else "worst-case "
        lines = sentences(
            self.criterion, self.measure, self._unit, model, lowest, self.cost_at, kind=kind
        )
        return lines + self._random_sentences() + self._rising_sentences()

    @property
    def _remarks(self) -> Sequence[str]:
        return self.notes

    def _rising_sentences(self) -> list[str]:
        dearest = max(self.points, key=lambda point: point.rising_cost)
        if not dearest.rising_cost:
            return []
        return [
            f"{RISING}, which costs up to {self._costs(dearest.rising_cost)}, at a bound of "
            f"{number(dearest.bound)} (rising=False recommends the cheapest rules of all)."
        ]

    def _costs(self, extra: float) -> str:
        return (
            f"{number(extra, 4)} of {self._unit}" if self._unit == "accuracy" else number(extra, 4)
        )

    def _displayed(self, judged: Judgement) -> float:
        return judged.accuracy if self._unit == "accuracy" else judged.cost

    @property
    def _unit(self) -> str:
        count = len(self.rows.classes)
        is_error = np.array_equal(self.question.cost, 1 - np.eye(count))
        return "accuracy" if is_error else "cost"

    def _random_sentences(self) -> list[str]:
        drawn = np.flatnonzero(self.lot > 0.005)
        if not len(drawn):
            return []
        largest = int(np.argmax(self.lot))
        share = percent(float(self.lot[largest]))
        return [
            f"{plural(len(drawn), 'group')} of {len(self.lot)} have too few rows for a threshold "
            "whose rate is known; the least unequal of the recommended rules decides part of "
            f"their rows at random (of {show(self.rows.groups[largest])}, {share}), so that no "
            f"group's rate is uncertain by more than {number(self.rate_error)}."
        ]

    def _question(self) -> tuple[str, str]:
        return self.criterion, self.measure

    def _models(self) -> Mapping[str, tuple[float, float]]:
        models = {"the model": self.model, "the model, on test rows": self.model_test}
        return {
            name: (judgement.value, judgement.cost)
            for name, judgement in models.items()
            if judgement is not None
        }

    @property
    def _cost_name(self) -> str:
        return "share of wrong decisions" if self._unit == "accuracy" else "cost"
