"""The problem as a value: decisions, their cost, and the bounds on their rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evenhand._errors import InputError
from evenhand.measures import Measure, MeasureLike, resolve
from evenhand.mitigation.optimal.many import MANY, ManyGroups
from evenhand.mitigation.optimal.rates import RateForms, rate_forms, stacked
from evenhand.mitigation.optimal.requirements import Bounds, Requirement, evenly
from evenhand.mitigation.optimal.rule import tilt
from evenhand.mitigation.optimal.scores import Codes, Floats, Population, Response


def problem(
    population: Population,
    criterion: str,
    measure: MeasureLike,
    epsilon: float,
    *,
    cost: Any = None,
    favorable: int | None = None,
    p: float | None = None,
    q: float | None = None,
) -> Problem:
    """State the problem; the default cost is 1 for every wrong decision."""
    by = resolve(measure, p, q)
    forms = compared(criterion, population.mass, by, favorable)
    return stated(population, [evenly(forms, by, epsilon)], cost)


def compared(criterion: str, mass: Floats, measure: Measure, favorable: int | None) -> RateForms:
    """The rates that a criterion compares; one of two classes whose gaps are equal."""
    forms = rate_forms(criterion, mass, favorable)
    if not measure.is_width or mass.shape[1] != 2:
        return forms
    decided = np.array([cell[1] if isinstance(cell, tuple) else cell for cell in forms.cells])
    return forms.only(decided == decided.max())


def stated(
    population: Population, requirements: Sequence[Requirement], cost: Any = None
) -> Problem:
    """The problem with several requirements, of which the first is the one whose bound varies."""
    costs = costs_of(cost, population.mass.shape[1])
    scale = float(np.abs(costs).max()) or 1.0
    return Problem(population, costs / scale, scale, tuple(requirements))


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimize expected cost[k, y] subject to requirements of rates.

    Costs are in units of `scale`, so that the largest is 1. A `loose` problem may miss what rules
    that treat everyone alike can miss, and asks only that it is missed by as little as can be.
    """

    population: Population
    cost: Floats
    scale: float
    requirements: tuple[Requirement, ...]
    is_loose: bool = False

    @cached_property
    def forms(self) -> RateForms:
        """The rates of all requirements."""
        return stacked([requirement.forms for requirement in self.requirements])

    @cached_property
    def bounds(self) -> Bounds | ManyGroups | None:
        """The bounds on rates from all requirements."""
        return self._many() or self.paired_bounds

    @cached_property
    def paired_bounds(self) -> Bounds | None:
        """The same as cones, with a variable for each pair of groups where needed."""
        cones = [
            cone
            for requirement in self.requirements
            for cone in requirement.cones(is_loose=self.is_loose)
        ]
        return Bounds.of(cones, self.forms.observed)

    def _many(self) -> ManyGroups | None:
        """The bound on the Gini index of one rate of each of many groups."""
        first, owner = self.requirements[0], self.population.owner
        cells, groups = self.forms.observed.shape
        is_single_cell = cells == 1 or (cells == 2 and first.complementary)
        is_only_requirement = len(self.requirements) == 1 and _reads_ranks(first)
        if owner is None or not (
            is_only_requirement and is_single_cell and self.forms.observed.all() and groups >= MANY
        ):
            return None
        if not 0 < self.epsilon < 1 - 1 / groups:
            return None
        return ManyGroups(self.epsilon, cells, groups, owner)

    @property
    def epsilon(self) -> float:
        """The first requirement's bound."""
        return self.requirements[0].epsilon

    def unrestricted(self) -> Problem:
        """The same problem, with rules that may prefer lower scores."""
        if not self.population.rising:
            return self
        return replace(self, population=self.population.unrestricted())

    def tightened(self, rates: Floats) -> Problem:
        """The same problem, with half-spaces that exclude these rates for bounds without a cone."""
        parts = zip(self.requirements, self._parts(rates), strict=True)
        tighter = tuple(requirement.tightened(part) for requirement, part in parts)
        pairs = zip(tighter, self.requirements, strict=True)
        if all(new is old for new, old in pairs):
            return self
        return replace(self, requirements=tighter)

    def within(self, epsilon: float) -> Problem:
        """The same problem with another bound of the first requirement."""
        first, *further = self.requirements
        return replace(self, requirements=(first.within(epsilon), *further))

    def value(self, rates: Floats) -> float:
        """The first requirement's measure of the rates (pairs of cell and group), at worst."""
        return self._worst(rates)[0]

    def excess(self, rates: Floats) -> float:
        """By how much these rates miss the requirements; not above 0 where they meet them."""
        bounds = [requirement.epsilon for requirement in self.requirements]
        return float(np.max(np.subtract(self._worst(rates), bounds)))

    def _worst(self, rates: Floats) -> list[float]:
        parts = zip(self.requirements, self._parts(rates), strict=True)
        return [requirement.worst(part) for requirement, part in parts]

    def _parts(self, rates: Floats) -> list[Floats]:
        """The rates (cells, groups) of each requirement."""
        sizes = [len(requirement.forms.cells) for requirement in self.requirements]
        return np.split(rates.reshape(self.forms.observed.shape), np.cumsum(sizes)[:-1])

    def respond(self, multipliers: Floats) -> Columns:
        """The best rule of every pool when rates have these prices."""
        priced = self.forms.prices(multipliers.reshape(self.forms.observed.shape))
        return self.columns(self.population.respond(self.cost + priced))

    def lower_bound(self, bounds: Bounds | ManyGroups, dual: Floats) -> tuple[float, Columns]:
        """A lower bound of any rule's cost by weak duality, and the rules that prove it."""
        multipliers = bounds.multipliers(dual)
        best = self.respond(multipliers)
        value = float(best.priced(multipliers).sum()) - tilt(len(self.cost)).max()
        return value + bounds.constant_part(dual), best

    def guesses(self) -> Columns:
        """Rules to start from."""
        return self.columns(self.population.guesses())

    def constants(self) -> Columns:
        """The rules that decide one class for everyone: mixtures of them meet any bound."""
        groups, classes = self.population.mass.shape
        always = 1 - np.eye(classes)
        prices = np.broadcast_to(always[:, None, None, :], (classes, groups, classes, classes))
        return joined(*(self.columns(self.population.respond(price)) for price in prices))

    def columns(self, response: Response) -> Columns:
        """Cost and rates of each rule, which decides for one group, or for all of them."""
        pool, matrices, confusion = response
        (cells, groups), owner = self.forms.observed.shape, self.population.owner
        if owner is None:
            return self._of_everyone(response)
        cost = np.einsum("ky,jky->j", self.cost, confusion)
        rates = np.einsum("cjky,jky->jc", self.forms.coefficients[:, owner[pool]], confusion)
        pairs = np.arange(cells) * groups + owner[pool][:, None]
        return Columns(pool, cost, pairs, rates, matrices)

    def _of_everyone(self, response: Response) -> Columns:
        pool, matrices, confusion = response
        rules, observed = len(pool), self.forms.observed
        tables = confusion.reshape(rules, observed.shape[1], *self.cost.shape)
        cost = np.einsum("ky,jaky->j", self.cost, tables)
        rates = np.einsum("caky,jaky->jca", self.forms.coefficients, tables)
        pairs = np.broadcast_to(np.arange(observed.size), (rules, observed.size))
        return Columns(pool, cost, pairs, rates.reshape(pairs.shape), matrices)


