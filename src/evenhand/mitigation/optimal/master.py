"""The small problem: mix the rules found so far, so that the rates meet their cones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from evenhand.mitigation.optimal.bounds import Bounds
from evenhand.mitigation.optimal.clarabel import clarabel, cone_of, quiet_settings
from evenhand.mitigation.optimal.columns import Columns

Floats = NDArray[np.float64]


class Mixture(NamedTuple):
    """How often each rule decides in its pool, the cost of that, and the cones' dual point."""

    share: Floats
    cost: float
    dual: Floats


def mix(columns: Columns, bounds: Bounds, pools: int) -> Mixture:
    """The cheapest mixture of the rules whose rates meet the bounds."""
    return (_mix_linear if bounds.polyhedral else _mix_conic)(columns, bounds, pools)


def _mix_linear(columns: Columns, bounds: Bounds, pools: int) -> Mixture:
    """By HiGHS; unknowns are shares and helping variables."""
    rules, help_ = len(columns.pool), bounds.of_help.shape[1]
    rates = bounds.of_rates @ columns.table(bounds.pairs)
    slack = sparse.hstack([rates, bounds.of_help], format="csr")
    member = sparse.hstack([columns.members(pools), sparse.csr_array((pools, help_))])
    found = linear_program(
        np.concatenate([columns.cost, np.zeros(help_)]),
        A_ub=-slack,
        b_ub=bounds.constant,
        A_eq=member.tocsr(),
        b_eq=np.ones(pools),
        bounds=np.column_stack([np.zeros(rules + help_), np.append(np.ones(rules), bounds.most)]),
    )
    share = np.maximum(found.x[:rules], 0)
    return Mixture(share, float(columns.cost @ share), np.maximum(-found.ineqlin.marginals, 0))


def linear_program(cost: Floats, **rows: Any) -> Any:
    """HiGHS to ten digits, and to its usual seven where that is too much for it.

    It presolves the second time only: these problems are small, and solved sooner than that.
    """
    digits = {f"{side}_feasibility_tolerance": 1e-10 for side in ("primal", "dual")}
    for options in ({"presolve": False, **digits}, {"presolve": True}):
        found = optimize.linprog(cost, method="highs-ds", options=options, **rows)
        if found.status == 0:
            return found
    raise RuntimeError(f"HiGHS gave up on the mixture of rules: {found.message}")


def _mix_conic(columns: Columns, bounds: Bounds, pools: int) -> Mixture:
    """By Clarabel, which writes its constraints as A x + s = b with s in a cone."""
    solver = clarabel()
    rules, pairs, helping = len(columns.pool), bounds.pairs, bounds.of_help.shape[1]
    unknowns = rules + pairs + helping
    cones = [solver.ZeroConeT(pools + pairs), solver.NonnegativeConeT(rules)]
    cones += [cone_of(part) for part in bounds.parts]
    found = solver.DefaultSolver(
        sparse.csc_array((unknowns, unknowns)),
        np.concatenate([columns.cost, np.zeros(pairs + helping)]),
        _conic_rows(columns, bounds, pools),
        np.concatenate([np.ones(pools), np.zeros(pairs + rules), bounds.constant]),
        cones,
        quiet_settings(1e-10),
    ).solve()
    chosen, dual = np.array(found.x)[:rules], np.array(found.z)[pools + pairs + rules :]
    if not np.isfinite([chosen.sum(), dual.sum()]).all():
        raise RuntimeError(f"Clarabel gave up on the mixture of rules: {found.status}")
    share = columns.normalised(np.maximum(chosen, 0), pools)
    return Mixture(share, float(columns.cost @ share), dual)


def _conic_rows(columns: Columns, bounds: Bounds, pools: int) -> sparse.csc_array:
    """Shares add up; rates are what shares make them; shares are positive; slack is in its cone."""
    table, member = columns.table(bounds.pairs), columns.members(pools)
    one, rate = sparse.eye_array(len(columns.pool)), sparse.eye_array(bounds.pairs)
    return sparse.block_array(
        [
            [member, None, None],
            [table, -rate, None],
            [-one, None, None],
            [None, -bounds.of_rates, -bounds.of_help],
        ],
        format="csc",
    )
