"""An axis spaced by the square root, for PQ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = (1.0, 2.0, 5.0)  # round ticks
LETTER = 0.033  # of a panel's breadth, in a tick's words


def by_root(axes: Axes, highest: float, which: Literal["x", "y"] = "x") -> None:
    """Space an axis by its square root, from 0, with round ticks.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        What is drawn in.
    highest : float
        Where the axis ends.
    which : {"x", "y"}, default "x"
        The axis.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> by_root(axes, 0.09, "y")
    >>> [float(tick) for tick in axes.get_yticks()]
    [0.0, 0.005, 0.02, 0.05]

    """
    limits, scale = (0, max(highest, 1e-12)), {"functions": (_root, np.square)}
    if which == "x":
        axes.set_xscale("function", **scale)
        axes.set_xlim(*limits)
    else:
        axes.set_yscale("function", **scale)
        axes.set_ylim(*limits)
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_ticks(root_ticks(highest))
    axis.set_major_formatter(lambda value, _: _tick(value))
    axes.minorticks_off()


def _root(values: Any) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(np.maximum(values, 0.0)))


def root_ticks(highest: float) -> list[float]:
    """Round numbers up to the highest, far enough from each other for their digits.

    >>> root_ticks(0.09), root_ticks(0.02)
    ([0.0, 0.005, 0.02, 0.05], [0.0, 0.001, 0.005, 0.01, 0.02])
    """
    if not highest > 0:
        return [0.0]
    power = np.floor(np.log10(highest))
    round_ones = [step * 10**e for e in np.arange(power, power - 4, -1) for step in STEPS[::-1]]
    ticks: list[float] = []
    for value in (float(f"{tick:g}") for tick in round_ones if tick <= highest):
        neighbors = [0.0, *ticks[-1:]]
        if all(
            abs(np.sqrt(value) - np.sqrt(tick)) >= _room(value, tick, highest) for tick in neighbors
        ):
            ticks.append(value)
    return [0.0, *ticks[::-1]]


def _room(first: float, second: float, highest: float) -> float:
    """The least distance of two ticks, on an axis spaced by the root."""
    letters = sum(len(_tick(value)) for value in (first, second)) / 2
    return float(np.sqrt(highest)) * max(0.18, 0.03 + LETTER * letters)


def _tick(value: float) -> str:
    """The words of a tick.

    >>> _tick(0.00002)
    '2e-5'
    """
    return f"{value:g}".replace("e-0", "e-")


def is_by_root(question: str) -> bool:
    """Whether a question's axis is spaced by the root, as for PQ.

    >>> is_by_root("average_odds.pq"), is_by_root("average_odds.gini")
    (True, False)
    """
    return question.partition(" ")[0].endswith(".pq")
