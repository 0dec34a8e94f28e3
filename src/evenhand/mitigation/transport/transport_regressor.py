"""LinearPost for regression (Xian et al. 2024): predictions moved until distributions agree."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from evenhand._errors import InputError
from evenhand.mitigation._fields import NonNegative, Positive, Range
from evenhand.mitigation.group_reader import Floats, Rows, draws_of
from evenhand.mitigation.transport.parity import certified_gap, corridor
from evenhand.mitigation.transport.plan import (
    Choice,
    Plan,
    Supply,
    Support,
)
from evenhand.mitigation.transport.planned import PlannedRegressor

LEAST_SHARE = 1e-6  # of a group that noise would leave nothing


class TransportRegressor(PlannedRegressor):
    """Moves predictions as little as possible so that no two groups' CDFs differ by more than ε.

    The Kolmogorov–Smirnov distance between any two groups is at most `epsilon` on the fitting rows,
    and the mean squared move is the least that allows it. The original solves a linear program
    over couplings; on a line only the groups' CDFs are unknown, and at each cut point they are
    the old ones, clipped to a corridor of width ε.

    Predictions are values of the support: bin centers, or fitted predictions. Those beyond the
    range count as the outermost bin. A bin that was empty in a group at fit has a rank all the
    same, that of its neighbors. A tiny group gets as exact a plan as any, of its few rows.

    Parameters
    ----------
    epsilon : float, default 0.0
        The greatest distance between two groups' CDFs: 0 is parity, 1 no constraint.
    support : int or "exact", default 500
        The number of bins of equal width, or all fitted predictions as they are.
    bounds : tuple (low, high), default None
        The range of the bins; None is that of the fitted predictions.
    privacy : float, default None
        The ε of differential privacy (not of parity) for the histograms, by Laplace noise; None
        adds none. It needs `bounds`, and says nothing about the base model, which has its own view
        of the rows.

    References
    ----------
    Xian, Li, Kamath and Zhao (2024), "Differentially private post-processing for fair regression",
    ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import TransportRegressor
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = X[:, 1] + random.normal(size=500)
    >>> fair = TransportRegressor(group=0, epsilon=0.1, random_state=0).fit(X, y)
    >>> values = fair.predict(X)
    >>> [float((values[group == a] > 0.5).mean().round(2)) for a in (0, 1)]
    [0.41, 0.51]

    """

    criteria: ClassVar[tuple[str, ...]] = ("strong_parity",)
    epsilon: NonNegative = 0.0
    support: Choice = 500
    bounds: Range | None = None
    privacy: Positive | None = None

    def _fit(self, rows: Rows) -> None:
        if not 0 <= self.epsilon <= 1:
            raise InputError(f"epsilon is {self.epsilon}; a distance of CDFs lies between 0 and 1.")
        self._refuse_leaks(rows)
        scores = self._fit_base(rows)
        support = Support.of(scores, self.support, self.bounds)
        supply = self._supplied(support, scores, rows)
        self.plan_ = Plan(support, supply, corridor(supply, self.epsilon))
        self.cost_ = self.plan_.cost
        self.gap_ = certified_gap(supply, self.epsilon)
        if self._is_unmoved():
            self._note_unbound("strong_parity.mpd", self._inequality(supply.cdfs))

    def _bounded(self, rows: Rows, lots: Floats) -> tuple[float, float] | None:
        if self.privacy is not None:  # the answer would reveal rows past the noise
            return None
        return super()._bounded(rows, lots)

    def _inequality(self, cdfs: Floats) -> float:
        return float(np.ptp(cdfs, axis=0).max())

    def _supplied(self, support: Support, scores: Floats, rows: Rows) -> Supply:
        if self.privacy is None:
            return super()._supplied(support, scores, rows)
        groups = len(self.sensitive_.labels)
        counted = support.histograms(scores, rows.group, rows.weight, groups)
        random = draws_of(self.random_state)
        share, cdfs = repaired(noisy(counted, self.privacy, random))
        return Supply(support.points, cdfs, share)

    def _refuse_leaks(self, rows: Rows) -> None:
        """Refuse a range, values or weights taken from the rows, which would leak them."""
        if self.privacy is None:
            return
        if self.bounds is None or self.support == "exact" or rows.sample_weight is not None:
            raise InputError(
                "With privacy=, pass bounds= that do not come from the data and a number of bins "
                "as support=, and no sample_weight: each would tell of single rows past the noise."
            )


def noisy(histograms: Floats, epsilon: float, random: np.random.RandomState) -> Floats:
    """Shares of rows by group and value, with ε-differentially private noise.

    One row replaced by another moves two cells by 1/n each, hence the scale 2 / (ε n).
    """
    rows = histograms.sum()
    noise = random.laplace(scale=2 / (epsilon * rows), size=histograms.shape)
    return np.asarray(histograms / rows + noise)


def repaired(histograms: Floats) -> tuple[Floats, Floats]:
    """Each group's share and CDF, from shares that noise may have made negative.

    Of all ascending sequences, the middle between the running maximum and the running minimum
    from the other end is one with the least greatest distance to the sums.
    """
    sums = np.maximum(histograms.sum(axis=1), LEAST_SHARE)
    sequence = np.cumsum(histograms, axis=1) / sums[:, None]
    highest = np.maximum.accumulate(sequence, axis=1)
    lowest = np.minimum.accumulate(sequence[:, ::-1], axis=1)[:, ::-1]
    cdfs = np.clip((highest + lowest) / 2, 0.0, 1.0)
    cdfs[:, -1] = 1.0
    return sums / sums.sum(), cdfs
