"""The input of standards from an audit: people by group, selected ones, scores, and segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._errors import InputError

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores in ascending order, with the group and the number of people of each."""

    values: Floats
    codes: NDArray[Any]
    counts: Counts
    groups: int

    @property
    def rows(self) -> Counts:
        """People with a score, by group."""
        return self._by_group(np.ones(len(self.values), dtype=bool))

    @property
    def median(self) -> float:
        """The overall median; for an even number, the mean of the middle two."""
        ends = np.cumsum(self.counts)
        middle = (int(ends[-1]) - 1) // 2, int(ends[-1]) // 2
        return float(np.mean([self.values[np.searchsorted(ends, at + 1)] for at in middle]))

    def above(self, cut: float, *, inclusive: bool = False) -> Counts:
        """Number in each group who score above the cut, or at least it if inclusive."""
        return self._by_group(self.values >= cut if inclusive else self.values > cut)

    def at(self, score: float) -> int:
        """Number of people with exactly this score."""
        return int(self.counts[self.values == score].sum())

    def _by_group(self, chosen: NDArray[np.bool_]) -> Counts:
        totals = np.bincount(self.codes[chosen], self.counts[chosen], self.groups)
        return np.asarray(np.rint(totals), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Segments:
    """The selected and all people, by segment and group."""

    labels: tuple[Label, ...]
    hits: Counts
    rows: Counts


@dataclass(frozen=True, eq=False)
class Sample:
    """People by the groups of some columns, with decisions, if known.

    If decisions are classes without a favorable one, `classes` counts each.
    """

    columns: tuple[str, ...]
    groups: tuple[Label, ...]
    rows: Counts
    hits: Counts | None = None
    scores: Scores | None = None
    segments: Segments | None = None
    classes: Mapping[Label, Counts] = field(default_factory=dict)

    def without(self, left_out: NDArray[np.bool_]) -> Sample:
        """The sample without some groups."""
        keep = np.flatnonzero(~left_out)
        segments = self.segments
        if segments is not None:
            segments = replace(segments, hits=segments.hits[:, keep], rows=segments.rows[:, keep])
        return Sample(
            self.columns,
            tuple(self.groups[i] for i in keep),
            self.rows[keep],
            None if self.hits is None else self.hits[keep],
            None if self.scores is None else _kept(self.scores, keep),
            segments,
            {label: hits[keep] for label, hits in self.classes.items()},
        )


@dataclass(frozen=True, eq=False)
class Subject:
    """An audit as input of standards: sensitive columns, samples by columns, and the document."""

    columns: tuple[str, ...]
    samples: Mapping[tuple[str, ...], Sample]
    document: Mapping[str, Any]
    favorable: str | None
    confidence: float
    weighted: bool

    def sample(self, *columns: str) -> Sample:
        """The people by these columns."""
        for order in (columns, columns[::-1]):
            if order in self.samples:
                return self.samples[order]
        raise InputError(
            f"The audit has no groups by {' × '.join(columns)}; it has "
            f"{', '.join(' × '.join(names) for names in self.samples)}. Audit both columns "
            "together, with depth=2."
        )


def _kept(scores: Scores, keep: NDArray[np.intp]) -> Scores:
    places = np.full(scores.groups, -1)
    places[keep] = np.arange(len(keep))
    codes = places[scores.codes]
    return Scores(
        scores.values[codes >= 0], codes[codes >= 0], scores.counts[codes >= 0], len(keep)
    )
