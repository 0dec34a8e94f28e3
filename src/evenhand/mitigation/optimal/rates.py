"""The rates that a criterion compares, as linear forms of the confusion tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand._errors import InputError

Floats = NDArray[np.float64]
Cell = int | tuple[int, int]

LEAST_MASS = 1e-12
ONE_CLASS = ("equal_opportunity", "predictive_equality", "selection_rate_ratio")


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
        """The cost of a decision through the rates it moves: (groups, true class, decision)."""
        return np.asarray(np.einsum("caky,ca->aky", self.coefficients, multipliers))

    @property
    def sizes(self) -> Floats:
        """The share of rows in the denominator of each rate (cells, groups)."""
        largest = self.coefficients.max(axis=(2, 3))
        sizes = np.divide(1.0, largest, out=np.zeros_like(largest), where=largest > 0)
        return np.asarray(sizes)

    def only(self, keep: NDArray[np.bool_]) -> RateForms:
        """The forms of some of the cells."""
        cells = tuple(cell for cell, is_kept in zip(self.cells, keep, strict=True) if is_kept)
        return RateForms(cells, self.coefficients[keep], self.observed[keep])


def stacked(parts: Sequence[RateForms]) -> RateForms:
    """The forms of several requirements, one after the other."""
    return RateForms(
        tuple(cell for forms in parts for cell in forms.cells),
        np.concatenate([forms.coefficients for forms in parts]),
        np.concatenate([forms.observed for forms in parts]),
    )


def rate_forms(criterion: str, mass: Floats, favorable: int | None = None) -> RateForms:
    """The rates a criterion compares; mass[a, k] is the share of rows of group a and class k.

    Where a favorable class is named, they are those of deciding it.

    >>> mass = np.array([[0.2, 0.3], [0.4, 0.1]])
    >>> [cell for cell in rate_forms("equalized_odds", mass).cells]
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    available = RATES | SELECTION
    if criterion not in available:
        raise InputError(
            f"There are no rates for {criterion!r}; there are those of {list(available)}."
        )
    classes = mass.shape[1]
    forms = available[criterion](mass)
    if favorable is None and criterion in ONE_CLASS and classes == 2:
        favorable = classes - 1
    if favorable is not None:
        decided = [cell[1] if isinstance(cell, tuple) else cell for cell in forms.cells]
        forms = forms.only(np.array(decided) == favorable)
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
    hits, alarms = _sensitivity(mass), _false_alarm(mass)
    both = hits.observed & alarms.observed
    halves = (hits.coefficients + alarms.coefficients) / 2 * both[:, :, None, None]
    return RateForms(hits.cells, halves, both)


def _odds(mass: Floats) -> RateForms:
    """P(ŷ = y | Y = k, a) for all pairs (k, y)."""
    groups, classes = mass.shape
    pairs = tuple((k, y) for k in range(classes) for y in range(classes))
    coefficients = np.zeros((len(pairs), groups, classes, classes))
    inverse, observed = _inverse(mass.T)
    for cell, (k, y) in enumerate(pairs):
        coefficients[cell, :, k, y] = inverse[k]
    return RateForms(pairs, coefficients, np.repeat(observed, classes, axis=0))


def _against(mass: Floats, conditions: Floats) -> RateForms:
    """P(ŷ = c | Y ∈ given[c], a) for every class c."""
    groups, classes = mass.shape
    inverse, observed = _inverse(conditions @ mass.T)
    coefficients = np.zeros((classes, groups, classes, classes))
    for c in range(classes):
        coefficients[c, :, :, c] = inverse[c][:, None] * conditions[c]
    return RateForms(tuple(range(classes)), coefficients, observed)


def _inverse(mass: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """One over the mass, 0 where it is negligible."""
    observed = mass > LEAST_MASS
    return np.divide(1.0, mass, out=np.zeros_like(mass), where=observed), observed


RATES: dict[str, Callable[[Floats], RateForms]] = {
    "statistical_parity": _parity,
    "equal_opportunity": _sensitivity,
    "predictive_equality": _false_alarm,
    "equalized_odds": _odds,
    "average_odds": _average,
}
SELECTION = {"selection_rate_ratio": _parity}
