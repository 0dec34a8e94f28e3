"""Histograms that reveal little of any one row: Laplace noise, and what makes CDFs of it again."""

from __future__ import annotations

import numpy as np

from evenhand.mitigation.transport.support import Floats

LEAST_SHARE = 1e-6


def noisy(histograms: Floats, epsilon: float, random: np.random.RandomState) -> Floats:
    """Parts of all rows by group and value, with ε-differentially private noise.

    One row replaced by another moves two cells by 1/n each, hence the scale 2 / (ε n).
    """
    rows = histograms.sum()
    noise = random.laplace(scale=2 / (epsilon * rows), size=histograms.shape)
    return np.asarray(histograms / rows + noise)


def repaired(histograms: Floats) -> tuple[Floats, Floats]:
    """Each group's share and CDF, from parts that noise may have made negative.

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
