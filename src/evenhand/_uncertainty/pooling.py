"""Partial pooling: predictions of a group's value from the groups that share its columns.

A group of 12 rows says little by itself, but women of all races and Black people of both sexes are
informative about Black women. A value is modeled as a mean, plus an effect of the level of each
column, plus an effect of the group itself, plus noise of known variance. The variance of each kind
of effect is estimated by restricted maximum likelihood; each group's value is then shrunken toward
the sum of its columns' effects according to its noise. With a single column values shrink toward
the mean. Pooled values are predictions; conclusions are drawn from tests and intervals.

Efron, B. and Morris, C. (1975), Data analysis using Stein's estimator and its generalizations.
Gelman, A. and Hill, J. (2007), Data Analysis Using Regression and Multilevel/Hierarchical Models.
Harville, D. A. (1977), Maximum likelihood approaches to variance component estimation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Bin, Label
from evenhand._uncertainty.curves import Estimates, Floats, curve_at

Levels = NDArray[np.intp]

MOST_LEVELS = 400  # of all columns: with more, values shrink toward the mean only
MOST_ENTRIES = 2_000_000  # of matrices that are inverted together
STEPS = 60
CLOSE = 1e-4  # of the variance of the values
LEAST = 1e-9


def pooled(estimates: Estimates, levels: Levels) -> Floats:
    """Shrunken values (cells, groups); `levels` (columns, groups) are the columns' levels.

    Rates are pooled as arcsines of their square roots, whose variance hardly depends on the rate
    (Anscombe: about 1 / (4 n + 2)); other statistics on their own scale, with the standard errors
    of their confidence curves.
    """
    values = estimates.values
    low, high = curve_at(estimates.curves, -1.0), curve_at(estimates.curves, 1.0)
    scale, variances = values, ((high - low) / 2) ** 2
    rates = _are_rates(estimates)
    if estimates.counts is not None:
        hits, sizes = estimates.counts
        angles = np.arcsin(np.sqrt(np.clip((hits + 0.375) / (sizes + 0.75), 0.0, 1.0)))
        scale = np.where(rates[:, None], angles, scale)
        variances = np.where(rates[:, None], 1 / (4 * sizes + 2), variances)
    defined = np.isfinite(scale) & np.isfinite(values) & np.isfinite(variances) & (variances > 0)
    means = shrunken(np.where(defined, scale, 0.0), np.where(defined, variances, np.inf), levels)
    means = np.where(rates[:, None], np.sin(np.clip(means, 0.0, np.pi / 2)) ** 2, means)
    return np.where(defined, means, values)


def shrunken(values: Floats, variances: Floats, levels: Levels) -> Floats:
    """Values (cells, groups) with known variances, shrunken toward their columns' effects.

    Parameters
    ----------
    values, variances : ndarray
        Of each cell and group; the variance of an unobserved value is infinite.
    levels : ndarray of int
        The level of each group (columns, groups).

    Returns
    -------
    ndarray
        The best linear predictions, with the variances of the effects estimated.

    Examples
    --------
    With one column and equal variances values shrink toward their mean by Stein's factor; here the
    noise is a quarter of the variance.

    >>> groups = np.arange(5)[None]
    >>> shrunken(np.array([[0.0, 2.0, 4.0, 6.0, 8.0]]), np.full((1, 5), 2.5), groups).round(2)
    array([[1. , 2.5, 4. , 5.5, 7. ]])

    """
    places, sizes = _places(levels)
    step = max(1, MOST_ENTRIES // (1 + sum(sizes)) ** 2)
    several = np.flatnonzero(np.isfinite(variances).sum(axis=1) > 1)
    means = values.copy()
    for start in range(0, len(several), step):
        cells = several[start : start + step]
        means[cells] = _shrunken(values[cells], variances[cells], places, sizes)
    return means


def levels_of(groups: Sequence[Label], columns: int) -> Levels:
    """The level of every group in each column (columns, groups).

    A group that is not a combination, such as that of all rare ones, has levels of its own.

    >>> levels_of([("F", "x"), ("F", "y"), ("M", "x"), "(rare groups)"], 2).tolist()
    [[0, 0, 1, 2], [0, 1, 0, 2]]
    """
    parts = [
        label
        if isinstance(label, tuple) and not isinstance(label, Bin) and len(label) == columns
        else (label,) * columns
        for label in groups
    ]
    coded = []
    for column in zip(*parts, strict=True):
        places: dict[Label, int] = {}
        coded.append([places.setdefault(level, len(places)) for level in column])
    return np.array(coded, dtype=np.intp)


def _shrunken(values: Floats, variances: Floats, places: Levels, sizes: list[int]) -> Floats:
    """Predictions at the estimated variances of the effects of groups and of each column."""
    defined = np.isfinite(variances)
    count = defined.sum(axis=1)
    mean = (values * defined).sum(axis=1) / count
    spread = ((values - mean[:, None]) ** 2 * defined).sum(axis=1) / count
    spread = np.maximum(spread, 1e-200)  # all equal: nothing to shrink
    parts = np.repeat(spread[None], 1 + len(sizes), axis=0)
    means = values
    for _ in range(STEPS):
        means, updated = _step(values, variances, places, sizes, parts)
        updated = np.clip(updated, LEAST * spread, None)
        change = np.abs(updated - parts) / spread
        parts = updated
        if change.max() <= CLOSE:
            break
    return means


def _step(
    values: Floats, variances: Floats, places: Levels, sizes: list[int], parts: Floats
) -> tuple[Floats, Floats]:
    """Predictions at given variances of the effects, and updated variances.

    Henderson's mixed model equations for the columns' levels only, since the groups' own effects
    are independent given those. The update is Harville's fixed point of the likelihood: the sum of
    squared effects over their effective number.
    """
    cells, size = len(values), 1 + sum(sizes)
    precision = 1 / (variances + parts[0][:, None])
    pairs = (places[:, None] * size + places).reshape(-1, places.shape[1])
    right = _totals(precision * values, places, size)
    matrix = _totals(precision, pairs, size * size).reshape(cells, size, size)
    blocks = list(_blocks(sizes))
    for block, variance in zip(blocks, parts[1:], strict=True):
        diagonal = np.arange(block.start, block.stop)
        matrix[:, diagonal, diagonal] += 1 / variance[:, None]
    covariance = np.linalg.inv(matrix)
    effects = np.einsum("cij,cj->ci", covariance, right)
    fitted = effects[:, places].sum(axis=1)
    leverage = covariance.reshape(cells, -1)[:, pairs].sum(axis=1)
    shift = parts[0][:, None] * precision * (values - fitted)
    free = parts[0] * (precision - precision**2 * leverage).sum(axis=1)
    updated = [(shift**2).sum(axis=1) / np.maximum(free, 1e-12)]
    for block, variance in zip(blocks, parts[1:], strict=True):
        unknown = np.einsum("cii->c", covariance[:, block, block]) / variance
        effective_number = np.maximum(block.stop - block.start - unknown, 1e-12)
        updated.append((effects[:, block] ** 2).sum(axis=1) / effective_number)
    return fitted + shift, np.array(updated)


def _totals(amounts: Floats, places: Levels, size: int) -> Floats:
    """Sums (cells, size) of amounts (cells, groups) by their places (kinds, groups)."""
    cells = len(amounts)
    flat_places = places[:, None] + size * np.arange(cells)[:, None]
    weights = np.broadcast_to(amounts, flat_places.shape)
    added = np.bincount(flat_places.ravel(), weights.ravel(), minlength=cells * size)
    return np.asarray(added.reshape(cells, size))


def _places(levels: Levels) -> tuple[Levels, list[int]]:
    """The effects of each group (1 + columns, groups), numbered from the mean, 0; and their sizes.

    Columns have effects if at least two of them have more than one level.
    """
    coded = [np.unique(column, return_inverse=True)[1] for column in levels]
    coded = [column for column in coded if column.max(initial=0) > 0]
    sizes = [int(column.max()) + 1 for column in coded]
    if len(coded) < 2 or sum(sizes) > MOST_LEVELS:
        coded, sizes = [], []
    mean = np.zeros(levels.shape[1], np.intp)
    starts = [block.start for block in _blocks(sizes)]
    return np.array([mean, *(c + start for c, start in zip(coded, starts, strict=True))]), sizes


def _blocks(sizes: list[int]) -> Iterator[slice]:
    """The slice of each column's effects, after the mean."""
    start = 1
    for size in sizes:
        yield slice(start, start + size)
        start += size


def _are_rates(estimates: Estimates) -> NDArray[np.bool_]:
    """Whether the values of each cell are shares of the counted rows."""
    if estimates.counts is None:
        return np.zeros(len(estimates.values), bool)
    hits, sizes = estimates.counts
    shares = np.divide(hits, sizes, out=np.full(hits.shape, np.nan), where=sizes > 0)
    same = np.isclose(shares, estimates.values, atol=1e-9) | np.isnan(estimates.values)
    return np.asarray(same.all(axis=1))
