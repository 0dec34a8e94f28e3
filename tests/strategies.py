"""Random tables of predictions, for law tests."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st


class Rows(NamedTuple):
    y_true: np.ndarray
    y_pred: np.ndarray
    group: np.ndarray
    weight: np.ndarray


@st.composite
def classified(draw, classes=4, groups=5, most=60):
    """Rows with up to so many classes and groups, and weights that are small whole numbers."""
    rows = draw(st.integers(1, most))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    k, g = draw(st.integers(1, classes)), draw(st.integers(1, groups))
    names = np.array([f"group {i}" for i in range(g)])
    return Rows(
        rng.integers(0, k, rows),
        rng.integers(0, k, rows),
        names[rng.integers(0, g, rows)],
        rng.integers(1, 4, rows).astype(float),
    )


def predictions(seed=0, rows=400, classes=3, groups=4):
    """Rows in which group, truth and prediction depend on each other."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, rows)
    y_true = (classes * rng.random(rows) ** (1 + 0.2 * group)).astype(int)
    y_pred = np.where(rng.random(rows) < 0.7, y_true, rng.integers(0, classes, rows))
    return Rows(y_true, y_pred, np.array([*"abcdefghij"])[group], rng.random(rows))
