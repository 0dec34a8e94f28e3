"""Scores that a table of counts has in bins, such as "[0.4, 0.5)"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from evenhand._data.evidence import Evidence, are_probabilities, no_probability_note
from evenhand._data.summaries import SCORE_BINS, Source
from evenhand._data.tallies import Tally
from evenhand._errors import InputError
from evenhand._words import plural

NUMBER = r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
SPAN = re.compile(rf"[\[(]?{NUMBER}(?:,|;|-|–|:|\.\.|to){NUMBER}[\])]?")


class Span(NamedTuple):
    """The ends of a bin."""

    low: float
    high: float


@dataclass(frozen=True)
class ScoreBins:
    """The bins of a score, in order; all rows of a bin count as lying at its lower end.

    Cuts at the ends of bins are then exact, and so are the distributions there.
    """

    name: str
    spans: tuple[Span, ...]

    @property
    def range(self) -> tuple[float, float]:
        """The range of possible scores."""
        return self.spans[0].low, self.spans[-1].high

    def check_cut(self, at: float) -> None:
        """Refuse a threshold inside a bin, whose rows could be on either side."""
        for low, high in self.spans:
            if low < at < high:
                raise InputError(
                    f"The threshold {at:g} lies inside the bin from {low:g} to {high:g} of "
                    f"{self.name!r}; pass threshold= at an end of a bin, or y_pred."
                )

    def limited(self, evidence: Evidence) -> Evidence:
        """Drop statistics of the scores themselves, which bins do not determine."""
        sources, notes = dict(evidence.sources), evidence.notes
        low, high = self.range
        losses, bins = sources.pop("losses", None), sources.pop("bins", None)
        if losses is not None and not are_probabilities(low, high):
            notes = (*notes, no_probability_note(low, high, "The score"))
        elif isinstance(bins, Tally) and self._nested():
            sources["bins"] = _without_scores(bins)
        notes = (*notes, self._note(sources))
        return replace(evidence, sources=sources, notes=notes)

    def _nested(self) -> bool:
        """Whether every bin lies within one calibration bin."""
        inner = SCORE_BINS[1:-1]
        return not any(low < edge < high for low, high in self.spans for edge in inner)

    def _note(self, sources: Mapping[str, Source]) -> str:
        left_out = "cross-entropy and calibration errors"
        if "bins" not in sources:
            left_out = "cross-entropy and calibration"
        return (
            f"{self.name!r} was given in {plural(len(self.spans), 'bin')}: distributions are exact "
            "at their ends, rows of one bin are tied in areas under ROC curves, and "
            f"{left_out} were left out."
        )


def read_score_bins(table: Any, name: str) -> tuple[Any, ScoreBins | None]:
    """Replace the labels of bins by their lower ends; a column of numbers stays as it is."""
    import narwhals as nw

    if table.collect_schema()[name].is_numeric():
        return table, None
    lines = table.collect()
    labels = [str(label) for label in lines[name].to_list()]
    spans = {label: _span(label, name) for label in dict.fromkeys(labels)}
    ordered = tuple(sorted(set(spans.values())))
    for lower, upper in pairwise(ordered):
        if upper.low < lower.high:
            raise InputError(
                f"Bins of {name!r} overlap: {lower.low:g} to {lower.high:g}, and {upper.low:g} to "
                f"{upper.high:g}."
            )
    values = np.array([spans[label].low for label in labels])
    column = nw.new_series(name, values, backend=lines.implementation)
    return lines.with_columns(column).lazy(), ScoreBins(name, ordered)


def _span(label: str, name: str) -> Span:
    """Read the label of a bin.

    >>> _span("[0.4, 0.5)", "score"), _span("600-650", "score"), _span("-1 to -.5", "score")
    (Span(low=0.4, high=0.5), Span(low=600.0, high=650.0), Span(low=-1.0, high=-0.5))
    """
    ends = SPAN.fullmatch(label.strip())
    if ends is None or not float(ends[1]) < float(ends[2]):
        raise InputError(
            f"{name!r} holds {label!r}, which is neither a number nor a bin such as '[0.4, 0.5)' "
            "or '0.4-0.5', from a lower to a higher end."
        )
    return Span(float(ends[1]), float(ends[2]))


def _without_scores(bins: Tally) -> Tally:
    sums = {name: values for name, values in bins.sums.items() if name != "score"}
    return replace(bins, sums=sums)
