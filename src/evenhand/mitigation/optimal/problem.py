"""The problem as a value: whose decisions, at what cost, and which rates must meet which bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evenhand import measures
from evenhand._errors import InputError
from evenhand.mitigation.optimal.cones import Cone, Floats, Part, cone
from evenhand.mitigation.optimal.rule import tilt
from evenhand.mitigation.optimal.scores import Codes, Population, Response

Cell = int | tuple[int, int]

LEAST_MASS = 1e-12
ONE_CLASS = ("equal_opportunity", "predictive_equality")


def problem(
    population: Population,
    criterion: str,
    measure: str,
    epsilon: float,
    *,
    cost: Any = None,
    favorable: int | None = None,
    p: float = 1,
    q: float = 2,
) -> Problem:
    """State the problem; the default cost is 1 for every wrong decision."""
    mass = population.mass
    forms = rate_forms(criterion, mass, favorable)
    if measure == "mpd" and mass.shape[1] == 2:  # the other class has the same differences
        forms = forms.only(_one_of_two(forms.cells))
    costs = _costs(cost, mass.shape[1])
    scale = float(np.abs(costs).max()) or 1.0
    stated = Problem(population, costs / scale, scale, forms, epsilon, measures.mpd, None)
    return stated.within(measure, epsilon, p, q)


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimize expected cost[k, y] subject to measure(rates of a cell) ≤ ε in every cell.

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
            raise InputError(f"The bound on {measure} must be at least 0; it is {epsilon}.")
        cones = [cone(measure, int(d), epsilon, p, q) for d in self.forms.observed.sum(axis=1)]
        function = partial(measures.pq, p=p, q=q) if measure == "pq" else measures.MEASURES[measure]
        bounds = Bounds.of(cones, self.forms.observed)
        return replace(self, epsilon=epsilon, measure=function, bounds=bounds)


def _costs(cost: Any, classes: int) -> Floats:
    costs = 1 - np.eye(classes) if cost is None else np.asarray(cost, dtype=np.float64)
    if costs.shape != (classes, classes) or not np.isfinite(costs).all():
        raise InputError(
            f"cost must hold {classes} × {classes} numbers, a row for each true class and a column "
            f"for each decision; its shape is {costs.shape}."
        )
    return costs


def _one_of_two(cells: tuple[Cell, ...]) -> NDArray[np.bool_]:
    """Which cells are about one decision, the last that occurs."""
    decided = np.array([cell[1] if isinstance(cell, tuple) else cell for cell in cells])
    return np.asarray(decided == decided.max())


class Columns(NamedTuple):
    """Rules: whose, at what cost, which rates they move by how much, and by which prices.

    Row j of `pairs` numbers the pairs (cell, group) whose rates rule j is part of, and row j of
    `rates` says how large they are if it always decides.
    """

    pool: Codes
    cost: Floats
    pairs: Codes
    rates: Floats
    matrices: Floats

    def where(self, chosen: NDArray[np.bool_]) -> Columns:
        """Some of the rules."""
        pool, cost, pairs, rates, matrices = self
        return Columns(pool[chosen], cost[chosen], pairs[chosen], rates[chosen], matrices[chosen])

    def mixed(self, share: Floats, size: int) -> Floats:
        """The rates of all pairs when each rule decides so often."""
        moved = (self.rates * share[:, None]).ravel()
        return np.asarray(np.bincount(self.pairs.ravel(), moved, size), dtype=np.float64)

    def priced(self, multipliers: Floats) -> Floats:
        """The cost of each rule where rates have these prices too."""
        return np.asarray(self.cost + (self.rates * multipliers[self.pairs]).sum(axis=1))

    def table(self, size: int) -> sparse.csc_array:
        """The rates (pairs, rules), sparse."""
        rules, width = self.rates.shape
        ends = np.arange(0, rules * width + 1, width)
        return sparse.csc_array((self.rates.ravel(), self.pairs.ravel(), ends), (size, rules))

    def members(self, pools: int) -> sparse.csc_array:
        """Which rule (column) is whose (row)."""
        rules = len(self.pool)
        return sparse.csc_array((np.ones(rules), self.pool, np.arange(rules + 1)), (pools, rules))

    def normalized(self, share: Floats, pools: int) -> Floats:
        """Shares that add up to 1 in every pool."""
        return np.asarray(share / np.bincount(self.pool, share, pools)[self.pool])


def joined(*some: Columns) -> Columns:
    """All of these rules."""
    return Columns(*(np.concatenate(parts) for parts in zip(*some, strict=True)))


@dataclass(frozen=True, eq=False)
class Bounds:
    """The slack A r + B u + b of all cells; r are the rates of all pairs (cell, group)."""

    of_rates: sparse.csr_array
    of_help: sparse.csr_array
    constant: Floats
    parts: tuple[Part, ...]
    most: Floats

    @classmethod
    def of(cls, by_cell: Sequence[Cone | None], observed: NDArray[np.bool_]) -> Bounds | None:
        """Each cone takes the rates of the groups observed in its cell; None bounds nothing."""
        pairs = sparse.eye_array(observed.size, format="csr")
        picks = [pairs[np.flatnonzero(row)] for row in _by_cell(observed)]
        chosen = [(cone, pick) for cone, pick in zip(by_cell, picks, strict=True) if cone]
        if not chosen:
            return None
        cones = [cone for cone, _ in chosen]
        return cls(
            sparse.vstack([cone.of_rates @ pick for cone, pick in chosen], format="csr"),
            sparse.block_diag([cone.of_help for cone in cones], format="csr"),
            np.concatenate([cone.constant for cone in cones]),
            tuple(part for cone in cones for part in cone.parts),
            np.concatenate([cone.most for cone in cones]),
        )

    @property
    def pairs(self) -> int:
        """How many rates there are."""
        return int(self.of_rates.shape[1])

    @property
    def polyhedral(self) -> bool:
        """Whether linear programming is enough."""
        return all(part.kind == "nonnegative" for part in self.parts)

    def multipliers(self, dual: Floats) -> Floats:
        """The prices of the rates at a dual point."""
        return np.asarray(-(self.of_rates.T @ dual))

    def constant_part(self, dual: Floats) -> float:
        """What a dual point contributes to the lower bound, apart from the pools' responses.

        A helping variable lies in a known interval, so that a dual point that is only nearly
        feasible still bounds.
        """
        residual = -(self.of_help.T @ dual)
        return float(np.minimum(residual, 0) @ self.most - self.constant @ dual)

    def slope(self, dual: Floats, rates: Floats) -> Floats:
        """In which direction the lower bound rises from a dual point, where rates respond so."""
        helping = np.where(self.of_help.T @ dual > 0, self.most, 0.0)
        return np.asarray(-(self.of_rates @ rates + self.of_help @ helping + self.constant))


def _by_cell(observed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each cell, which of all pairs (cell, group) are its own and observed."""
    own = np.eye(len(observed), dtype=bool)[:, :, None] & observed
    return own.reshape(len(observed), -1)


