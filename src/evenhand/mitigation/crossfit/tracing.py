"""The curve: the least cost at each bound, and the least bound at each cost, with proofs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evenhand.mitigation.crossfit.calibration import Calibration
from evenhand.mitigation.crossfit.objective import Objective
from evenhand.mitigation.crossfit.rows import Rows
from evenhand.mitigation.optimal import (
    Curves,
    Population,
    Problem,
    Scores,
    Solution,
    cost_of_rising,
    known_groups,
    solve,
    stated,
)
from evenhand.mitigation.optimal.problem import Columns
from evenhand.mitigation.optimal.worst import Worst

BISECTIONS = 14


@dataclass(frozen=True, eq=False)
class Tracer:
    """A population and a question, solved for one bound after another.

    Where the population's scores were recalibrated, rules are returned for the original scores.
    """

    population: Population
    question: Objective
    favorable: int | None
    calibration: Calibration | None = None

    def problem(self, epsilon: float) -> Problem:
        """With this bound on the disparity."""
        mass = self.population.mass
        requirements = self.question.requirements(mass, self.favorable, epsilon)
        return stated(self.population, requirements, self.question.cost)

    def free(self) -> Solution:
        """The cheapest rules without a bound on the disparity."""
        return self.solution(np.inf)

    def solution(
        self, epsilon: float, tolerance: float = 1e-6, start: Columns | None = None
    ) -> Solution:
        """The cheapest rules with this bound; the search may start from given ones."""
        return solve(self.problem(epsilon), tolerance, start)

    def along(self, bounds: Sequence[float], tolerance: float = 1e-6) -> Iterator[Solution]:
        """Solutions for these bounds; each search starts from the rules of the one before."""
        columns = None
        for epsilon in bounds:
            solution = self.solution(float(epsilon), tolerance, columns)
            columns = solution.columns if len(solution.columns.pool) else None
            if self.calibration is not None:
                solution = replace(solution, rule=self.calibration.taken_in(solution.rule))
            yield solution

    def cost_of_rising(self, bound: float, solution: Solution) -> float:
        """The extra cost of a solution because no rule may prefer a lower score."""
        return cost_of_rising(self.problem(bound), solution)

    def cost_at(self, bound: float) -> float:
        """The least cost at a bound."""
        return next(iter(self.along([bound]))).cost

    def least_value(self, cost: float, greatest: float) -> float:
        """A proved lower bound of the disparity at this cost, to 1 in 16,000."""
        low, high, columns = 0.0, greatest, None
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            solution = self.solution(middle, start=columns)
            columns = solution.columns
            if solution.cost - solution.gap > cost:
                low = middle
            else:
                high = middle
        return low


@dataclass(frozen=True, eq=False)
class WorstTracer(Tracer):
    """Rules with a bound on the worst disparity that the probabilities of groups allow."""

    worst: Worst = field(kw_only=True)

    def solution(
        self,
        epsilon: float,
        tolerance: float = 1e-6,  # noqa: ARG002
        start: Columns | None = None,  # noqa: ARG002
    ) -> Solution:
        """The cheapest rules with this bound."""
        return self.worst.solve(epsilon)

    def cost_of_rising(self, bound: float, solution: Solution) -> float:  # noqa: ARG002
        """Zero: all rules here are rising."""
        return 0.0


def tracer_of(
    rows: Rows,
    question: Objective,
    truth: str,
    calibration: Calibration | None = None,
    *,
    rising: bool = False,
) -> Tracer:
    """Rules on these rows, judged by their labels or by their own, calibrated, probabilities.

    Labels look at nothing but the order of scores, which a map of two classes keeps; so a rule
    that is `rising` in calibrated scores is so in scores as they come.
    """
    if rows.proxy is not None:
        worst = Worst.of(rows.scores, question.allowed(rows, rows.scores), question.cost)
        population = population_of(rows, truth, rising)
        return WorstTracer(population, question, rows.favorable, worst=worst)
    if calibration is None or truth == "labels":
        return Tracer(population_of(rows, truth, rising), question, rows.favorable)
    population = population_of(calibration.applied(rows), truth, rising)
    return Tracer(population, question, rows.favorable, calibration)


def population_of(rows: Rows, truth: str, rising: bool) -> Population:
    """The population of rows, judged by their labels or by their own probabilities."""
    if rows.group_proba is not None:
        return Scores.blind(rows.joint, rows.weight, len(rows.groups))
    whose = rows.group, rows.weight, len(rows.groups)
    if truth == "labels" and rows.is_binary:
        return Curves.of(rows.scores[:, 1], rows.onehot[:, 1], *whose, rising)
    return known_groups(rows.scores, *whose, rising)
