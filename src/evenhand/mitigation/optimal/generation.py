"""Column generation: mix the rules known, ask at the mixture's prices for better ones, repeat.

The prices tried lie between those of the mixture and the best so far, the nearer to the
latter the more often the search overshoots (Pessoa, Sadykov, Uchoa, Vanderbeck, Automation and
combination of linear-programming based stabilization techniques in column generation, 2018). Any
prices bound the optimum from below, so that the gap at the end is proved, not estimated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from evenhand._errors import InputError
from evenhand._words import listing
from evenhand.mitigation.optimal.cones import MISS, Floats, clarabel, cone_of, quiet_settings
from evenhand.mitigation.optimal.many import BothError, ManyGroups
from evenhand.mitigation.optimal.problem import Columns, Problem, joined
from evenhand.mitigation.optimal.requirements import Bounds
from evenhand.mitigation.optimal.rule import DecisionRule, most_frequent

SPAN = 10  # rounds of progress after which a rule that is out of use is forgotten
IN_USE, NO_GAIN = 1e-6, 1e-12
NEGLIGIBLE = 1e-11
MOST_CUTS = 500  # half-spaces, for bounds that have no cone
EXCESS = 1e-10
FEASIBLE = 1e-8
STEPS = np.logspace(-11, -3, 25)


@dataclass(frozen=True, eq=False)
class Solution:
    """A rule, its cost, its optimality gap, and how it meets the bound.

    `rates` and `multipliers` have a row for each cell and a column for each group; `columns` are
    the rules found on the way, with which another bound may start. `rising_gap` is how much less,
    at most, a rule could cost that may prefer lower scores, where this one may not.
    """

    rule: DecisionRule
    cost: float
    gap: float
    value: float
    rates: Floats
    multipliers: Floats
    rounds: int
    columns: Columns
    nearest: Nearest
    rising_gap: float = 0.0


class Nearest(NamedTuple):
    """The nearest deterministic rule, its cost on the fitting rows, and its disparity.

    Parameters
    ----------
    rule : DecisionRule
        Each pool's most frequent rule, for everyone.
    objective : float
        Its expected cost.
    value : float
        The criterion, which no bound holds.
    rates : ndarray of shape (n_cells, n_groups)
        The rates.

    """

    rule: DecisionRule
    objective: float
    value: float
    rates: Floats


def solve(problem: Problem, tolerance: float = 1e-6, start: Columns | None = None) -> Solution:
    """The cheapest rule within the bound; `start` may hold the rules found for another bound."""
    search = _searched(problem, tolerance, start)
    for _ in range(MOST_CUTS):  # without bounds that have no cone, none is needed
        rates = search.columns.mixed(search.share, problem.forms.observed.size)
        tighter = problem.tightened(rates)
        if tighter is problem:
            break
        columns = joined(search.columns, tighter.guesses(), tighter.constants())
        problem, search = tighter, _searched(tighter, tolerance, columns)
    return _solution(problem, search, *in_use(problem, search.columns, search.share))


def _searched(problem: Problem, tolerance: float, start: Columns | None) -> Search:
    """The cheapest mixture of rules within the cones and half-spaces there are."""
    if problem.bounds is None:
        free = problem.respond(np.zeros(problem.forms.observed.size))
        return Search(free, np.ones(len(free.pool)), float(free.cost.sum()), np.zeros(0), 0)
    columns = joined(problem.guesses(), problem.constants()) if start is None else start
    if not all(requirement.even for requirement in problem.requirements):
        columns = _feasible(problem, columns)
    return _started(problem, columns, tolerance)


def cost_of_rising(problem: Problem, solution: Solution, tolerance: float = 1e-6) -> float:
    """The extra cost because no rule may prefer a lower score to a higher one.

    Most often the prices of the solution prove that it costs nothing; else it is solved again.
    """
    resolution = 3 * tolerance * problem.scale  # what either search may be off by, and rounding
    if solution.rising_gap <= resolution:
        return 0.0
    extra = solution.cost - solve(problem.unrestricted(), tolerance, solution.columns).cost
    return extra if extra > resolution else 0.0


class ImpossibleError(InputError):
    """Requirements that no rule can meet together."""


def _feasible(problem: Problem, start: Columns) -> Columns:
    """Rules whose mixtures meet the requirements, or a proof that none do.

    A rule that met them would cost at most 1; so a lower bound above 1, where missing them has a
    price, is the proof.
    """
    columns, missed = _missed(problem, start)
    if missed <= 0:
        return columns
    needed = list(problem.requirements)
    for requirement in problem.requirements:  # what can be left out has no part in the conflict
        remaining = [other for other in needed if other is not requirement]
        if any(not other.even for other in remaining):
            reduced = replace(problem, requirements=tuple(remaining))
            if _missed(reduced, joined(reduced.guesses(), reduced.constants()))[1] > 0:
                needed = remaining
    names = listing([requirement.label for requirement in needed])
    rising = problem.population.rising
    raise ImpossibleError(
        f"No rule on these scores{' that prefers higher ones' if rising else ''} meets {names}: by "
        f"{missed:.3g}, at least, the best falls short. Ask for less"
        f"{', or pass rising=False' if rising else ''}."
    )


def _missed(problem: Problem, start: Columns) -> tuple[Columns, float]:
    """Rules that miss the requirements by the least, and a lower bound of that."""
    loose = replace(problem, is_loose=True)
    search = _started(loose, start, FEASIBLE * MISS)
    return search.columns, search.floor / MISS if search.floor > 1 else 0.0


def _started(problem: Problem, start: Columns, tolerance: float) -> Search:
    try:
        return _bounded(problem, problem.bounds, start, tolerance)
    except BothError:
        return _bounded(problem, problem.paired_bounds, start, tolerance)


def _bounded(
    problem: Problem, bounds: Bounds | ManyGroups | None, start: Columns, tolerance: float
) -> Search:
    assert bounds is not None
    center = np.zeros(len(bounds.constant))
    floor, free = problem.lower_bound(bounds, center)
    search = Search(joined(free, start), np.zeros(0), floor, center, 0)
    return _search(problem, bounds, search, tolerance)


class Search(NamedTuple):
    """The state of a search: rules, their shares, the best lower bound and its dual point."""

    columns: Columns
    share: Floats
    floor: float
    dual: Floats
    rounds: int


def _search(
    problem: Problem, bounds: Bounds | ManyGroups, start: Search, tolerance: float
) -> Search:
    columns, _, floor, center, rounds = start
    memory, steady = Memory(np.zeros(len(columns.pool))), 0.0
    while True:
        mixture, rounds = mix(columns, bounds, problem.population.pools), rounds + 1
        dual = steady * center + (1 - steady) * mixture.dual
        bound, better = problem.lower_bound(bounds, dual)
        slope = bounds.slope(dual, better.mixed(np.ones(len(better.pool)), bounds.pairs))
        further = slope @ (mixture.dual - center) > 0
        steady = steady / 2 if further else steady + (1 - steady) / 5
        if bound > floor:
            floor, center = bound, dual
        if mixture.cost - floor <= tolerance or rounds == bounds.most_rounds:
            return Search(columns, mixture.share, floor, center, rounds)
        recent, memory = memory.after(mixture, len(better.pool))
        columns = joined(columns.where(recent), better)


class Memory(NamedTuple):
    """The last use of each rule; time advances only when the cost falls.

    Rules out of use for long are forgotten, but never while the search stalls, where it may take
    many rules together to get on.
    """

    used: Floats
    time: int = 0
    cost: float = np.inf

    def after(self, mixture: Mixture, new: int) -> tuple[NDArray[np.bool_], Memory]:
        """The rules to keep after a round, and the memory of them and of new ones."""
        time = self.time + (mixture.cost < self.cost - NO_GAIN)
        used = np.where(mixture.share > IN_USE, time, self.used)
        recent = used >= time - SPAN
        times = np.append(used[recent], np.full(new, time))
        return recent, Memory(times, time, min(mixture.cost, self.cost))


class Mixture(NamedTuple):
    """The share of each rule in its pool, their cost, and the cones' dual point."""

    share: Floats
    cost: float
    dual: Floats


