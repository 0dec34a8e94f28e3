"""FairProj (Alghamdi et al. 2022): the nearest probabilities whose rates are nearly equal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.optimize import minimize

from evenhand._columns.codes import chunks
from evenhand.mitigation._fields import NonNegative
from evenhand.mitigation.estimators import GroupClassifier
from evenhand.mitigation.group_reader import Codes, Floats, Rows
from evenhand.mitigation.groups import cell_masses, empty_cells

Nearest = Callable[[Floats, Floats], tuple[Floats, Floats, Floats]]

ROWS_AT_A_TIME = 1 << 13  # intermediate results of this many rows and some classes fit in the cache
PRICE_STEPS = 100  # at most, of Newton's method on the prices
PRICE_CLOSE = 1e-13
ROOT_STEPS = 50  # at most, of Newton's method within a row
ROOT_CLOSE = 1e-7  # a step this small leaves an error of about its square
SMOOTHING = 1e-4


class ProjectionClassifier(GroupClassifier):
    """The base model's probabilities, moved as little as ratio constraints allow.

    For any number of classes and groups. `predict_proba` gives the projected probabilities,
    which meet the constraints on the fitting rows up to a small regularization; `predict` takes
    the most probable class, and those labels need not meet them. Pass draw=True to draw instead.

    Parameters
    ----------
    criterion : {"statistical_parity", "mean_equalized_odds"}, default "statistical_parity"
        Whose ratio between a group and everyone is bounded: P(ŷ = y | a), or P(ŷ = y | y, a),
        which is the diagonal of equalized odds, by the model's own probability of y.
    epsilon : float, default 0.1
        How far the ratio may be from 1, above or below; for a rare class that is little in
        absolute terms.
    divergence : {"kl", "ce"}, default "kl"
        What is least: D(new ‖ base), or D(base ‖ new).
    regularization : float, default None
        The ridge on the multipliers; None is one over the root of the rows' total weight.
    as_published : bool, default False
        Whether to repeat a slip in the published code's ridge for "kl"; it hardly matters.
    draw : bool, default False
        Whether `predict` draws from the projected probabilities, or takes the most probable class.

    Attributes
    ----------
    estimator_ : estimator
        The base model.
    prices_ : ndarray of shape (n_classes, n_groups)
        What a unit of probability of each class costs in each group.
    ratios_ : Ratios
        The shares that are compared, and how much they may differ.

    References
    ----------
    Alghamdi, Hsu, Jeong, Wang, Michalak, Asoodeh and Calmon (2022), "Beyond Adult and COMPAS: fair
    multi-class prediction via information projection", NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import ProjectionClassifier
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = (X[:, 1] + random.normal(size=500) > 0.5).astype(int)
    >>> fair = ProjectionClassifier(group=0, epsilon=0.05, regularization=0.001).fit(X, y)
    >>> chance = fair.predict_proba(X)[:, 1]
    >>> [float((chance[group == a].mean() / chance.mean()).round(2)) for a in (0, 1)]
    [0.95, 1.04]

    """

    criteria: ClassVar[tuple[str, ...]] = ("statistical_parity", "mean_equalized_odds")
    criterion: str = "statistical_parity"
    epsilon: NonNegative = 0.1
    divergence: Literal["kl", "ce"] = "kl"
    regularization: NonNegative | None = None
    as_published: bool = False
    draw: bool = False

    def _fit(self, rows: Rows) -> None:
        self._require_criterion()
        self._fit_base(rows)
        classes, groups = len(self.classes_), len(self.sensitive_.labels)
        mass = cell_masses(rows.y, rows.group, classes, groups, rows.sample_weight)
        self.ratios_ = Ratios.of(self._asked, mass, self.epsilon)
        self.notes_ = empty_cells(self.ratios_.cell, self.classes_, self.sensitive_.labels)
        self.prices_ = fit_prices(
            smoothed(self._base_probabilities(rows.X)),
            rows.group,
            self.ratios_,
            rows.sample_weight,
            divergence=self.divergence,
            ridge=self.regularization,
            as_published=self.as_published and self.divergence == "kl",
        )
        if not self.prices_.any():
            p = smoothed(self._base_probabilities(rows.X))
            difference = self.ratios_.largest_difference(p, rows.group, rows.weight)
            self._note_unbound(
                "the largest relative difference of a group from everyone", difference
            )

    def _decide(self, X: Any, group: Codes) -> Floats:
        p = smoothed(self._base_probabilities(X))
        return project(p, group, self.prices_, self.ratios_, self.divergence)


def smoothed(p: Floats) -> Floats:
    """Probabilities (rows, classes), all above 0, as (classes, rows)."""
    raised = np.ascontiguousarray(p.T) + SMOOTHING
    return np.asarray(raised / raised.sum(axis=0))


def fit_prices(
    p: Floats,
    group: Codes,
    ratios: Ratios,
    weight: Floats | None = None,
    *,
    divergence: str = "kl",
    ridge: float | None = None,
    as_published: bool = False,
) -> Floats:
    """The price of each (class, group) at which the projected rows meet the ratio constraints.

    `ridge` is ζ, by default one over the root of the number of rows (of their total weight);
    `as_published` repeats a slip of the published code, which with "kl" pulls v towards log p
    instead of 0.
    """
    order = np.argsort(group, kind="stable")
    weight = np.ones(len(group)) if weight is None else weight
    ridge = float(weight.sum()) ** -0.5 if ridge is None else ridge
    share = weight[order] / weight.sum()
    dual = Dual(p[:, order], group[order], share, ratios, divergence, ridge, as_published)
    return ratios.prices(dual.least())


def project(p: Floats, group: Codes, prices: Floats, ratios: Ratios, divergence: str) -> Floats:
    """The projected probabilities of rows, (rows, classes), at given prices."""
    v = ratios.charged(prices[:, group], p)
    return np.asarray(DIVERGENCES[divergence](p, v)[1].T)


@dataclass(frozen=True, eq=False)
class Ratios:
    """The shares compared: of each (class, group), and of each class in everyone.

    Where a share is 0 there is no constraint. With `own` the rows count by their own probability
    of the class (expectations over the true label), else all alike.
    """

    cell: Floats
    overall: Floats
    epsilon: float
    own: bool

    @classmethod
    def of(cls, criterion: str, mass: Floats, epsilon: float) -> Ratios:
        """From the weight of each (class, group)."""
        share = mass / mass.sum()
        if criterion == "mean_equalized_odds":
            return cls(share, share.sum(axis=1, keepdims=True), epsilon, own=True)
        sizes = np.broadcast_to(share.sum(axis=0), share.shape)
        return cls(sizes, np.ones((len(share), 1)), epsilon, own=False)

    def largest_difference(self, p: Floats, group: Codes, weight: Floats) -> float:
        """The largest relative difference of a group's share from everyone's."""
        counted = self.charged(np.ones(p.shape), p) * p * (weight / weight.sum())
        groups = range(self.cell.shape[1])
        totals = np.stack([counted[:, group == place].sum(axis=1) for place in groups], axis=1)
        observed = self.cell > 0
        shares = np.divide(totals, self.cell, out=np.zeros(totals.shape), where=observed)
        everyone = totals.sum(axis=1, keepdims=True) / self.overall
        return float(np.abs(shares / everyone - 1)[observed].max())

    def prices(self, multipliers: Floats) -> Floats:
        """The cost of each (class, group), from the multipliers (±, classes, groups)."""
        above, below = multipliers
        everyone = (1 + self.epsilon) * above - (1 - self.epsilon) * below
        own = np.divide(above - below, self.cell, out=np.zeros(above.shape), where=self.cell > 0)
        return np.asarray(own - everyone.sum(axis=1, keepdims=True) / self.overall)

    def multiplied(self, by_price: Floats) -> Floats:
        """The gradient by the multipliers, from that by the prices."""
        own = np.divide(by_price, self.cell, out=np.zeros(by_price.shape), where=self.cell > 0)
        everyone = by_price.sum(axis=1, keepdims=True) / self.overall
        return np.array([own - (1 + self.epsilon) * everyone, (1 - self.epsilon) * everyone - own])

    def charged(self, prices: Floats, p: Floats) -> Floats:
        """Prices by row, for rows that count by their own probability, or equally."""
        return prices * p if self.own else prices


class Expansion(NamedTuple):
    """The dual around some multipliers: value, gradient, and curvature by price.

    `by_price` is (classes, classes, groups): prices of different groups do not interact.
    """

    value: float
    gradient: Floats
    by_price: Floats


@dataclass(frozen=True, eq=False)
class Dual:
    """The dual function of rows that are sorted by group; p is (classes, rows)."""

    p: Floats
    group: Codes
    weight: Floats
    ratios: Ratios
    divergence: str
    ridge: float
    as_published: bool

    def least(self) -> Floats:
        """The multipliers (±, classes, groups) of the least dual, by projected Newton steps."""
        at = np.zeros((2, *self.ratios.cell.shape))
        expansion = self.expand(at)
        for _ in range(PRICE_STEPS):
            direction = self._least_nearby(at, expansion) - at
            slope = float((expansion.gradient * direction).sum())
            if slope > -PRICE_CLOSE:
                break
            step, candidate = 1.0, self.expand(at + direction)
            while candidate.value > expansion.value + 1e-4 * step * slope and step > PRICE_CLOSE:
                step /= 2
                candidate = self.expand(at + step * direction)
            at, expansion = at + step * direction, candidate
        return at

    def expand(self, multipliers: Floats) -> Expansion:
        """The dual around these multipliers, a chunk of rows at a time."""
        prices = self.ratios.prices(multipliers)
        value = 0.5 * self.ridge * float((multipliers**2).sum())
        slope = np.zeros(prices.shape)
        by_price = np.zeros((len(prices), *prices.shape))
        for rows in chunks(len(self.group), ROWS_AT_A_TIME):
            groups, starts = np.unique(self.group[rows], return_index=True)
            part, slopes, curves = self._rows(prices, rows)
            value += part
            slope[:, groups] += np.add.reduceat(slopes, starts, axis=-1)
            by_price[:, :, groups] += np.add.reduceat(curves, starts, axis=-1)
        gradient = self.ratios.multiplied(slope) + self.ridge * multipliers
        return Expansion(value, gradient, by_price)

    def _rows(self, prices: Floats, rows: slice) -> tuple[float, Floats, Floats]:
        """Some rows' part of the dual, and their slopes and curvatures by the prices."""
        p, weight = self.p[:, rows], self.weight[rows]
        v = self.ratios.charged(prices[:, self.group[rows]], p)
        best, h, q = DIVERGENCES[self.divergence](p, v)
        pulled = v - np.log(p) if self.as_published else v
        best += 0.5 * self.ridge * (pulled * pulled).sum(axis=0)
        slopes = self.ratios.charged((self.ridge * pulled - h) * weight, p)
        own = self.ratios.charged(np.ones(p.shape), p)
        leaning = own * q * np.sqrt(weight / q.sum(axis=0))
        curves = -leaning[:, None] * leaning
        diagonal = np.arange(len(p))
        curves[diagonal, diagonal] += own * own * (q + self.ridge) * weight
        return float(best @ weight), slopes, curves

    def _least_nearby(self, at: Floats, expansion: Expansion) -> Floats:
        """The multipliers ≥ 0 at which the expansion, as a quadratic function, is least."""

        def quadratic(flat: Floats) -> tuple[float, Floats]:
            moved = flat.reshape(at.shape) - at
            bent = np.einsum("yza,za->ya", expansion.by_price, self.ratios.prices(moved))
            curved = self.ratios.multiplied(bent) + self.ridge * moved
            value = (moved * (expansion.gradient + 0.5 * curved)).sum()
            return float(value), (expansion.gradient + curved).ravel()

        free = np.broadcast_to(self.ratios.cell > 0, at.shape).ravel()
        bounds = np.column_stack([np.zeros(len(free)), np.where(free, np.inf, 0)])
        options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 0.0, "gtol": 1e-10, "maxcor": 30}
        solution = minimize(quadratic, at.ravel(), jac=True, bounds=bounds, options=options)
        return np.asarray(solution.x).reshape(at.shape)


