"""One step to a solver: HiGHS where all is linear, Clarabel where there are curved cones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

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
    clarabel = _clarabel()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    found = clarabel.DefaultSolver(
        sparse.csc_array((len(program.cost),) * 2),
        program.cost,
        program.rows.tocsc(),
        program.limits,
        [_cone(clarabel, part) for part in program.parts],
        settings,
    ).solve()
    if not np.isfinite(found.x).all():
        raise RuntimeError(f"Clarabel stopped without an answer: {found.status}.")
    certified = str(found.status) in ("Solved", "AlmostSolved")
    return Optimum(np.array(found.x), float(found.obj_val_dual) if certified else -np.inf)


def _clarabel() -> Any:
    try:
        import clarabel
    except ImportError:
        raise ImportError(
            'Bounds on PQ need the solver Clarabel: pip install "evenhand[mitigation]"',
            name="clarabel",
        ) from None
    return clarabel


def _cone(clarabel: Any, part: Part) -> Any:
    if part.kind == "power":
        return clarabel.PowerConeT(part.exponent)
    if part.kind == "second order":
        return clarabel.SecondOrderConeT(part.size)
    return clarabel.NonnegativeConeT(part.size)
