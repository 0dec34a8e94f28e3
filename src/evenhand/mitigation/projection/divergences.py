"""Nearest probabilities under a price: min over h of D + v · h, for all rows at once.

Arrays have a row for each class and a column for each person, which keeps sums over classes
contiguous. Each function gives minus the minimum, the h that attains it, and the q for which
diag(q) − q qᵀ / Σ q is how h falls with v.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Nearest = Callable[[Floats, Floats], tuple[Floats, Floats, Floats]]

STEPS = 50
CLOSE = 1e-7  # a step this small leaves an error of about its square


def kullback_leibler(p: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """D(h ‖ p): h is p tilted by exp(−v).

    >>> value, h, q = kullback_leibler(np.array([[0.5], [0.5]]), np.array([[0.0], [np.log(3)]]))
    >>> h.ravel()
    array([0.75, 0.25])
    """
    tilted = np.log(p) - v
    top = tilted.max(axis=0)
    tilted -= top
    np.exp(tilted, out=tilted)
    total = tilted.sum(axis=0)
    tilted /= total
    return top + np.log(total), tilted, tilted


def cross_entropy(p: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """D(p ‖ h): h is p / (z + v), with z such that it adds up to 1.

    >>> value, h, q = cross_entropy(np.array([[0.5], [0.5]]), np.array([[0.0], [1.0]]))
    >>> h.ravel().round(4)
    array([0.7071, 0.2929])
    """
    z = _quadratic(p, v) if len(p) == 2 else _newton(p, v)
    shifted = z + v
    h = p / shifted
    return z - 1 - (p * np.log(shifted)).sum(axis=0), h, h / shifted


def _quadratic(p: Floats, v: Floats) -> Floats:
    """The larger root of (z + v₀)(z + v₁) = p₀ (z + v₁) + p₁ (z + v₀), measured from −min v."""
    lower = v.min(axis=0)
    rise = v - lower
    half = 0.5 * (1 - rise.sum(axis=0))
    product = p[0] * rise[1] + p[1] * rise[0]
    return np.asarray(half + np.sqrt(half * half + product) - lower)


def _newton(p: Floats, v: Floats) -> Floats:
    """Newton on 1 / Σ p/(z + v) = 1, concave in z: from the left it never passes the root.

    It starts at the larger of two bounds, one term of the sum alone and the arithmetic mean.
    """
    z = np.maximum((p - v).max(axis=0), 1 - (p * v).sum(axis=0))
    for _ in range(STEPS):
        inverse = 1 / (z + v)
        terms = p * inverse
        total = terms.sum(axis=0)
        inverse *= terms
        step = total * (total - 1) / inverse.sum(axis=0)
        z += step
        if step.max() <= CLOSE:
            break
    return np.asarray(z)


DIVERGENCES: dict[str, Nearest] = {"kl": kullback_leibler, "ce": cross_entropy}
