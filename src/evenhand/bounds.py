"""What holds between the measures: identities and tight bounds, d being the number of groups.

Theorem numbers are those of Sheng, Zhang and Diao, "Toward Unifying Group Fairness Evaluation
from a Sparsity Perspective"; where the printed claim fails or is loose, the corrected one stands
here. The page "Theory" of the documentation has the proofs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def pq_of_cv(cv: ArrayLike) -> Any:
    """PQ(1, 2) from the coefficient of variation (population standard deviation over mean).

    The ratio ‖w‖₁ / (√d ‖w‖₂) is mean / √(mean² + variance), so both order vectors alike.

    >>> float(pq_of_cv(0.75))
    0.2
    """
    return -np.expm1(-0.5 * np.log1p(np.square(cv)))


def cv_of_pq(pq: ArrayLike) -> Any:
    """The coefficient of variation from PQ(1, 2).

    >>> float(cv_of_pq(0.2).round(12))
    0.75
    """
    return np.sqrt(np.expm1(-2 * np.log1p(-np.asarray(pq, dtype=np.float64))))


def greatest_gini(d: int) -> float:
    """Gini of a vector with one entry that is not zero: 1 − 1/d."""
    return 1 - 1 / d


def greatest_pq(d: int, p: float = 1, q: float = 2) -> float:
    """PQ of a vector with one entry that is not zero (Theorem 3.1): 1 − d^(1/q − 1/p)."""
    return float(1 - d ** (1 / q - 1 / p))


def cv_range_of_gini(gini: ArrayLike, d: int) -> tuple[Any, Any]:
    """Bounds on the coefficient of variation of d entries with this Gini index.

    The lower is attained by evenly spaced entries (for a Gini of at most (d + 1) / 3d, past which
    such entries would be negative), the upper by one entry apart from equal others. For two
    groups they coincide: CV = 2 · Gini.
    """
    index = np.asarray(gini, dtype=np.float64)
    return index * np.sqrt(3) * d / np.sqrt(d * d - 1), index * d / np.sqrt(d - 1)


def pq_bound_of_gini(gini: ArrayLike, d: int) -> Any:
    """The greatest PQ(1, 2) of d entries with this Gini index; attained.

    Replaces PQ ≤ Gini of Theorem 3.5, which holds for d ≤ 9 only.
    """
    return pq_of_cv(cv_range_of_gini(gini, d)[1])


def mpd_bound_of_pq(pq: ArrayLike, norm: ArrayLike) -> Any:
    """MPD ≤ ‖w‖₂ √(2 I (2 − I)) with I = PQ(1, 2), attained; `norm` is ‖w‖₂.

    Replaces 2 ‖w‖₂ √(2 I) of Theorem 3.5, and implies 2 ‖w‖₂ √I.
    """
    index = np.asarray(pq, dtype=np.float64)
    return np.asarray(norm) * np.sqrt(2 * index * (2 - index))


def gini_bound_of_mpd(mpd: ArrayLike, total: ArrayLike, d: int) -> Any:
    """Gini ≤ ⌊d²/4⌋ · MPD / (d ‖w‖₁), attained by two levels; `total` is ‖w‖₁.

    Replaces d · MPD / (2 ‖w‖₂) of Theorem 3.5, which is true but never tight.
    """
    return (d * d // 4) * np.asarray(mpd) / (d * np.asarray(total))
