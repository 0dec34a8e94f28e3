"""Quantiles of metrics over bootstrap samples, drawn as fairlearn draws them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from numbers import Integral
from typing import Any

import numpy as np

from evenhand._errors import InputError, refusing
from evenhand.compat._disaggregation import Disaggregated, Sample
from evenhand.compat._features import pandas


def resampled(sample: Sample, n_boot: int, random_state: Any) -> list[Disaggregated]:
    """The metrics of bootstrap samples; a seed draws the same rows as in fairlearn."""
    rows = pandas().Series(np.arange(len(sample.y_true)))
    return [
        sample.disaggregate(rows.sample(frac=1, replace=True, random_state=seed).to_numpy())
        for seed in _seeds(random_state, n_boot)
    ]


def check_bootstrap(n_boot: Any, ci_quantiles: Any) -> bool:
    """Whether to draw samples; refuse one argument without the other, or invalid ones."""
    with refusing("ci_quantiles must be a list"):
        is_requested = ci_quantiles is not None and len(ci_quantiles) > 0
    if (n_boot is not None) != is_requested:
        raise InputError("Must specify both n_boot and ci_quantiles", "Or neither.")
    if not is_requested:
        return False
    if not isinstance(n_boot, Integral) or n_boot < 1:
        raise InputError("Must have n_boot be a positive integer", f"n_boot is {n_boot!r}.")
    wrong = [q for q in ci_quantiles if not isinstance(q, float) or not 0 < q < 1]
    if wrong:
        raise InputError(
            "Must have all ci_quantiles be floats in (0, 1)", f"ci_quantiles has {wrong[0]!r}."
        )
    return True


def quantiles(samples: Sequence[Any], at: Sequence[float]) -> list[Any]:
    """For each quantile a series or dataframe like the samples.

    Cells that a sample lacks are NaN there, and ignored in quantiles.
    """
    pd = pandas()
    first = samples[0]
    try:
        if isinstance(first, pd.Series):
            values = np.quantile([sample.to_numpy() for sample in samples], q=at, axis=0)
            return [pd.Series(row, index=first.index, name=first.name) for row in values]
        index = reduce(
            lambda union, index: union.union(index), (sample.index for sample in samples)
        )
        tables = [sample.reindex(index).to_numpy() for sample in samples]
        values = np.nanquantile(tables, q=at, axis=0)
    except (TypeError, ValueError) as error:
        raise InputError(
            "Error calling numpy.quantiles. Most likely due to a metric returning a non-scalar "
            "result",
            "Leave that metric out, or leave out n_boot and ci_quantiles.",
        ) from error
    return [pd.DataFrame(table, index=index, columns=first.columns) for table in values]


def _seeds(random_state: Any, size: int) -> Any:
    high = np.iinfo(np.uint32).max
    if isinstance(random_state, np.random.RandomState):
        return random_state.randint(0, high, size=size, dtype=np.uint32)
    if random_state is not None and not isinstance(random_state, Integral):
        raise InputError(
            f"Unsupported random_state: {random_state}",
            f"random_state is {random_state!r}; it must be a whole number, a RandomState or None.",
        )
    seed = None if random_state is None else int(random_state)
    return np.random.default_rng(seed).integers(0, high, size=size, dtype=np.uint32)
