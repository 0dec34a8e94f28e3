"""Sums, quotients and outcomes of tables (…, groups), of NumPy arrays or tensors with gradients."""

from __future__ import annotations

import sys
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NUMPY = (np.ndarray, np.generic)  # a tuple: torch.compile cannot follow a union of types


def one_against_rest(counts: Floats) -> dict[str, Floats]:
    """Outcomes (…, classes, groups) of each class against the rest from (…, y, ŷ, groups).

    Nothing is subtracted, which would round away a light error next to a heavy hit.
    """
    library = library_of(counts)
    tp = library.moveaxis(library.diagonal(counts, 0, -3, -2), -1, -2)
    wrong = _without_diagonal(counts)
    fp, fn = wrong.sum(axis=-3), wrong.sum(axis=-2)
    tn = _without_diagonal(sum_of_others(counts, axis=-3)).sum(axis=-2)
    over_all = {
        "correct": tp.sum(axis=-2, keepdims=True),
        "wrong": fp.sum(axis=-2, keepdims=True),
        "all": counts.sum(axis=(-3, -2))[..., None, :],
    }
    return {"tp": tp, "fp": fp, "fn": fn, "tn": tn, **over_all}


def sum_of_others(values: Floats, axis: int = -1) -> Floats:
    """For each entry the sum of all others along an axis, without subtraction.

    >>> sum_of_others(np.array([1e30, 1.0, 2.0]))
    array([3.e+00, 1.e+30, 1.e+30])
    """
    library = library_of(values)
    rolled = library.moveaxis(values, axis, 0)
    if len(rolled) == 2:
        return cast(Floats, library.moveaxis(library.flip(rolled, (0,)), 0, axis))

    def before(parts: Any) -> Any:
        return library.concatenate([0 * parts[:1], library.cumsum(parts[:-1], 0)])

    sums = before(rolled) + library.flip(before(library.flip(rolled, (0,))), (0,))
    return cast(Floats, library.moveaxis(sums, 0, axis))


def ratio(above: Floats, below: Floats, total: Floats | None = None) -> Floats:
    """The quotient, or NaN where nothing was observed.

    For tensors, a denominator that is negligible compared with `total` counts as nothing too:
    unlike counts, shares of rows may be so small that the gradient overflows.
    """
    library = library_of(below)
    if library is np:
        out = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
        np.divide(above, below, out=out, where=below > 0)
        return out
    observed = below > (0 if total is None else library.finfo(below.dtype).eps * total)
    return cast(
        Floats, library.where(observed, above / library.where(observed, below, 1.0), np.nan)
    )


def library_of(values: Any) -> Any:
    """NumPy, or the library of these tensors; only functions that both have are used."""
    if isinstance(values, NUMPY):
        return np
    return sys.modules[type(values).__module__.partition(".")[0]]


def _without_diagonal(counts: Floats) -> Floats:
    """Counts (…, y, ŷ, groups) where the two labels differ."""
    library = library_of(counts)
    if library is np:
        return np.where(np.eye(counts.shape[-2], dtype=bool)[..., None], 0, counts)
    labels = library.moveaxis(counts, -1, -3)
    differ = library.tril(labels, -1) + library.triu(labels, 1)
    return cast(Floats, library.moveaxis(differ, -3, -1))
