"""The values that transported predictions may take, and where a score stands among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Choice = int | Literal["exact"]


@dataclass(frozen=True, eq=False)
class Support:
    """Values in ascending order; with `edges`, each is the centre of a bin between two edges.

    Without edges the values are all the scores seen at fit. Scores beyond the outer edges belong
    to the outer bins.

    >>> grid = Support.bins(0.0, 1.0, 4)
    >>> grid.points, grid.span(np.array([0.3, 7.0]))
    (array([0.125, 0.375, 0.625, 0.875]), (array([1, 3]), array([2, 4])))
    """

    points: Floats
    edges: Floats | None = None

    @classmethod
    def bins(cls, low: float, high: float, count: int) -> Support:
        """Bins of equal width over a range."""
        edges = np.linspace(low, high, count + 1)
        return cls((edges[1:] + edges[:-1]) / 2, edges)

    @classmethod
    def of(cls, scores: Floats, choice: Choice, bounds: tuple[float, float] | None) -> Support:
        """Bins over the bounds (or the scores' own range), or exactly the scores."""
        if choice == "exact":
            return cls(np.unique(scores if bounds is None else np.clip(scores, *bounds)))
        if not isinstance(choice, int | np.integer) or choice < 1:
            raise ValueError(f"support is a number of bins or 'exact', not {choice!r}.")
        low, high = (scores.min(), scores.max()) if bounds is None else bounds
        if bounds is not None and not low < high:
            raise ValueError(f"bounds are (low, high) with low < high; they are {bounds}.")
        return cls.bins(float(low), float(high), int(choice)) if low < high else cls(scores[:1])

    def __len__(self) -> int:
        return len(self.points)

    def span(self, scores: Floats) -> tuple[Codes, Codes]:
        """How many values lie below each score, and how many once its own is counted.

        The two agree for a score that is not a value: an unseen one, where there are no bins.
        """
        if self.edges is None:
            inside = np.clip(scores, self.points[0], self.points[-1])
            lower, upper = (np.searchsorted(self.points, inside, side) for side in SIDES)
            return lower, upper
        lower = np.searchsorted(self.edges[1:-1], scores, side="right")
        return lower, lower + 1

    def place(self, scores: Floats) -> Floats:
        """How far a score lies into its bin, above 0, up to 1; a half where there are no bins."""
        if self.edges is None:
            return np.full(len(scores), 0.5)
        lower, upper = self.span(scores)
        left, right = self.edges[lower], self.edges[upper]
        return np.clip((scores - left) / (right - left), 1e-9, 1.0)

    def histograms(self, scores: Floats, codes: Codes, weight: Floats, groups: int) -> Floats:
        """The weight of every group (a row) at every value (a column)."""
        cell = codes * len(self) + self.span(scores)[1] - 1
        cells = np.bincount(cell, weight, minlength=groups * len(self))
        return np.asarray(cells, dtype=np.float64).reshape(groups, len(self))


SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
