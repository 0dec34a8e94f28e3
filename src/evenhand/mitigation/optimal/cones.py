"""`measure(rates) ≤ ε` as a convex cone: slack = A r + B u + b must lie in a product of cones.

Measures of extremes and of ranks are polyhedral; PQ(1, 2) is one second-order cone, since it bounds
the coefficient of variation, and PQ(p, q) with p ≤ 1 ≤ q sets a convex norm below a concave one by
power cones. Any other convex measure has half-spaces, one for each vector that was too unequal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from evenhand._errors import InputError, MissingExtraError
from evenhand.measures import MEASURES, Measure

Floats = NDArray[np.float64]

HALVINGS = 54  # of an interval of length 1 or so: what is left is below rounding
MISS = 1e4  # the price of missing a bound by 1, where no decision costs more than 1


class Part(NamedTuple):
    """One cone of a product: its kind, its dimension, and for a power cone its exponent."""

    kind: Literal["nonnegative", "second order", "power"]
    size: int
    exponent: float = 0.5


@dataclass(frozen=True, eq=False)
class Cone:
    """The slack A r + B u + b of rates r and helping variables 0 ≤ u ≤ `most`, and its cone.

    Helping variables cost their `price`, which is 0 unless the cone may be missed.
    """

    of_rates: sparse.csr_array
    of_help: sparse.csr_array
    constant: Floats
    parts: tuple[Part, ...]
    most: Floats
    price: Floats


def cone(measure: Measure, d: int, epsilon: float) -> Cone | None:
    """The cone of `measure ≤ ε` for d groups, or None if every vector of rates meets it.

    With ε = 0 every measure says the same: the rates are equal.
    """
    require_convex(measure)
    if d < 2 or epsilon >= measure.greatest((0.0, 1.0), groups=d):
        return None
    if epsilon == 0:
        return within_band(MEASURES["mpd"], d, 0.0)
    if measure.reads == "powers":
        return within_pq(d, epsilon, *measure.orders)
    if measure.reads == "ranks":
        return within_gini(d, epsilon)
    return within_band(measure, d, epsilon) if measure.band else None


def has_cone(measure: Measure) -> bool:
    """Whether its bounds are a cone, rather than half-spaces added by need."""
    return measure.reads in ("ranks", "powers") or measure.band is not None


def require_convex(measure: Measure) -> None:
    """Refuse a measure without convex bounds."""
    if measure.is_convex:
        return
    if measure.reads == "powers":
        p, q = measure.orders
        raise InputError(
            f"PQ is bounded by a convex cone for 0 < p ≤ 1 ≤ q, p < q; not {p:g}, {q:g}."
        )
    names = [name for name, registered in MEASURES.items() if registered.is_convex]
    raise InputError(
        f"Bounds are on {names}, not on {measure.name!r}. A measure of your own needs a gradient "
        "and convex level sets: evenhand.measures.Measure(..., slope=..., convex=True)."
    )


def half_spaces(measure: Measure, vectors: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """Normals and limits, normal · r ≤ limit, that all r of at most ε meet and none of these do.

    Each touches the level set where the line from a vector to its own mean enters it; of a
    quasi-convex function the whole set lies on the other side of the tangent there.
    """
    away = vectors.mean(axis=-1, keepdims=True) - vectors
    part = least_where(
        lambda part: measure(vectors + part * away)[..., None] <= epsilon,
        np.zeros((*vectors.shape[:-1], 1)),
        np.ones((*vectors.shape[:-1], 1)),
    )
    edge = vectors + part * away
    normals = measure.gradient(edge)
    normals = normals / np.linalg.norm(normals, axis=-1, keepdims=True)
    return normals, np.asarray((normals * edge).sum(axis=-1))


def least_where(holds: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """The least number from which on a condition holds, by bisection; elementwise for arrays.

    >>> float(least_where(lambda x: x >= 0.25, 0.0, 1.0))
    0.25
    """
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = holds(middle)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def inside(normals: Floats, limits: Floats) -> Cone:
    """The cone of rates inside half-spaces."""
    return _linear([(-normals, limits)])


def within_band(measure: Measure, d: int, epsilon: float) -> Cone:
    """All rates lie in an interval whose ends are affine functions of one variable."""
    assert measure.band is not None
    ends = measure.band(np.array([0.0, 1.0]), np.full(2, epsilon))
    (low, low_slope), (high, high_slope) = ((at[0], at[1] - at[0]) for at in ends)
    rates, ones = sparse.eye_array(d), np.ones((d, 1))
    rows = [(rates, -low_slope * ones, -low), (-rates, high_slope * ones, high)]
    return _cone(rows, [Part("nonnegative", 2 * d)], [1.0])


def within_gini(d: int, epsilon: float) -> Cone:
    """The distances u of all pairs add up to at most ε d Σ r."""
    i, j = np.triu_indices(d, 1)
    pairs = len(i)
    distance, eye = _picks(i, d) - _picks(j, d), sparse.eye_array(pairs)
    total = (epsilon * d * np.ones((1, d)), -np.ones((1, pairs)), 0.0)
    rows = [(-distance, eye, 0.0), (distance, eye, 0.0), total]
    return _cone(rows, [Part("nonnegative", 2 * pairs + 1)], np.ones(pairs))


def within_pq(d: int, epsilon: float, p: float = 1, q: float = 2) -> Cone:
    """The power means M_p ≥ τ ≥ (1 − ε) M_q, with τ between them."""
    if (p, q) == (1, 2):
        return _within_variation(d, np.sqrt((1 - epsilon) ** -2 - 1))
    return _joined(_above(d, p), _below(d, q, 1 / (1 - epsilon)))


def _within_variation(d: int, bound: float) -> Cone:
    """The standard deviation is at most this many means."""
    centered = np.eye(d) - 1 / d
    level = np.full((1, d), bound / np.sqrt(d))
    rows = [(level, np.zeros((1, 0)), 0.0), (centered, np.zeros((d, 0)), 0.0)]
    return _cone(rows, [Part("second order", d + 1)], [])


def above(d: int, floor: float) -> Cone:
    """No rate is below the floor."""
    return _linear([(np.eye(d), -floor)])


def below(d: int, ceiling: float) -> Cone:
    """No rate is above the ceiling."""
    return _linear([(-np.eye(d), ceiling)])


def adding_up(share: Floats, amount: float, epsilon: float = 0.0) -> Cone:
    """|share · r − amount| ≤ ε."""
    return _linear([(share[None], epsilon - amount), (-share[None], epsilon + amount)])


def near_reference(place: int, d: int, measure: Measure, epsilon: float) -> Cone:
    """All r are within ε of a reference, or at least (1 − ε) of it."""
    reference = np.zeros((1, d))
    reference[0, place] = 1
    if measure.is_relative:
        return _linear([(np.eye(d) - (1 - epsilon) * reference, 0.0)])
    return _linear([(np.eye(d) - reference, epsilon), (reference - np.eye(d), epsilon)])


def loosened(cone: Cone) -> Cone:
    """Linear bounds that may all be missed by an auxiliary variable, at a price."""
    size = len(cone.constant)
    helped = sparse.csr_array(np.vstack([np.ones((size, 1)), [[1.0]]]))
    none = sparse.csr_array((1, cone.of_rates.shape[1]))
    return Cone(
        sparse.vstack([cone.of_rates, none], format="csr"),
        helped,
        np.append(cone.constant, 0.0),
        (Part("nonnegative", size + 1),),
        np.ones(1),
        np.full(1, MISS),
    )


def _linear(rows: list[tuple[Any, float | Floats]]) -> Cone:
    """Bounds without an auxiliary variable."""
    size = sum(len(r) for r, _ in rows)
    own = [(r, np.zeros((len(r), 0)), b) for r, b in rows]
    return _cone(own, [Part("nonnegative", size)], [])


class _Mean(NamedTuple):
    """Rows (of r, of τ, of own helping variables up to `most`) and the cones of their slack."""

    rows: list[tuple[Any, Any, Any]]
    parts: list[Part]
    most: float = 1.0


def _above(d: int, p: float) -> _Mean:
    """τ ≤ M_p(r): w ≤ r^p τ^(1−p), and the mean of w is at least τ."""
    mean, none = np.full((1, d), 1 / d), np.zeros((1, 0))
    if p == 1:
        return _Mean([(mean, [[-1.0]], none)], [Part("nonnegative", 1)])
    return _Mean(
        [(0 * mean, [[-1.0]], mean), _triples(d, (1, 0, 0), (0, 1, 0), (0, 0, 1))],
        [Part("nonnegative", 1), *[Part("power", 3, p)] * d],
    )


def _below(d: int, q: float, factor: float) -> _Mean:
    """M_q(r) ≤ t = factor τ: r ≤ v^(1/q) t^(1−1/q), and the mean of v is at most t."""
    mean, none = np.full((1, d), 1 / d), np.zeros((1, 0))
    if q == 1:
        return _Mean([(-mean, [[factor]], none)], [Part("nonnegative", 1)])
    if q == 2:
        level, rates = (0 * mean, [[np.sqrt(d) * factor]], none), np.eye(d)
        own = (rates, np.zeros((d, 1)), np.zeros((d, 0)))
        return _Mean([level, own], [Part("second order", d + 1)])
    return _Mean(
        [(0 * mean, [[factor]], -mean), _triples(d, (0, 0, 1), (0, factor, 0), (1, 0, 0))],
        [Part("nonnegative", 1), *[Part("power", 3, 1 / q)] * d],
        most=d * factor,
    )


def _triples(d: int, *coefficients: tuple[float, float, float]) -> tuple[Any, Any, Any]:
    """For every group three rows, each a combination of (its rate, τ, its own variable)."""
    of_rate, of_level, of_own = np.array(coefficients, dtype=float).T
    eye = np.eye(d)
    return (
        np.kron(eye, of_rate[:, None]),
        np.tile(of_level[:, None], (d, 1)),
        np.kron(eye, of_own[:, None]),
    )


def _joined(above: _Mean, below: _Mean) -> Cone:
    """Both means, with τ in common."""
    first, second = above.rows[0][2].shape[1], below.rows[0][2].shape[1]
    rows = [(r, np.hstack([t, own, np.zeros((len(own), second))]), 0.0) for r, t, own in above.rows]
    rows += [(r, np.hstack([t, np.zeros((len(own), first)), own]), 0.0) for r, t, own in below.rows]
    limits = np.concatenate([[1.0], np.full(first, above.most), np.full(second, below.most)])
    return _cone(rows, [*above.parts, *below.parts], limits)


def _picks(columns: NDArray[np.intp], d: int) -> sparse.csr_array:
    ones, rows = np.ones(len(columns)), np.arange(len(columns))
    return sparse.csr_array((ones, (rows, columns)), shape=(len(columns), d))


def _cone(rows: list[tuple[Any, Any, Any]], parts: list[Part], limits: Any) -> Cone:
    of_rates = sparse.vstack([sparse.csr_array(r) for r, _, _ in rows], format="csr")
    of_help = sparse.vstack([sparse.csr_array(u) for _, u, _ in rows], format="csr")
    constant = np.concatenate([np.full(r.shape[0], b) for r, _, b in rows])
    limits = np.asarray(limits, dtype=float)
    return Cone(of_rates, of_help, constant, tuple(parts), limits, np.zeros(len(limits)))


class Optimum(NamedTuple):
    """A point of least cost, and a certain lower bound of the cost (−∞ if there is none)."""

    point: Floats
    bound: float


@dataclass(frozen=True, eq=False)
class Program:
    """Minimize cost · x, where limits − rows @ x lies in a product of cones."""

    cost: Floats
    rows: sparse.csr_array
    limits: Floats
    parts: tuple[Part, ...]

    def solve(self) -> Optimum:
        """The least cost, with the dual's bound."""
        linear = all(part.kind == "nonnegative" for part in self.parts)
        return _by_highs(self) if linear else _by_clarabel(self)


