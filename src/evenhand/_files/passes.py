"""Progress of counting files, from DuckDB's progress in its current query."""

from __future__ import annotations

from collections.abc import Sequence

LABELS = (0.3, 0.7)  # a look over the numbers, and a group-by
SCORES = (0.1, 0.15, 0.75)  # and another one in bins of the score
FALL = 5.0  # percent that a query never goes back by, so that this is another one


class Passes:
    """Progress over several passes over the rows, each with its own share of the time.

    >>> passes = Passes(LABELS)
    >>> [round(passes.done(percent), 2) for percent in (-1, 50, 100, -1, 10, 49)]
    [0.0, 0.15, 0.3, 0.3, 0.44, 0.99]
    """

    def __init__(self, shares: Sequence[float]) -> None:
        self.shares = tuple(shares)
        self._at, self._last, self._reached = 0, 0.0, 0.0

    def done(self, percent: float) -> float:
        """The share of all passes, at this progress of the current query; −1 between queries."""
        if percent < 0:
            return self._reached
        if percent < self._last - FALL:
            self._at = min(self._at + 1, len(self.shares) - 1)
        self._last = percent
        end = 100.0 if self._at == 0 else 50.0  # a group-by has read all rows at half of its work
        part = min(percent / end, 1.0)
        reached = sum(self.shares[: self._at]) + self.shares[self._at] * part
        self._reached = max(self._reached, reached)
        return self._reached