def mix(columns: Columns, bounds: Bounds | ManyGroups, pools: int) -> Mixture:
    """The cheapest mixture of the rules whose rates meet the bounds."""
    if isinstance(bounds, ManyGroups):
        share, dual = bounds.mix(columns.pool, columns.rates, columns.cost)
        return Mixture(share, float(columns.cost @ share), dual)
    return (_mix_linear if bounds.polyhedral else _mix_conic)(columns, bounds, pools)


def _mix_linear(columns: Columns, bounds: Bounds, pools: int) -> Mixture:
    """The cheapest mixture by HiGHS; unknowns are shares and auxiliary variables."""
    rules, help_ = len(columns.pool), bounds.of_help.shape[1]
    rates = bounds.of_rates @ columns.table(bounds.pairs)
    slack = sparse.hstack([rates, bounds.of_help], format="csr")
    member = sparse.hstack([columns.members(pools), sparse.csr_array((pools, help_))])
    solution = linear_program(
        np.concatenate([columns.cost, bounds.price]),
        A_ub=-slack,
        b_ub=bounds.constant,
        A_eq=member.tocsr(),
        b_eq=np.ones(pools),
        bounds=np.column_stack([np.zeros(rules + help_), np.append(np.ones(rules), bounds.most)]),
    )
    share = np.maximum(solution.x[:rules], 0)
    cost = float(columns.cost @ share + bounds.price @ solution.x[rules:])
    return Mixture(share, cost, np.maximum(-solution.ineqlin.marginals, 0))


