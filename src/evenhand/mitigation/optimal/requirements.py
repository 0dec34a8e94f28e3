"""Requirements of rates, each as a cone: even groups, floors, totals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evenhand._errors import InputError
from evenhand.measures import MEASURES, Measure
from evenhand.mitigation.optimal.cones import (
    Cone,
    Floats,
    Part,
    above,
    adding_up,
    below,
    cone,
    half_spaces,
    has_cone,
    inside,
    loosened,
    near_reference,
    require_convex,
)
from evenhand.mitigation.optimal.rates import RateForms

MOST_ROUNDS = 1000
PRECISE = 1e-8  # by which a bound without a cone may be missed before rules are blended

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Requirement:
    """value(rates of a cell) ≤ ε in every cell of some rates.

    `value` takes a row for each cell, with NaN for groups that are not observed in it; `cone` is
    the same for the observed groups of one cell. Rules that treat everyone alike meet what is
    `even`; they may fail the rest, which can be impossible to meet. Where a `measure` has no cone,
    `cuts` are half-spaces by cell that keep out rates found to be too unequal.
    """

    name: str
    forms: RateForms
    epsilon: float
    value: Callable[[Floats], Any]
    cone: Callable[[Mask, float], Cone | None]
    even: bool = True
    measure: Measure | None = None
    cuts: tuple[tuple[int, Floats, float], ...] = ()

    @property
    def label(self) -> str:
        """The requirement in words."""
        return f"{self.name} ≤ {self.epsilon:g}" if self.even else self.name

    @property
    def complementary(self) -> bool:
        """Whether there are two cells whose rates add up to 1."""
        return self.forms.cells == (0, 1) and bool(
            np.allclose(self.forms.sizes[0], self.forms.sizes[1])
        )

    def worst(self, rates: Floats) -> float:
        """The largest value of any cell, of rates (cells, groups)."""
        table = np.where(self.forms.observed, rates, np.nan)
        minimum = 2 if self.even else 1
        cells = table[self.forms.observed.sum(axis=1) >= minimum]
        return float(
            np.max(self.value(np.maximum(cells, 0)), initial=-np.inf if minimum == 1 else 0)
        )

    def within(self, epsilon: float) -> Requirement:
        """The same with another bound."""
        if not epsilon >= 0:
            raise InputError(f"The bound on {self.name} must be at least 0; it is {epsilon}.")
        return replace(self, epsilon=epsilon, cuts=())

    def tightened(self, rates: Floats) -> Requirement:
        """The same, with half-spaces that exclude rates (cells, groups) that are too unequal."""
        if self.measure is None or has_cone(self.measure) or self.epsilon == 0:
            return self
        cuts = []
        for cell, observed in enumerate(self.forms.observed):
            own = np.maximum(rates[cell, observed], 0)
            if len(own) > 1 and self.measure(own) > self.epsilon + PRECISE:
                normal, limit = half_spaces(self.measure, own, self.epsilon)
                cuts.append((cell, normal, float(limit)))
        return replace(self, cuts=(*self.cuts, *cuts)) if cuts else self

    def cones(self, *, is_loose: bool = False) -> list[Cone | None]:
        """One cone for each cell; if loose, it may be missed by an amount to be minimized."""
        cones = [self.cone(observed, self.epsilon) for observed in self.forms.observed]
        for cell in {cell for cell, *_ in self.cuts}:
            normals, limits = zip(*(cut[1:] for cut in self.cuts if cut[0] == cell), strict=True)
            cones[cell] = inside(np.array(normals), np.array(limits))
        return [loosened(part) if part and is_loose and not self.even else part for part in cones]


def evenly(forms: RateForms, measure: Measure, epsilon: float) -> Requirement:
    """The measure of every cell's rates is at most ε."""
    require_convex(measure)

    def own(observed: Mask, epsilon: float) -> Cone | None:
        return cone(measure, int(observed.sum()), epsilon)

    return Requirement(measure.name, forms, 0.0, measure, own, measure=measure).within(epsilon)


