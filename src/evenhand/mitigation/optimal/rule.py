"""A decision rule as a value: a few price matrices for each group, and how often each decides."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand._errors import InputError

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

FORMAT = "evenhand decision rule 1"
ROWS_AT_A_TIME = 1 << 14
TILT = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class DecisionRule:
    """Mixes a few deterministic rules in each pool of rows (a group; or one pool of all rows).

    A rule is a matrix of prices (features, classes): it decides the class y of least
    Σ_k x[k] prices[k][y], the lowest class on ties. `pool` says whose rule it is, and `share` how
    often it decides there; the shares of a pool add up to 1. The features x of a row are its class
    probabilities, or where groups are not known P(group, class | x), group by group.

    >>> prices = np.array([[[0.0, 0.4], [0.0, -0.6]]])  # class 1 from a probability of 0.4 on
    >>> rule = DecisionRule(prices, np.array([0]), np.array([1.0]))
    >>> rule.probabilities(np.array([[0.7, 0.3], [0.5, 0.5]]), np.array([0, 0]))
    array([[1., 0.],
           [0., 1.]])
    """

    prices: Floats
    pool: Codes
    share: Floats

    def __repr__(self) -> str:
        return f"<DecisionRule: {len(self.share)} rules in {self.pools} pools>"

    @property
    def pools(self) -> int:
        """How many pools there are."""
        return int(self.pool.max()) + 1

    def probabilities(self, features: Floats, codes: Codes | None = None) -> Floats:
        """The probability of each class for rows of these features and pools."""
        features = np.asarray(features, dtype=np.float64)
        pool = np.zeros(len(features), np.intp) if codes is None else codes
        prices, share = self._ranked()
        chances = np.zeros((len(features), self.prices.shape[2]))
        for start in range(0, len(features), ROWS_AT_A_TIME):
            rows = slice(start, start + ROWS_AT_A_TIME)
            for rank in range(len(share)):
                scores = np.einsum("ik,iky->yi", features[rows], prices[rank][pool[rows]])
                least = cheapest(scores)
                chances[np.arange(len(least)) + start, least] += share[rank][pool[rows]]
        return chances

    def to_json(self) -> str:
        """The rule as text that any language can read: one object for each matrix."""
        rules = [
            {"pool": pool, "share": share, "prices": prices}
            for pool, share, prices in zip(
                self.pool.tolist(), self.share.tolist(), self.prices.tolist(), strict=True
            )
        ]
        return json.dumps({"format": FORMAT, "rules": rules})

    @classmethod
    def from_json(cls, text: str) -> DecisionRule:
        """The rule that `to_json` wrote."""
        content = json.loads(text)
        if content.get("format") != FORMAT:
            raise InputError(f"This is not an {FORMAT!r}: its format is {content.get('format')!r}.")
        prices, pool, share = (
            np.array([rule[name] for rule in content["rules"]])
            for name in ("prices", "pool", "share")
        )
        return cls(prices, pool, share)

    def _ranked(self) -> tuple[Floats, Floats]:
        """Prices and shares of every pool's first, second, … rule; what is absent has share 0."""
        order = np.argsort(self.pool, kind="stable")
        first = np.searchsorted(self.pool[order], np.arange(self.pools))
        rank = np.empty(len(order), np.intp)
        rank[order] = np.arange(len(order)) - first[self.pool[order]]
        prices = np.zeros((rank.max() + 1, self.pools, *self.prices.shape[1:]))
        share = np.zeros((rank.max() + 1, self.pools))
        prices[rank, self.pool], share[rank, self.pool] = self.prices, self.share
        return prices, share


def cheapest(scores: Floats) -> NDArray[np.int16]:
    """The first class of least score in each column of (classes, rows)."""
    least, chosen = scores[0].copy(), np.zeros(scores.shape[1], np.int16)
    for label in range(1, len(scores)):
        chosen[scores[label] < least] = label
        np.minimum(least, scores[label], out=least)
    return chosen


def tilt(classes: int) -> Floats:
    """A fixed, tiny price on top, so that no row of a fitted rule stands on a tie.

    Prices that equalize two rules tie some rows exactly, and there rounding would decide.
    """
    golden = (np.arange(classes)[:, None] + 1) * (np.arange(classes) + 1) * 0.6180339887498949
    return TILT * (np.arange(classes) + golden % 1)
