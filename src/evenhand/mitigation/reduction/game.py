"""The game of Agarwal et al. (2018): multipliers against classifiers, to a saddle point.

The multipliers follow exponentiated gradient; in between, a linear program finds the best
lottery over the classifiers seen so far. Whichever is nearer to a saddle point is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from evenhand.mitigation.reduction.problem import Problem

Floats = NDArray[np.float64]
Fit = Callable[[Floats, Any], tuple[Any, Floats]]

LEAST_ROUNDS = 5
PROBES = (1.0, 2.0, 5.0, 10.0)
CHECK_EVERY = 1.6  # times as late as the last check: is the gap still shrinking?
SHRINK = 0.8
PRECISION = 1e-8


class Lottery(NamedTuple):
    """Chances of the classifiers, and how far they are from a saddle point."""

    chances: Floats
    gap: float


class Game:
    """Classifiers found so far, as tables of whom they accept, and how to find more.

    `fit` turns costs of accepting each (label, group), and a model to start from, into a model
    and whom it accepts.
    """

    def __init__(self, problem: Problem, fit: Fit, budget: float) -> None:
        self.problem, self.fit, self.budget = problem, fit, budget
        self.models: list[Any] = []
        self.accepted: list[Floats] = []
        self.tolerance = 0.0
        self.rounds = 0
        self._tried: list[tuple[Floats, Any]] = []
        self._program = (0, Lottery(np.ones(1), np.inf))

    def play(self, rounds: int, rows: float) -> Lottery:
        """The best lottery of so many rounds; it stops when the gap is below sampling error."""
        theta, total = np.zeros((2, self.problem.constraints))
        history: list[int] = []
        found: list[Lottery] = []
        pace = Pace(2 / self.budget)
        for round_ in range(rounds):
            self.rounds = round_ + 1
            multipliers = self.budget * _shares(theta)
            total += multipliers
            history.append(self.respond(multipliers))
            self.tolerance = self.tolerance or self._sampling_error(rows)
            averaged = self._judged(np.bincount(history) / len(history), total / len(history))
            found.append(min(self._solved() if round_ else averaged, averaged, key=_gap))
            if found[-1].gap < self.tolerance and round_ >= LEAST_ROUNDS:
                break
            pace.check(round_, averaged.gap)
            theta += pace.step * self.problem.excess(self.accepted[history[-1]])
        least = min(map(_gap, found))
        return [one for one in found if one.gap <= least + PRECISION][-1]

    def respond(self, multipliers: Floats) -> int:
        """The number of the classifier with the least error plus multipliers × excess."""
        costs = self.problem.costs(multipliers)
        values = np.array([np.inf, *((accepted * costs).sum() for accepted in self.accepted)])
        best = int(np.argmin(values)) - 1
        stakes = (abs(costs) * self.problem.shares).sum()
        weights = costs * self.problem.shares / max(stakes, PRECISION)
        apart, start = self._nearest(weights)
        if apart < PRECISION or stakes < PRECISION:  # answered before, or any answer will do
            return best
        model, accepted = self.fit(costs, start)
        self._tried.append((weights, model))
        if (accepted * costs).sum() >= values[best + 1] - PRECISION:
            return best
        self.models.append(model)
        self.accepted.append(accepted)
        return len(self.models) - 1

    @property
    def fits(self) -> int:
        """How often the base model was fitted."""
        return len(self._tried)

    def _nearest(self, weights: Floats) -> tuple[float, Any]:
        """How far off the most similar weights tried before are, and the model they gave."""
        apart = [abs(weights - tried).sum() for tried, _ in self._tried]
        nearest = int(np.argmin(apart)) if apart else 0
        return (apart[nearest], self._tried[nearest][1]) if apart else (np.inf, None)

    def _sampling_error(self, rows: float) -> float:
        error = float(self.problem.error(self.accepted[0]))
        return 0.5 * float(np.sqrt(error * (1 - error) / rows))

    def _solved(self) -> Lottery:
        """The best lottery over the classifiers so far, by a linear program and its dual."""
        if self._program[0] == len(self.models):
            return self._program[1]
        known = np.array(self.accepted)
        count, slack = len(known), np.full((self.problem.constraints, 1), -1.0)
        program = linprog(
            np.append(self.problem.error(known), self.budget),
            A_ub=np.hstack([self.problem.excess(known).T, slack]),
            b_ub=np.zeros(len(slack)),
            A_eq=np.append(np.ones(count), 0.0)[None],
            b_eq=1.0,
            method="highs-ds",
        )
        self._program = (count, self._judged(program.x[:-1], -program.ineqlin.marginals))
        return self._program[1]

    def _judged(self, chances: Floats, multipliers: Floats) -> Lottery:
        """How much either side could still gain: probes stop once that is more than tolerable."""
        accepted = np.tensordot(chances, np.array(self.accepted[: len(chances)]), axes=1)
        least = self.problem.netted(multipliers)
        excess = self.problem.excess(accepted)
        error = self.problem.error(accepted)
        value = error + least @ excess
        highest = error + self.budget * max(excess.max(), 0.0)
        gap = highest - value
        for probe in PROBES:
            other = self.accepted[self.respond(probe * multipliers)]
            gap = max(gap, value - self.problem.error(other) - least @ self.problem.excess(other))
            if gap > self.tolerance + PRECISION:
                break
        return Lottery(chances, float(gap))


class Pace:
    """The step of the multipliers, which shrinks when the gap no longer does."""

    def __init__(self, step: float) -> None:
        self.step = step
        self._checked, self._gap, self._best = float(LEAST_ROUNDS), np.inf, np.inf

    def check(self, round_: int, gap: float) -> None:
        """Now and then, compare the best gap so far with that of the last check."""
        self._best = min(self._best, gap)
        if round_ < CHECK_EVERY * self._checked:
            return
        if self._best > SHRINK * self._gap:
            self.step *= SHRINK
        self._checked, self._gap = round_, self._best


def _shares(theta: Floats) -> Floats:
    """The shares exp θ / (1 + Σ exp θ), for θ however large."""
    top = max(theta.max(), 0.0)
    weights = np.exp(theta - top)
    return np.asarray(weights / (np.exp(-top) + weights.sum()))


def _gap(lottery: Lottery) -> float:
    return lottery.gap