def require_extremes(measure: Measure) -> None:
    """Refuse a measure that does not compare two groups at a time."""
    if measure.band is None:
        names = [repr(name) for name, registered in MEASURES.items() if registered.band is not None]
        raise InputError(
            f"For a reference group the measure is {' or '.join(names)}, not {measure.name!r}."
        )


def near(forms: RateForms, place: int, measure: Measure, epsilon: float) -> Requirement:
    """No group's rate is further than ε from that of one group, or short of it by a share of ε."""
    require_extremes(measure)

    def value(rates: Floats) -> Floats:
        reference = rates[:, [place]]
        if not measure.is_relative:
            return np.asarray(np.nanmax(np.abs(rates - reference), axis=1))
        ratio = np.divide(rates, reference, out=np.ones_like(rates), where=reference > 0)
        return np.asarray(1 - np.nanmin(ratio, axis=1))

    def own_cone(observed: Mask, epsilon: float) -> Cone | None:
        if not observed[place] or observed.sum() < 2 or epsilon >= 1:
            return None
        return near_reference(int(observed[:place].sum()), int(observed.sum()), measure, epsilon)

    return Requirement(measure.name, forms, 0.0, value, own_cone).within(epsilon)


def at_least(name: str, forms: RateForms, floor: float) -> Requirement:
    """Every group's rate is at least the bound."""
    return Requirement(
        name,
        forms,
        0.0,
        lambda rates: floor - np.nanmin(rates, axis=1),
        lambda observed, epsilon: above(int(observed.sum()), floor - epsilon),
        even=False,
    )


def at_most(name: str, forms: RateForms, ceiling: float) -> Requirement:
    """Every group's rate is at most the bound."""
    return Requirement(
        name,
        forms,
        0.0,
        lambda rates: np.nanmax(rates, axis=1) - ceiling,
        lambda observed, epsilon: below(int(observed.sum()), ceiling + epsilon),
        even=False,
    )


def in_total(name: str, forms: RateForms, share: Floats, amount: float) -> Requirement:
    """The overall rate, of groups weighted by their share of the rows, has this value."""
    return Requirement(
        name,
        forms,
        0.0,
        lambda rates: np.abs(np.nansum(rates * share, axis=1) - amount),
        lambda observed, epsilon: adding_up(share[observed], amount, epsilon),
        even=False,
    )


@dataclass(frozen=True, eq=False)
class Bounds:
    """The slack A r + B u + b of all cells; r are the rates of all pairs (cell, group)."""

    of_rates: sparse.csr_array
    of_help: sparse.csr_array
    constant: Floats
    parts: tuple[Part, ...]
    most: Floats
    price: Floats

    most_rounds: ClassVar[int] = MOST_ROUNDS

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
            np.concatenate([cone.price for cone in cones]),
        )

    @property
    def pairs(self) -> int:
        """The number of rates."""
        return int(self.of_rates.shape[1])

    @property
    def polyhedral(self) -> bool:
        """Whether linear programming suffices."""
        return all(part.kind == "nonnegative" for part in self.parts)

    def multipliers(self, dual: Floats) -> Floats:
        """The prices of the rates at a dual point."""
        return np.asarray(-(self.of_rates.T @ dual))

    def constant_part(self, dual: Floats) -> float:
        """The contribution of a dual point to the lower bound, except the pools' responses.

        A helping variable lies in a known interval, so that a dual point that is only nearly
        feasible still bounds.
        """
        residual = self.price - self.of_help.T @ dual
        return float(np.minimum(residual, 0) @ self.most - self.constant @ dual)

    def slope(self, dual: Floats, rates: Floats) -> Floats:
        """The direction in which the lower bound rises from a dual point, at these rates."""
        helping = np.where(self.of_help.T @ dual > self.price, self.most, 0.0)
        return np.asarray(-(self.of_rates @ rates + self.of_help @ helping + self.constant))


def _by_cell(observed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each cell, the observed pairs (cell, group)."""
    own = np.eye(len(observed), dtype=bool)[:, :, None] & observed
    return own.reshape(len(observed), -1)
