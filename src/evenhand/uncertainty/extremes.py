"""Bounds for the largest difference between groups, whoever the extreme groups truly are."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.uncertainty.model import Floats
from evenhand.uncertainty.stories import Worlds

SELECTION_ERROR = 0.005  # of leaving out a group that is truly extreme


def mpd_bounds(worlds: Worlds, error: float) -> tuple[float, float]:
    """Lower and upper bound of the worst cell's largest difference."""
    model = worlds.model
    seen = model.expected(model.seen).values
    noise = worlds.around - model.expected(model.lent).values
    cells = [
        _cell(seen[c, ok], noise[:, c][:, ok], error)
        for c, ok in enumerate(~np.isnan(seen) & ~np.isnan(noise).any(axis=0))
        if ok.sum() >= 2
    ]
    if not cells:
        return 0.0, np.inf
    values, scatter, highs = (np.array(part) for part in zip(*cells, strict=True))
    scale = scatter.std(axis=1) + 1e-12
    reach = np.quantile((scatter / scale[:, None]).max(axis=0), 1 - error / 2 + SELECTION_ERROR)
    low = float(max(0.0, (values - reach * scale).max()))
    return low, max(low, float(highs.max()))


def _cell(seen: Floats, noise: Floats, error: float) -> tuple[float, Floats, float]:
    """The observed difference, how noise may have raised it, and an upper bound of the true one."""
    spread = noise.std(axis=0) + 1e-12
    far = np.quantile(np.abs(noise / spread).max(axis=1), 1 - SELECTION_ERROR) * spread
    top = np.flatnonzero(seen + far >= (seen - far).max())
    bottom = np.flatnonzero(seen - far <= (seen + far).min())
    value = float(seen.max() - seen.min())
    raised = noise[:, top].max(axis=1) - noise[:, bottom].min(axis=1)
    return value, raised, _upper(value, noise, top, bottom, spread, error)


def _upper(
    value: float, noise: Floats, top: Any, bottom: Any, spread: Floats, error: float
) -> float:
    """The largest true difference of two groups, all others half-way, that could look so small."""
    high = int(top[np.argmax(spread[top])])
    others = bottom[bottom != high]
    if not len(others):
        others = np.flatnonzero(np.arange(len(spread)) != high)
    low = int(others[np.argmax(spread[others])])
    rest = np.delete(noise, [high, low], axis=1)
    ceiling = rest.max(axis=1) if rest.size else np.full(len(noise), -np.inf)
    floor = rest.min(axis=1) if rest.size else np.full(len(noise), np.inf)

    shown_as = value + max(_step(noise[:, high]), _step(noise[:, low])) / 2

    def could_be(difference: float) -> bool:
        a, b = difference / 2 + noise[:, high], -difference / 2 + noise[:, low]
        shown = np.maximum(np.maximum(a, b), ceiling) - np.minimum(np.minimum(a, b), floor)
        return bool(np.mean(shown <= shown_as + 1e-12) > error / 2)

    least, most = 0.0, value + 6 * float(spread[high] + spread[low])
    for _ in range(30):
        middle = (least + most) / 2
        least, most = (middle, most) if could_be(middle) else (least, middle)
    return most


def _step(column: Floats) -> float:
    """How far apart neighbouring values of a rate are: whole rows make it a lattice."""
    steps = np.diff(np.unique(column.round(12)))
    return float(steps.min()) if len(steps) else 0.0
