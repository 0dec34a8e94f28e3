"""Least squares from sums of products by group: any weighting of the groups is a small system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

UNIDENTIFIED = 1e-12


@dataclass(frozen=True, eq=False)
class Grams:
    """For each group, the mean products of (1, features, target), features in standard units.

    `mean` and `scale` are what the columns were standardised by; `products` has a square matrix
    for each group, weighted within the group to sum to 1.
    """

    products: Floats
    mean: Floats
    scale: Floats

    def solve(self, weights: Floats) -> tuple[Floats, Floats]:
        """Intercepts and coefficients for many weightings of the groups (weightings × groups).

        Directions of features that the weighted rows do not determine get no coefficient: a
        group of weight 0 leaves the column that marks it alone.
        """
        total = np.tensordot(weights, self.products, axes=1)
        total /= total[:, :1, :1]
        centred = total[:, 1:, 1:] - total[:, 1:, :1] * total[:, :1, 1:]
        size, directions = np.linalg.eigh(centred[:, :-1, :-1])
        known = size > UNIDENTIFIED * np.maximum(size[:, -1:], np.finfo(float).tiny)
        along = np.einsum("wij,wi->wj", directions, centred[:, :-1, -1])
        along = np.where(known, along, 0.0) / np.where(known, size, 1.0)
        slopes = np.einsum("wij,wj->wi", directions, along)
        intercepts = total[:, 0, -1] - np.einsum("wi,wi->w", slopes, total[:, 0, 1:-1])
        return intercepts, slopes

    def losses(self, intercepts: Floats, slopes: Floats) -> Floats:
        """The mean squared error in each group, for many models (models × groups)."""
        ones = np.ones(len(intercepts))
        residual = np.column_stack([-intercepts, -slopes, ones])
        squares = np.einsum("mi,gij,mj->mg", residual, self.products, residual, optimize=True)
        return np.asarray(np.maximum(squares, 0.0))

    def original(self, intercept: float, slopes: Floats) -> tuple[float, Floats]:
        """An intercept and coefficients for features and target as they were."""
        in_units = slopes * self.scale[-1] / self.scale[:-1]
        level = self.mean[-1] + intercept * self.scale[-1] - in_units @ self.mean[:-1]
        return float(level), in_units


def grams(X: Floats, y: Floats, group: Codes, weight: Floats, groups: int) -> Grams:
    """Sum the products of all columns, once, group by group."""
    table = np.column_stack([X, y])
    mean = np.average(table, axis=0, weights=weight)
    table -= mean
    scale = np.sqrt(np.average(table**2, axis=0, weights=weight))
    scale[scale <= 1e-12 * np.abs(mean)] = 1.0  # a constant column, up to rounding
    scale[scale == 0] = 1.0
    table = np.column_stack([np.ones(len(table)), table / scale])
    order = np.argsort(group, kind="stable")
    sums = np.bincount(group, weight, minlength=groups)
    roots = np.sqrt(weight / sums[group])
    blocks = np.split((table * roots[:, None])[order], np.cumsum(np.bincount(group))[:-1])
    return Grams(np.stack([block.T @ block for block in blocks]), mean, scale)
