"""Column generation: mix the rules known, ask at the mixture's prices for better ones, repeat.

The prices that are asked lie between those of the mixture and the best so far, the nearer to the
latter the more often the search overshoots (Pessoa, Sadykov, Uchoa, Vanderbeck, Automation and
combination of linear-programming based stabilization techniques in column generation, 2018). Any
prices bound the optimum from below, so that the gap at the end is proved, not estimated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.mitigation.optimal.bounds import Bounds
from evenhand.mitigation.optimal.columns import Columns, joined
from evenhand.mitigation.optimal.master import Mixture, mix
from evenhand.mitigation.optimal.problem import Problem
from evenhand.mitigation.optimal.rule import DecisionRule
from evenhand.mitigation.optimal.settling import settled

Floats = NDArray[np.float64]

MOST_ROUNDS = 1000
SPAN = 10
IN_USE, NEGLIGIBLE = 1e-6, 1e-12


@dataclass(frozen=True, eq=False)
class Solution:
    """A rule, what it costs, how far from the optimum it can be, and how it meets the bound.

    `rates` and `multipliers` have a row for each cell and a column for each group; `columns` are
    the rules found on the way, with which another bound may start.
    """

    rule: DecisionRule
    cost: float
    gap: float
    value: float
    rates: Floats
    multipliers: Floats
    rounds: int
    columns: Columns


class Search(NamedTuple):
    """Where a search stands: rules, their shares, the best lower bound and its dual point."""

    columns: Columns
    share: Floats
    floor: float
    dual: Floats
    rounds: int


def solve(problem: Problem, tolerance: float = 1e-6, start: Columns | None = None) -> Solution:
    """The cheapest rule within the bound; `start` may hold the rules found for another bound."""
    if problem.bounds is None:
        free = problem.respond(np.zeros(problem.forms.observed.size))
        least = Search(free, np.ones(len(free.pool)), float(free.cost.sum()), np.zeros(0), 0)
        return _solution(problem, least, free, least.share)
    centre = np.zeros(len(problem.bounds.constant))
    floor, free = problem.lower_bound(problem.bounds, centre)
    known = joined(free, problem.guesses()) if start is None else start
    begun = Search(joined(known, problem.constants()), np.zeros(0), floor, centre, 0)
    found = _search(problem, problem.bounds, begun, tolerance)
    return _solution(problem, found, *settled(problem, found.columns, found.share))


def _search(problem: Problem, bounds: Bounds, begun: Search, tolerance: float) -> Search:
    columns, _, floor, centre, rounds = begun
    memory, steady = Memory(np.zeros(len(columns.pool))), 0.0
    while True:
        mixture, rounds = mix(columns, bounds, problem.population.pools), rounds + 1
        asked = steady * centre + (1 - steady) * mixture.dual
        bound, better = problem.lower_bound(bounds, asked)
        slope = bounds.slope(asked, better.mixed(np.ones(len(better.pool)), bounds.pairs))
        further = slope @ (mixture.dual - centre) > 0
        steady = steady / 2 if further else steady + (1 - steady) / 5
        if bound > floor:
            floor, centre = bound, asked
        if mixture.cost - floor <= tolerance or rounds == MOST_ROUNDS:
            return Search(columns, mixture.share, floor, centre, rounds)
        recent, memory = memory.after(mixture, len(better.pool))
        columns = joined(columns.where(recent), better)


class Memory(NamedTuple):
    """When each rule was last in use; time passes only when the cost falls.

    Rules out of use for long are forgotten, but never while the search stalls, where it may take
    many rules together to get on.
    """

    used: Floats
    time: int = 0
    cost: float = np.inf

    def after(self, mixture: Mixture, new: int) -> tuple[NDArray[np.bool_], Memory]:
        """Which rules to keep after a round, and the memory of them and of new ones."""
        time = self.time + (mixture.cost < self.cost - NEGLIGIBLE)
        used = np.where(mixture.share > IN_USE, time, self.used)
        recent = used >= time - SPAN
        kept = np.append(used[recent], np.full(new, time))
        return recent, Memory(kept, time, min(mixture.cost, self.cost))


def _solution(problem: Problem, found: Search, support: Columns, share: Floats) -> Solution:
    shape, bounds = problem.forms.observed.shape, problem.bounds
    cost, rates = float(support.cost @ share), support.mixed(share, problem.forms.observed.size)
    multipliers = np.zeros(shape) if bounds is None else bounds.multipliers(found.dual)
    return Solution(
        DecisionRule(support.matrices, support.pool, share),
        problem.scale * cost,
        problem.scale * max(cost - float(found.floor), 0.0),
        problem.value(rates),
        np.where(problem.forms.observed, rates.reshape(shape), np.nan),
        problem.scale * multipliers.reshape(shape),
        found.rounds,
        found.columns,
    )
