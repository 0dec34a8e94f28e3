"""Aggregates of a measure's values over classes: one score from many cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._errors import InputError
from evenhand._words import did_you_mean

Values = NDArray[np.float64]
Aggregate = Callable[[Values], Any]


def worst(cells: Values) -> Any:
    """The largest defined value along the last axis, which the paper uses over classes.

    Parameters
    ----------
    cells : ndarray
        Values of classes along the last axis; NaN where undefined.

    Returns
    -------
    float or ndarray
        The largest.

    Examples
    --------
    >>> float(worst(np.array([0.2, np.nan, 0.4])))
    0.4

    """
    return np.fmax.reduce(cells, axis=-1)


def mean(cells: Values) -> Any:
    """The mean of the defined values along the last axis.

    Parameters
    ----------
    cells : ndarray
        Values of classes along the last axis; NaN where undefined.

    Returns
    -------
    float or ndarray
        The mean; NaN if none is defined.

    Examples
    --------
    >>> round(float(mean(np.array([0.2, np.nan, 0.4]))), 4)
    0.3

    """
    return total(cells) / np.maximum((~np.isnan(cells)).sum(axis=-1), 1)


def total(cells: Values) -> Any:
    """The sum of the defined values along the last axis.

    Parameters
    ----------
    cells : ndarray
        Values of classes along the last axis; NaN where undefined.

    Returns
    -------
    float or ndarray
        The sum; NaN if none is defined.

    Examples
    --------
    >>> round(float(total(np.array([0.2, np.nan, 0.4]))), 4)
    0.6

    """
    defined = ~np.isnan(cells)
    return np.where(defined.any(axis=-1), np.where(defined, cells, 0).sum(axis=-1), np.nan)[()]


AGGREGATES: dict[str, Aggregate] = {"worst": worst, "mean": mean, "total": total}
OTHER_NAMES = {"max": "worst", "maximum": "worst", "average": "mean", "sum": "total"}


def named_aggregate(aggregate: str | Aggregate) -> str | Aggregate:
    """The name in `AGGREGATES` of an aggregate that may have another common name.

    >>> named_aggregate("sum"), named_aggregate("worst")
    ('total', 'worst')
    """
    return OTHER_NAMES.get(aggregate, aggregate) if isinstance(aggregate, str) else aggregate


def resolve_aggregate(aggregate: str | Aggregate) -> Aggregate:
    """Find an aggregate by name; a function is returned unchanged.

    Parameters
    ----------
    aggregate : str or callable
        A name in `AGGREGATES`, or a function of the last axis.

    Returns
    -------
    callable
        The function.

    Raises
    ------
    InputError
        If there is no aggregate of that name.

    Examples
    --------
    >>> resolve_aggregate("mean").__name__
    'mean'

    """
    aggregate = named_aggregate(aggregate)
    if callable(aggregate):
        return aggregate
    if aggregate not in AGGREGATES:
        raise InputError(
            f"There is no aggregate {aggregate!r}; there are {list(AGGREGATES)}."
            f"{did_you_mean(aggregate, AGGREGATES)}"
        )
    return AGGREGATES[aggregate]