@dataclass(frozen=True, eq=False)
class RateForms:
    """rate[c, a] = Σ coefficients[c, a, k, y] N[a, k, y], where the pair (c, a) is observed."""

    cells: tuple[Cell, ...]
    coefficients: Floats
    observed: NDArray[np.bool_]

    def __call__(self, confusion: Floats) -> Floats:
        """The rates (cells, groups) of a confusion (groups, classes, classes)."""
        return np.asarray(np.einsum("caky,aky->ca", self.coefficients, confusion))

    def prices(self, multipliers: Floats) -> Floats:
        """What a decision costs through the rates it moves: (groups, true class, decision)."""
        return np.asarray(np.einsum("caky,ca->aky", self.coefficients, multipliers))

    def only(self, keep: NDArray[np.bool_]) -> RateForms:
        """The forms of some of the cells."""
        cells = tuple(cell for cell, kept in zip(self.cells, keep, strict=True) if kept)
        return RateForms(cells, self.coefficients[keep], self.observed[keep])


def rate_forms(criterion: str, mass: Floats, favorable: int | None = None) -> RateForms:
    """The rates a criterion compares; mass[a, k] is the share of rows of group a and class k.

    >>> mass = np.array([[0.2, 0.3], [0.4, 0.1]])
    >>> [cell for cell in rate_forms("equalized_odds", mass).cells]
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    if criterion not in RATES:
        raise InputError(f"There are no rates for {criterion!r}; there are those of {list(RATES)}.")
    classes = mass.shape[1]
    forms = RATES[criterion](mass)
    if criterion in ONE_CLASS and (classes == 2 or favorable is not None):
        chosen = classes - 1 if favorable is None else favorable
        forms = forms.only(np.array([cell == chosen for cell in forms.cells]))
    return forms


def _parity(mass: Floats) -> RateForms:
    """P(ŷ = c | a)."""
    return _against(mass, np.ones_like(np.eye(mass.shape[1])))


def _sensitivity(mass: Floats) -> RateForms:
    """P(ŷ = c | Y = c, a)."""
    return _against(mass, np.eye(mass.shape[1]))


def _false_alarm(mass: Floats) -> RateForms:
    """P(ŷ = c | Y ≠ c, a)."""
    return _against(mass, 1 - np.eye(mass.shape[1]))


def _average(mass: Floats) -> RateForms:
    """Half of sensitivity and false alarms together."""
    hits, alarms = _sensitivity(mass), _false_alarm(mass)
    both = hits.observed & alarms.observed
    halves = (hits.coefficients + alarms.coefficients) / 2 * both[:, :, None, None]
    return RateForms(hits.cells, halves, both)


def _odds(mass: Floats) -> RateForms:
    """P(ŷ = y | Y = k, a) for all pairs (k, y)."""
    groups, classes = mass.shape
    pairs = tuple((k, y) for k in range(classes) for y in range(classes))
    coefficients = np.zeros((len(pairs), groups, classes, classes))
    inverse, observed = _inverse(mass.T)
    for cell, (k, y) in enumerate(pairs):
        coefficients[cell, :, k, y] = inverse[k]
    return RateForms(pairs, coefficients, np.repeat(observed, classes, axis=0))


def _against(mass: Floats, given: Floats) -> RateForms:
    """P(ŷ = c | Y ∈ given[c], a) for every class c."""
    groups, classes = mass.shape
    inverse, observed = _inverse(given @ mass.T)
    coefficients = np.zeros((classes, groups, classes, classes))
    for c in range(classes):
        coefficients[c, :, :, c] = inverse[c][:, None] * given[c]
    return RateForms(tuple(range(classes)), coefficients, observed)


def _inverse(mass: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """One over the mass, 0 where there is none to speak of."""
    observed = mass > LEAST_MASS
    return np.divide(1.0, mass, out=np.zeros_like(mass), where=observed), observed


RATES: dict[str, Callable[[Floats], RateForms]] = {
    "statistical_parity": _parity,
    "equal_opportunity": _sensitivity,
    "predictive_equality": _false_alarm,
    "equalized_odds": _odds,
    "average_odds": _average,
}
