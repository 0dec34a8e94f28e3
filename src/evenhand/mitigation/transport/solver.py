"""One step to a solver: HiGHS where all is linear, Clarabel where there are curved cones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from evenhand.mitigation.optimal.clarabel import clarabel, cone_of, quiet_settings
from evenhand.mitigation.optimal.cones import Part
from evenhand.mitigation.transport.support import Floats


class Optimum(NamedTuple):
    """A point of least cost, and a bound that no cost can be below (−∞ if none is certain)."""

    point: Floats
    bound: float


@dataclass(frozen=True, eq=False)
class Program:
    """Minimise cost · x, where limits − rows @ x lies in a product of cones."""

    cost: Floats
    rows: sparse.csr_array
    limits: Floats
    parts: tuple[Part, ...]

    def solve(self) -> Optimum:
        """The least cost, with the dual's bound."""
        linear = all(part.kind == "nonnegative" for part in self.parts)
        return _by_highs(self) if linear else _by_clarabel(self)


def _by_highs(program: Program) -> Optimum:
    found = linprog(
        program.cost, A_ub=program.rows, b_ub=program.limits, bounds=(None, None), method="highs"
    )
    if found.status != 0:
        raise RuntimeError(f"HiGHS stopped without an optimum: {found.message}")
    return Optimum(found.x, float(found.ineqlin.marginals @ program.limits))


def _by_clarabel(program: Program) -> Optimum:
    found = (
        clarabel()
        .DefaultSolver(
            sparse.csc_array((len(program.cost),) * 2),
            program.cost,
            program.rows.tocsc(),
            program.limits,
            [cone_of(part) for part in program.parts],
            quiet_settings(),
        )
        .solve()
    )
    if not np.isfinite(found.x).all():
        raise RuntimeError(f"Clarabel stopped without an answer: {found.status}.")
    certified = str(found.status) in ("Solved", "AlmostSolved")
    return Optimum(np.array(found.x), float(found.obj_val_dual) if certified else -np.inf)
