"""The rates of a criterion, as linear forms of each group's expected confusion.

Expected confusion N[a, k, y] is the share of all rows that are in group a, of true class k by the
model's probabilities, and decided y. Costs and rates are linear in it, whatever the criterion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Cell = int | tuple[int, int]


@dataclass(frozen=True, eq=False)
class RateForms:
    """rate[c, a] = Σ coefficients[c, a, k, y] N[a, k, y], where the pair (c, a) is observed."""

    cells: tuple[Cell, ...]
    coefficients: Floats
    observed: NDArray[np.bool_]

    def __call__(self, confusion: Floats) -> Floats:
        """The rates (cells, groups) of a confusion (groups, classes, classes)."""
        return np.asarray(np.einsum("caky,aky->ca", self.coefficients, confusion))

    def prices(self, multipliers: Floats) -> Floats:
        """What a decision costs through the rates it moves: (groups, true class, decision)."""
        return np.asarray(np.einsum("caky,ca->aky", self.coefficients, multipliers))

    def only(self, keep: NDArray[np.bool_]) -> RateForms:
        """The forms of some of the cells."""
        cells = tuple(cell for cell, kept in zip(self.cells, keep, strict=True) if kept)
        return RateForms(cells, self.coefficients[keep], self.observed[keep])


def rate_forms(criterion: str, mass: Floats, favourable: int | None = None) -> RateForms:
    """The rates a criterion compares; mass[a, k] is the share of rows of group a and class k.

    >>> mass = np.array([[0.2, 0.3], [0.4, 0.1]])
    >>> [cell for cell in rate_forms("equalized_odds", mass).cells]
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    if criterion not in RATES:
        raise ValueError(f"There are no rates for {criterion!r}; there are those of {list(RATES)}.")
    classes = mass.shape[1]
    forms = RATES[criterion](mass)
    if criterion in ONE_CLASS and (classes == 2 or favourable is not None):
        chosen = classes - 1 if favourable is None else favourable
        forms = forms.only(np.array([cell == chosen for cell in forms.cells]))
    return forms


def _parity(mass: Floats) -> RateForms:
    """P(ŷ = c | a)."""
    return _against(mass, np.ones_like(np.eye(mass.shape[1])))


def _sensitivity(mass: Floats) -> RateForms:
    """P(ŷ = c | Y = c, a)."""
    return _against(mass, np.eye(mass.shape[1]))


def _false_alarm(mass: Floats) -> RateForms:
    """P(ŷ = c | Y ≠ c, a)."""
    return _against(mass, 1 - np.eye(mass.shape[1]))


def _average(mass: Floats) -> RateForms:
    """Half of sensitivity and false alarms together."""
    one, two = _sensitivity(mass), _false_alarm(mass)
    both = one.observed & two.observed
    halves = (one.coefficients + two.coefficients) / 2 * both[:, :, None, None]
    return RateForms(one.cells, halves, both)


def _odds(mass: Floats) -> RateForms:
    """P(ŷ = y | Y = k, a) for all pairs (k, y)."""
    groups, classes = mass.shape
    pairs = tuple((k, y) for k in range(classes) for y in range(classes))
    coefficients = np.zeros((len(pairs), groups, classes, classes))
    inverse, observed = _inverse(mass.T)
    for cell, (k, y) in enumerate(pairs):
        coefficients[cell, :, k, y] = inverse[k]
    return RateForms(pairs, coefficients, np.repeat(observed, classes, axis=0))


def _against(mass: Floats, given: Floats) -> RateForms:
    """P(ŷ = c | Y ∈ given[c], a) for every class c."""
    groups, classes = mass.shape
    inverse, observed = _inverse(given @ mass.T)
    coefficients = np.zeros((classes, groups, classes, classes))
    for c in range(classes):
        coefficients[c, :, :, c] = inverse[c][:, None] * given[c]
    return RateForms(tuple(range(classes)), coefficients, observed)


def _inverse(mass: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """One over the mass, 0 where there is none to speak of."""
    observed = mass > LEAST_MASS
    return np.divide(1.0, mass, out=np.zeros_like(mass), where=observed), observed


LEAST_MASS = 1e-12
ONE_CLASS = ("equal_opportunity", "predictive_equality")
RATES: dict[str, Callable[[Floats], RateForms]] = {
    "statistical_parity": _parity,
    "equal_opportunity": _sensitivity,
    "predictive_equality": _false_alarm,
    "equalized_odds": _odds,
    "average_odds": _average,
}
