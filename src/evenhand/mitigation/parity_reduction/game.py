"""The game of regressor and prices, and the best mixture of the regressors it brings forth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.dummy import DummyRegressor

from evenhand.mitigation.parity_reduction.levels import Floats, Levels
from evenhand.mitigation.reader import Rows
from evenhand.mitigation.refitting import Refitting
from evenhand.mitigation.underlying import weight_parameter

RATES = (2.0, 8.0)  # of the prices' growth, slow and fast; they fall with the root of the round
DEARLY = 100.0  # what the mixture pays for parity that is missed: no loss is worth that


class Response(NamedTuple):
    """A fitted model, its mean squared error, and the groups' excess at each threshold."""

    model: Any
    loss: float
    excess: Floats


class Mixture(NamedTuple):
    """How often each model is used, the loss, and the greatest excess of a group."""

    weights: Floats
    loss: float
    excess: float


@dataclass(frozen=True, eq=False)
class Game:
    """The rows, a model for them, and the levels and shares by which parity is judged."""

    rows: Rows
    prepared: Refitting
    levels: Levels
    share: Floats

    def play(self, epsilon: float, most: float, rounds: int) -> list[Response]:
        """Responses to prices that grow where parity is missed by more than ε.

        Prices, upward and downward, sum to `most` at most. The constant, which has parity, is the
        last response.
        """
        growth = np.zeros((len(RATES), 2, len(self.share), len(self.levels.values) - 1))
        responses = []
        for played in range(rounds):
            pace = played % len(RATES)
            top = max(growth[pace].max(), 0.0)  # so that no power overflows
            raised = np.exp(growth[pace] - top)
            up, down = most * raised / (np.exp(-top) + raised.sum())
            response = self.respond(up - down)
            responses.append(response)
            missed = np.stack([response.excess, -response.excess]) - epsilon
            growth[pace] += missed * RATES[pace] / np.sqrt(played // len(RATES) + 1)
        constant = DummyRegressor().fit(self.prepared.X, self.rows.y, self.rows.sample_weight)
        return [*responses, self.judged(constant)]

    def respond(self, prices: Floats) -> Response:
        """The base model, fitted to the levels that serve each row best at these prices."""
        best = self.levels.best(prices, self.share)
        aims = self.levels.values[best[self.rows.group, self.levels.nearest(self.rows.y)]]
        weights = {}
        if self.rows.sample_weight is not None:
            weights[weight_parameter(self.prepared.model)] = self.rows.sample_weight
        return self.judged(clone(self.prepared.model).fit(self.prepared.X, aims, **weights))

    def judged(self, model: Any) -> Response:
        """A model with its loss and the groups' excess, its predictions taken to the levels."""
        group, weight = self.rows.group, self.rows.weight
        level = self.levels.nearest(np.ravel(model.predict(self.prepared.X)))
        loss = np.average((self.levels.values[level] - self.rows.y) ** 2, weights=weight)
        tails = self.levels.tails(level, group, weight, len(self.share))
        return Response(model, float(loss), tails - self.share @ tails)


def mixed(responses: list[Response], epsilon: float) -> Mixture:
    """The mixture with the least loss of those that miss parity least."""
    losses = np.array([response.loss for response in responses])
    gaps = np.stack([response.excess.ravel() for response in responses], axis=1)
    rows = np.column_stack([np.vstack([gaps, -gaps]), np.full(2 * len(gaps), -1.0)])
    found = linprog(
        np.append(losses, DEARLY * losses.max()),
        A_ub=rows,
        b_ub=np.full(len(rows), epsilon),
        A_eq=np.append(np.ones_like(losses), 0.0)[None],
        b_eq=[1.0],
        method="highs",
    )
    weights = np.maximum(found.x[:-1], 0.0)
    weights /= weights.sum()
    return Mixture(weights, float(losses @ weights), float(np.abs(gaps @ weights).max()))