def _reads_ranks(requirement: Requirement) -> bool:
    return requirement.measure is not None and requirement.measure.reads == "ranks"


def costs_of(cost: Any, classes: int) -> Floats:
    """The cost of each decision (column) by the truth (row); by default 1 for an error."""
    costs = 1 - np.eye(classes) if cost is None else np.asarray(cost, dtype=np.float64)
    if costs.shape != (classes, classes) or not np.isfinite(costs).all():
        raise InputError(
            f"cost must hold {classes} × {classes} numbers, a row for each true class and a column "
            f"for each decision; its shape is {costs.shape}."
        )
    return costs


class Columns(NamedTuple):
    """Rules: their pools, costs, effects on rates, and prices.

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
        """The rates of all pairs when rules have these shares."""
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
        """The pool (row) of each rule (column)."""
        rules = len(self.pool)
        return sparse.csc_array((np.ones(rules), self.pool, np.arange(rules + 1)), (pools, rules))

    def normalized(self, share: Floats, pools: int) -> Floats:
        """Shares that add up to 1 in every pool."""
        return np.asarray(share / np.bincount(self.pool, share, pools)[self.pool])


def joined(*rules: Columns) -> Columns:
    """These rules together."""
    return Columns(*(np.concatenate(parts) for parts in zip(*rules, strict=True)))
