"""From the mixture a solver gave to one that is sparse and meets the bound to the last digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evenhand.mitigation.optimal.columns import Columns, joined
from evenhand.mitigation.optimal.master import linear_program
from evenhand.mitigation.optimal.problem import Problem

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-11
EXCESS = 1e-10
STEPS = np.logspace(-11, -3, 25)


def settled(problem: Problem, columns: Columns, share: Floats) -> tuple[Columns, Floats]:
    """The rules in use and their shares."""
    pools = problem.population.pools
    used, share = columns.where(share > NEGLIGIBLE), share[share > NEGLIGIBLE]
    used, share = _met(problem, used, used.normalised(share, pools))
    if problem.bounds is None or problem.bounds.polyhedral:  # then it is a vertex already
        return used, share
    share = _sparse(used, share, pools, problem.forms.observed.size)
    return _met(problem, used.where(share > 0), share[share > 0])  # rounding may matter near 0


def _met(problem: Problem, columns: Columns, share: Floats) -> tuple[Columns, Floats]:
    """Blend in, by a hair, what decides alike for everyone, until the bound is met."""
    most, size = problem.epsilon + EXCESS, problem.forms.observed.size
    rates = columns.mixed(share, size)
    if problem.value(rates) <= most:
        return columns, share
    alike = problem.constants()
    evenly = np.full(len(alike.pool), 1 / len(problem.cost))
    even = alike.mixed(evenly, size)
    enough = (step for step in STEPS if problem.value((1 - step) * rates + step * even) <= most)
    step = next(enough, STEPS[-1])
    return joined(columns, alike), np.concatenate([(1 - step) * share, step * evenly])


def _sparse(columns: Columns, share: Floats, pools: int, size: int) -> Floats:
    """A vertex among the mixtures of the same rates: interior points use more rules than needed."""
    equal = sparse.vstack([columns.members(pools), columns.table(size)], format="csr")
    found = linear_program(columns.cost, A_eq=equal, b_eq=equal @ share, bounds=(0, None))
    return columns.normalised(np.where(found.x > NEGLIGIBLE, found.x, 0), pools)