def _mix_conic(columns: Columns, bounds: Bounds, pools: int) -> Mixture:
    """The cheapest mixture by Clarabel, with constraints A x + s = b, s in a cone."""
    solver = clarabel()
    rules, pairs, helping = len(columns.pool), bounds.pairs, bounds.of_help.shape[1]
    unknowns = rules + pairs + helping
    cones = [solver.ZeroConeT(pools + pairs), solver.NonnegativeConeT(rules)]
    cones += [cone_of(part) for part in bounds.parts]
    solution = solver.DefaultSolver(
        sparse.csc_array((unknowns, unknowns)),
        np.concatenate([columns.cost, np.zeros(pairs), bounds.price]),
        _conic_rows(columns, bounds, pools),
        np.concatenate([np.ones(pools), np.zeros(pairs + rules), bounds.constant]),
        cones,
        quiet_settings(1e-10),
    ).solve()
    point, dual = np.array(solution.x), np.array(solution.z)[pools + pairs + rules :]
    chosen, helped = point[:rules], np.maximum(point[rules + pairs :], 0)
    if not np.isfinite([chosen.sum(), dual.sum()]).all():
        raise RuntimeError(f"Clarabel gave up on the mixture of rules: {solution.status}")
    share = columns.normalized(np.maximum(chosen, 0), pools)
    return Mixture(share, float(columns.cost @ share + bounds.price @ helped), dual)


def _conic_rows(columns: Columns, bounds: Bounds, pools: int) -> sparse.csc_array:
    """Shares add up; rates are what shares make them; shares are positive; slack is in its cone."""
    table, member = columns.table(bounds.pairs), columns.members(pools)
    share, rate = sparse.eye_array(len(columns.pool)), sparse.eye_array(bounds.pairs)
    return sparse.block_array(
        [
            [member, None, None],
            [table, -rate, None],
            [-share, None, None],
            [None, -bounds.of_rates, -bounds.of_help],
        ],
        format="csc",
    )


def linear_program(cost: Floats, **rows: Any) -> Any:
    """Solve by HiGHS to ten digits, or to its usual seven if that fails.

    It presolves the second time only: these problems are small, and solved sooner than that.
    """
    digits = {f"{side}_feasibility_tolerance": 1e-10 for side in ("primal", "dual")}
    for options in ({"presolve": False, **digits}, {"presolve": True}):
        solution = optimize.linprog(cost, method="highs-ds", options=options, **rows)
        if solution.status == 0:
            return solution
    raise RuntimeError(f"HiGHS gave up on the mixture of rules: {solution.message}")