def kullback_leibler(p: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """D(h ‖ p): h is p tilted by exp(−v).

    >>> value, h, q = kullback_leibler(np.array([[0.5], [0.5]]), np.array([[0.0], [np.log(3)]]))
    >>> h.ravel()
    array([0.75, 0.25])
    """
    tilted = np.log(p) - v
    top = tilted.max(axis=0)
    tilted -= top
    np.exp(tilted, out=tilted)
    total = tilted.sum(axis=0)
    tilted /= total
    return top + np.log(total), tilted, tilted


def cross_entropy(p: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """D(p ‖ h): h is p / (z + v), with z such that it adds up to 1.

    >>> value, h, q = cross_entropy(np.array([[0.5], [0.5]]), np.array([[0.0], [1.0]]))
    >>> h.ravel().round(4)
    array([0.7071, 0.2929])
    """
    z = _quadratic(p, v) if len(p) == 2 else _newton(p, v)
    shifted = z + v
    h = p / shifted
    return z - 1 - (p * np.log(shifted)).sum(axis=0), h, h / shifted


def _quadratic(p: Floats, v: Floats) -> Floats:
    """The larger root of (z + v₀)(z + v₁) = p₀ (z + v₁) + p₁ (z + v₀), measured from −min v."""
    lower = v.min(axis=0)
    rise = v - lower
    half = 0.5 * (1 - rise.sum(axis=0))
    product = p[0] * rise[1] + p[1] * rise[0]
    return np.asarray(half + np.sqrt(half * half + product) - lower)


def _newton(p: Floats, v: Floats) -> Floats:
    """Newton on 1 / Σ p/(z + v) = 1, concave in z: from the left it never passes the root.

    It starts at the larger of two bounds, one term of the sum alone and the arithmetic mean.
    """
    z = np.maximum((p - v).max(axis=0), 1 - (p * v).sum(axis=0))
    for _ in range(ROOT_STEPS):
        inverse = 1 / (z + v)
        terms = p * inverse
        total = terms.sum(axis=0)
        inverse *= terms
        step = total * (total - 1) / inverse.sum(axis=0)
        z += step
        if step.max() <= ROOT_CLOSE:
            break
    return np.asarray(z)


DIVERGENCES: dict[str, Nearest] = {"kl": kullback_leibler, "ce": cross_entropy}
