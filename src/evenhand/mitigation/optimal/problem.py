"""The problem as a value: whose decisions, at what cost, and which rates must meet which bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand import measures
from evenhand.mitigation.optimal.bounds import Bounds
from evenhand.mitigation.optimal.columns import Columns, joined
from evenhand.mitigation.optimal.cones import cone
from evenhand.mitigation.optimal.population import Population, Response
from evenhand.mitigation.optimal.rates import Cell, RateForms, rate_forms
from evenhand.mitigation.optimal.rule import tilt

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise expected cost[k, y] subject to measure(rates of a cell) ≤ ε in every cell.

    Costs are in units of `scale`, so that the largest is 1.
    """

    population: Population
    cost: Floats
    scale: float
    forms: RateForms
    epsilon: float
    measure: Callable[[Floats], Any]
    bounds: Bounds | None

    def value(self, rates: Floats) -> float:
        """The criterion: the measure of the rates (pairs of cell and group), in the worst cell."""
        table = np.where(self.forms.observed, rates.reshape(self.forms.observed.shape), np.nan)
        cells = table[self.forms.observed.sum(axis=1) >= 2]
        return float(np.max(self.measure(np.maximum(cells, 0)), initial=0.0))

    def respond(self, multipliers: Floats) -> Columns:
        """The best rule of every pool when rates have these prices."""
        priced = self.forms.prices(multipliers.reshape(self.forms.observed.shape))
        return self.columns(self.population.respond(self.cost + priced))

    def lower_bound(self, bounds: Bounds, dual: Floats) -> tuple[float, Columns]:
        """What no rule whatever can undercut, by weak duality; and the rules that show it."""
        multipliers = bounds.multipliers(dual)
        best = self.respond(multipliers)
        least = float(best.priced(multipliers).sum()) - tilt(len(self.cost)).max()
        return least + bounds.constant_part(dual), best

    def guesses(self) -> Columns:
        """Rules to begin with."""
        return self.columns(self.population.guesses())

    def constants(self) -> Columns:
        """The rules that decide one class for everyone: together they meet any bound."""
        groups, classes = self.population.mass.shape
        always = 1 - np.eye(classes)
        prices = np.broadcast_to(always[:, None, None, :], (classes, groups, classes, classes))
        return joined(*(self.columns(self.population.respond(price)) for price in prices))

    def columns(self, response: Response) -> Columns:
        """Cost and rates of each rule, which decides for one group, or for all of them."""
        pool, matrices, confusion = response
        cells, groups = self.forms.observed.shape
        if self.population.pools < groups:
            return self._of_everyone(response)
        cost = np.einsum("ky,jky->j", self.cost, confusion)
        rates = np.einsum("cjky,jky->jc", self.forms.coefficients[:, pool], confusion)
        pairs = np.arange(cells) * groups + pool[:, None]
        return Columns(pool, cost, pairs, rates, matrices)

    def _of_everyone(self, response: Response) -> Columns:
        pool, matrices, confusion = response
        rules, observed = len(pool), self.forms.observed
        whole = confusion.reshape(rules, observed.shape[1], *self.cost.shape)
        cost = np.einsum("ky,jaky->j", self.cost, whole)
        rates = np.einsum("caky,jaky->jca", self.forms.coefficients, whole)
        pairs = np.broadcast_to(np.arange(observed.size), (rules, observed.size))
        return Columns(pool, cost, pairs, rates.reshape(pairs.shape), matrices)

    def within(self, measure: str, epsilon: float, p: float = 1, q: float = 2) -> Problem:
        """The same problem with this bound."""
        if not epsilon >= 0:
            raise ValueError(f"The bound on {measure} must be at least 0; it is {epsilon}.")
        cones = [cone(measure, int(d), epsilon, p, q) for d in self.forms.observed.sum(axis=1)]
        function = partial(measures.pq, p=p, q=q) if measure == "pq" else measures.MEASURES[measure]
        bounds = Bounds.of(cones, self.forms.observed)
        return replace(self, epsilon=epsilon, measure=function, bounds=bounds)


def problem(
    population: Population,
    criterion: str,
    measure: str,
    epsilon: float,
    *,
    cost: Any = None,
    favourable: int | None = None,
    p: float = 1,
    q: float = 2,
) -> Problem:
    """State the problem; the default cost is 1 for every wrong decision."""
    mass = population.mass
    forms = rate_forms(criterion, mass, favourable)
    if measure == "mpd" and mass.shape[1] == 2:  # the other class has the same differences
        forms = forms.only(_one_of_two(forms.cells))
    costs = _costs(cost, mass.shape[1])
    scale = float(np.abs(costs).max()) or 1.0
    stated = Problem(population, costs / scale, scale, forms, epsilon, measures.mpd, None)
    return stated.within(measure, epsilon, p, q)


def _costs(cost: Any, classes: int) -> Floats:
    costs = 1 - np.eye(classes) if cost is None else np.asarray(cost, dtype=np.float64)
    if costs.shape != (classes, classes) or not np.isfinite(costs).all():
        raise ValueError(
            f"cost must hold {classes} × {classes} numbers, a row for each true class and a column "
            f"for each decision; its shape is {costs.shape}."
        )
    return costs


def _one_of_two(cells: tuple[Cell, ...]) -> NDArray[np.bool_]:
    """Which cells are about one decision, the last that occurs."""
    decided = np.array([cell[1] if isinstance(cell, tuple) else cell for cell in cells])
    return np.asarray(decided == decided.max())