def in_use(problem: Problem, columns: Columns, share: Floats) -> tuple[Columns, Floats]:
    """The rules in use and their shares."""
    pools = problem.population.pools
    used, share = columns.where(share > NEGLIGIBLE), share[share > NEGLIGIBLE]
    used, share = _blended(problem, used, used.normalized(share, pools))
    if problem.bounds is None or problem.bounds.polyhedral:  # then it is a vertex already
        return used, share
    share = _sparse(used, share, pools, problem.forms.observed.size)
    return _blended(problem, used.where(share > 0), share[share > 0])  # rounding may matter near 0


def _blended(problem: Problem, columns: Columns, share: Floats) -> tuple[Columns, Floats]:
    """Blend in a little of equal decisions for everyone until the bound is met."""
    size = problem.forms.observed.size
    rates = columns.mixed(share, size)
    if problem.excess(rates) <= EXCESS:
        return columns, share
    alike = problem.constants()
    evenly = np.full(len(alike.pool), 1 / len(problem.cost))
    even = alike.mixed(evenly, size)
    blends = ((1 - step) * rates + step * even for step in STEPS)
    enough = [problem.excess(blend) <= EXCESS for blend in blends]
    if not any(enough):  # solvers have missed a floor or a total, by their tolerance
        return columns, share
    step = STEPS[enough.index(True)]
    return joined(columns, alike), np.concatenate([(1 - step) * share, step * evenly])


def _sparse(columns: Columns, share: Floats, pools: int, size: int) -> Floats:
    """A vertex among mixtures with the same rates: interior points use more rules than needed."""
    equal = sparse.vstack([columns.members(pools), columns.table(size)], format="csr")
    solution = linear_program(columns.cost, A_eq=equal, b_eq=equal @ share, bounds=(0, None))
    return columns.normalized(np.where(solution.x > NEGLIGIBLE, solution.x, 0), pools)


def _rule(problem: Problem, support: Columns, share: Floats) -> DecisionRule:
    """The rules in use, by the group for which they decide and how often they do."""
    owner, often = problem.population.owner, share * problem.population.part[support.pool]
    pool = support.pool if owner is None else owner[support.pool]
    used = often > 0
    return DecisionRule(support.matrices[used], pool[used], often[used])


def _solution(problem: Problem, search: Search, support: Columns, share: Floats) -> Solution:
    shape, bounds = problem.forms.observed.shape, problem.bounds
    cost, rates = float(support.cost @ share), support.mixed(share, problem.forms.observed.size)
    multipliers = np.zeros(shape)
    any_rule = problem.unrestricted()
    if bounds is not None:
        fits = len(search.dual) == len(bounds.constant)
        bounds_used = bounds if fits else problem.paired_bounds
        assert bounds_used is not None
        multipliers = bounds_used.multipliers(search.dual)
        floor = (
            any_rule.lower_bound(bounds_used, search.dual)[0] if any_rule is not problem else cost
        )
    else:
        floor = float(any_rule.respond(multipliers.ravel()).cost.sum())
    return Solution(
        _rule(problem, support, share),
        problem.scale * cost,
        problem.scale * max(cost - float(search.floor), 0.0),
        problem.value(rates),
        np.where(problem.forms.observed, rates.reshape(shape), np.nan),
        problem.scale * multipliers.reshape(shape),
        search.rounds,
        search.columns,
        _nearest(problem, support, share),
        problem.scale * (cost - floor) if problem.population.rising else 0.0,
    )


def _nearest(problem: Problem, support: Columns, share: Floats) -> Nearest:
    """The rule of the greatest share in each pool, and its exact loss."""
    sure = np.zeros(len(share))
    sure[most_frequent(support.pool, share)] = 1.0
    rates = support.mixed(sure, problem.forms.observed.size)
    shape = problem.forms.observed.shape
    return Nearest(
        DecisionRule(support.matrices, support.pool, share).nearest(),
        problem.scale * float(support.cost @ sure),
        problem.value(rates),
        np.where(problem.forms.observed, rates.reshape(shape), np.nan),
    )
