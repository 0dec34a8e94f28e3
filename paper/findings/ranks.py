"""Do two criteria put the same models in the same order? Kendall's τ, split by split."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import kendalltau

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


def agreement(here: Any, first: str, second: str) -> Agreement | None:
    """Compare two columns; None where fewer than four settings have both."""
    both = here.dropna(subset=[first, second])
    found = [
        _pair(rows[first].to_numpy(), rows[second].to_numpy())
        for _, rows in both.groupby("seed")
        if len(rows) >= LEAST
    ]
    if not found:
        return None
    taus, swaps = zip(*found, strict=True)
    return Agreement(
        tau=estimate(taus, bounds=(-1, 1)),
        again=between_splits(both, first),
        swapped=estimate(swaps, bounds=(0, 1)),
        settings=len(both[SETTING].drop_duplicates()),
        seeds=len(found),
    )


def _pair(a: Any, b: Any) -> tuple[float, float]:
    """τ_b, and the share of pairs in opposite orders; differences of rounding are ties."""
    a, b = np.round(a, DIGITS), np.round(b, DIGITS)
    upper = np.triu_indices(len(a), 1)
    orders = [np.sign(one[:, None] - one[None, :])[upper] for one in (a, b)]
    return float(kendalltau(a, b).statistic), float((orders[0] * orders[1] < 0).mean())


def between_splits(here: Any, question: str) -> Estimate:
    """τ of a question with itself on other splits: the mean over pairs of splits."""
    wide = by_seed(here, question).dropna()
    if len(wide) < LEAST or wide.shape[1] < 2:
        return Estimate(float("nan"))
    columns = [wide[seed].to_numpy().round(DIGITS) for seed in wide.columns]
    taus = [kendalltau(a, b).statistic for a, b in combinations(columns, 2)]
    return Estimate(float(np.nanmean(taus)))