def _by_highs(program: Program) -> Optimum:
    solution = linprog(
        program.cost, A_ub=program.rows, b_ub=program.limits, bounds=(None, None), method="highs"
    )
    if solution.status != 0:
        raise RuntimeError(f"HiGHS stopped without an optimum: {solution.message}")
    return Optimum(solution.x, float(solution.ineqlin.marginals @ program.limits))


def _by_clarabel(program: Program) -> Optimum:
    solution = (
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
    if not np.isfinite(solution.x).all():
        raise RuntimeError(f"Clarabel stopped without an answer: {solution.status}.")
    certified = str(solution.status) in ("Solved", "AlmostSolved")
    return Optimum(np.array(solution.x), float(solution.obj_val_dual) if certified else -np.inf)


def clarabel() -> Any:
    """The solver's module, or an error on how to install it."""
    try:
        import clarabel as solver
    except ImportError:
        raise MissingExtraError(
            'Bounds on PQ need the solver Clarabel: pip install "evenhand[mitigation]"',
            name="clarabel",
        ) from None
    return solver


def cone_of(part: Part) -> Any:
    """A part of a product of cones, in the solver's form."""
    solver = clarabel()
    if part.kind == "power":
        return solver.PowerConeT(part.exponent)
    if part.kind == "second order":
        return solver.SecondOrderConeT(part.size)
    return solver.NonnegativeConeT(part.size)


def quiet_settings(tolerance: float | None = None) -> Any:
    """One thread, no output, and this tolerance instead of the solver's own."""
    settings = clarabel().DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    if tolerance is not None:
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    return settings
