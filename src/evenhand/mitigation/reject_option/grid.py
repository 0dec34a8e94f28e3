"""All thresholds and margins at once: what each would cost, and how unequal it would be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.mitigation.reader import Codes

Floats = NDArray[np.float64]


class Choice(NamedTuple):
    """A threshold, the margin around it, their balanced accuracy and signed disparity."""

    threshold: float
    margin: float
    balanced_accuracy: float
    disparity: float


@dataclass(frozen=True, eq=False)
class Grid:
    """Every (threshold, margin) that is tried, with its balanced accuracy and disparity."""

    threshold: Floats
    margin: Floats
    balanced_accuracy: Floats
    disparity: Floats

    def best(self, eps: float) -> Choice:
        """The best balanced accuracy with |disparity| ≤ eps; if there is none, least |disparity|.

        Of equals it is the one with the smallest threshold, then margin.
        """
        allowed = abs(self.disparity) <= eps
        if allowed.any():
            at = int(np.argmax(np.where(allowed, self.balanced_accuracy, -np.inf)))
        else:
            at = int(np.nanargmin(abs(self.disparity)))
        columns = self.threshold, self.margin, self.balanced_accuracy, self.disparity
        return Choice(*(float(column.ravel()[at]) for column in columns))


def search_grid(
    score: Floats,
    y: Codes,
    privileged: NDArray[np.bool_],
    weight: Floats | None = None,
    *,
    constraint: str = "statistical_parity",
    thresholds: int = 100,
    margins: int = 50,
) -> Grid:
    """Balanced accuracy and disparity (others − privileged) of all thresholds and margins.

    The privileged are given the favourable label (1) above threshold + margin, the others above
    threshold − margin; all sums above any bound are read off one sorted list for each side.
    """
    tau = np.linspace(0.01, 0.99, thresholds)[:, None]
    margin = np.linspace(0, np.minimum(tau, 1 - tau)[:, 0], margins, axis=1)
    weight = np.ones(len(y)) if weight is None else weight
    sides = (~privileged, tau - margin), (privileged, tau + margin)
    masses = [mass_above(score[side], y[side], weight[side], bound) for side, bound in sides]
    chosen, everyone = (np.array(part) for part in zip(*masses, strict=True))
    taken, whole = chosen.sum(axis=0), everyone.sum(axis=0)
    right = _rates(taken[1], whole[1]) + _rates(whole[0] - taken[0], whole[0])
    disparity = DISPARITIES[constraint](chosen, everyone)
    return Grid(np.broadcast_to(tau, margin.shape), margin, 0.5 * np.nan_to_num(right), disparity)


def mass_above(score: Floats, y: Codes, weight: Floats, bound: Floats) -> Any:
    """Weight of label 0 and of label 1 above each bound, and in all.

    >>> mass_above(np.array([0.2, 0.7]), np.array([0, 1]), np.ones(2), np.array([0.1, 0.2]))[0]
    array([[1., 0.],
           [1., 1.]])
    """
    order = np.argsort(score)
    ordered = np.where(y[order] == np.array([[0], [1]]), weight[order], 0.0)
    above = np.zeros((2, len(score) + 1))
    above[:, :-1] = ordered[:, ::-1].cumsum(axis=1)[:, ::-1]
    return above[:, np.searchsorted(score[order], bound, side="right")], above[:, 0][:, None, None]


def _parity_gap(chosen: Floats, everyone: Floats) -> Floats:
    return _gap(chosen.sum(axis=1), everyone.sum(axis=1))


def _odds_gap(chosen: Floats, everyone: Floats) -> Floats:
    return np.asarray(0.5 * _gap(chosen, everyone).sum(axis=0))


def _opportunity_gap(chosen: Floats, everyone: Floats) -> Floats:
    return np.asarray(_gap(chosen, everyone)[1])


def _gap(chosen: Floats, everyone: Floats) -> Floats:
    """The rate of the others minus that of the privileged; 0 where one has nobody to count."""
    rates = _rates(chosen, everyone)
    return np.asarray(np.nan_to_num(rates[0] - rates[1]))


def _rates(chosen: Floats, everyone: Floats) -> Floats:
    rates = np.full(chosen.shape, np.nan)
    np.divide(chosen, everyone, out=rates, where=everyone > 0)
    return rates


DISPARITIES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "statistical_parity": _parity_gap,
    "average_odds": _odds_gap,
    "equal_opportunity": _opportunity_gap,
}
