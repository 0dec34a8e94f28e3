"""Do two criteria put the same models in the same order? Kendall's τ, split by split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from paper.findings.estimates import Estimate, estimate
from paper.findings.values import SETTING, by_seed

LEAST = 4  # settings below which an order says nothing
DIGITS = 12


@dataclass(frozen=True)
class Agreement:
    """τ between two questions about the same settings, over the splits.

    `again` is τ of the first question with itself between two splits: no criterion can be expected
    to agree with another better than with itself on other rows. `swapped` is the share of pairs
    of settings that the two questions put in opposite orders.
    """

    tau: Estimate
    again: Estimate
    swapped: Estimate
    settings: int
    seeds: int


class Level(NamedTuple):
    """Settings are at one level if a column differs by no more than this, as it is or by share."""

    column: str
    within: float
    is_share: bool = False

    def pairs(self, rows: Any) -> Any:
        """Which pairs of settings are, in the order of `_orders`."""
        values = rows[self.column].to_numpy(dtype=np.float64)
        first, second = np.triu_indices(len(values), 1)
        scale = (abs(values[first]) + abs(values[second])) / 2 if self.is_share else 1.0
        return abs(values[first] - values[second]) <= self.within * scale


def agreement(here: Any, first: str, second: str, level: Level | None = None) -> Agreement | None:
    """Compare two columns; None where fewer than four settings have both.

    With a level, only pairs of settings at the same level of that column are compared.
    """
    columns = [first, second, *([level.column] if level else [])]
    both = here[[*SETTING, "seed", *dict.fromkeys(columns)]].dropna(subset=columns)
    splits = [rows for _, rows in both.groupby("seed") if len(rows) >= LEAST]
    orders = [_orders(rows[[first, second]].to_numpy().T) for rows in splits]
    if level:
        orders = [one[:, level.pairs(rows)] for rows, one in zip(splits, orders, strict=True)]
        orders = [one for one in orders if one.shape[1] >= LEAST]
    if not orders:
        return None
    swapped = [(one[0] * one[1] < 0).mean() for one in orders]
    return Agreement(
        tau=estimate([_taus(one)[0, 1] for one in orders], bounds=(-1, 1)),
        again=between_splits(both, first),
        swapped=estimate(swapped, bounds=(0, 1)),
        settings=len(both[SETTING].drop_duplicates()),
        seeds=len(orders),
    )


def _orders(rankings: Any) -> Any:
    """For each ranking, whether each pair is in rising (1) or falling order (−1) or tied (0).

    Differences of rounding are ties.
    """
    values = np.round(rankings, DIGITS)
    first, second = np.triu_indices(values.shape[1], 1)
    return np.sign(values[:, first] - values[:, second])


def _taus(orders: Any) -> Any:
    """Kendall's τ_b between all rankings: hundreds of them at once, from the same pairs."""
    products = orders @ orders.T
    with np.errstate(invalid="ignore"):  # a ranking of ties only has no τ
        return products / np.sqrt(np.outer(products.diagonal(), products.diagonal()))


def between_splits(here: Any, question: str) -> Estimate:
    """τ of a question with itself on other splits: the mean over pairs of splits."""
    wide = by_seed(here, question).dropna()
    if len(wide) < LEAST or wide.shape[1] < 2:
        return Estimate(float("nan"))
    taus = _taus(_orders(wide.to_numpy().T))[np.triu_indices(wide.shape[1], 1)]
    return Estimate(float(np.nanmean(taus)))
