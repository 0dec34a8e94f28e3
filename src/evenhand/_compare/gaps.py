"""Gaps between groups that are wider by one model than by another, whatever the measure.

A measure of many groups is a poor test of two models, as it is of one (`homogeneity.py`): any of
them may treat ten rows very unevenly, so ten rows beside thousands make every difference of two
measures uncertain. So each criterion is tested once: whether what changes from one model to the
other is the same in all groups, and with it every gap between two of them. The two groups whose gap
changes most clearly are named, with an interval that allows for all pairs that might have been.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._compare.moved import Moved
from evenhand._compare.tables import Row
from evenhand._data.groups import show
from evenhand._data.tallies import Tally
from evenhand._uncertainty.curves import curve_at
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.homogeneity import holm, homogeneity
from evenhand._uncertainty.paired import Sample
from evenhand._uncertainty.reference import compare_values
from evenhand.criteria import CRITERIA, Criterion
from evenhand.criteria.compared import metric_of, with_article
from evenhand.criteria.questions import Question
from evenhand.statistics import Table
from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]

MEAN = CRITERIA["weak_parity"]
PAIR = ("criterion", "statistic", "model", "other", "cell", "group", "other_group")
ENDS = ("gap", "other_gap", "difference", "low", "high")
GAPS = (*PAIR, *ENDS, "p_value", "p_adjusted", "beyond_chance")


class Gap(NamedTuple):
    """The cell and two groups whose gap changes most clearly, by how much, and if any gap does."""

    cell: int
    group: int
    other: int
    low: float
    high: float
    p_value: float


def gap_rows(
    models: Sequence[str],
    questions: Sequence[Question],
    samples: Sequence[Sequence[Sample]],
    found: Mapping[tuple[Criterion, int, int], Gap | None],
    confidence: float,
) -> Iterator[Row]:
    """A row for every criterion and two models; p-values adjusted over pairs and criteria."""
    rows: dict[tuple[str, int, int], Row] = {}
    asked: dict[tuple[str, int, int], float] = {}  # equal hypotheses count once
    for question, of in zip(questions, samples, strict=True):
        criterion, favorable = question.criterion, question.settings["favorable"]
        sources = [sample.source for sample in of]
        for a, b in combinations(range(len(models)), 2):
            clear = found[criterion, a, b]
            if clear is None or (criterion.name, a, b) in rows:
                continue
            one, two = (criterion.table(sources[m], favorable) for m in (a, b))
            widest = 2 * float(np.subtract(*criterion.statistic.bounds[::-1]))  # of two differences
            gap, other_gap = (
                float(each.values[clear.cell, clear.group] - each.values[clear.cell, clear.other])
                for each in (one, two)
            )
            asked[criterion.statistic.hypothesis, a, b] = clear.p_value
            rows[criterion.name, a, b] = {
                "criterion": criterion.name,
                "statistic": _statistic(criterion, one, clear.cell, favorable),
                "hypothesis": criterion.statistic.hypothesis,
                "model": models[a],
                "other": models[b],
                "cell": show(one.cells[clear.cell]),
                "group": show(one.groups[clear.group]),
                "other_group": show(one.groups[clear.other]),
                "gap": gap,
                "other_gap": other_gap,
                "difference": gap - other_gap,
                "low": max(clear.low, -widest),
                "high": min(clear.high, widest),
                "p_value": clear.p_value,
            }
    adjusted = dict(zip(asked, holm(list(asked.values())).tolist(), strict=True))
    for (_, a, b), row in rows.items():
        p_value = adjusted[row.pop("hypothesis"), a, b]
        yield row | {"p_adjusted": p_value, "beyond_chance": bool(p_value <= 1 - confidence)}


def _statistic(criterion: Criterion, table: Table, cell: int, favorable: Label) -> str:
    """What is compared in the cell, in words."""
    parts = [each if isinstance(each, tuple) else (each,) for each in table.cells]
    labels = dict.fromkeys(label for part in parts for label in part)
    classes = tuple(labels) if len(parts) > 1 else ()
    return with_article(metric_of(criterion.name, table.cells[cell], classes, favorable))


def clearest_gap(moved: Moved, one: Table, two: Table, confidence: float) -> Gap | None:
    """The gap that changes most clearly from one model to the other; None without two groups."""
    rise = (one.values - two.values)[np.isfinite(one.values - two.values)]
    if np.sort(-rise).tolist() < np.sort(rise).tolist():  # the same draws in either order
        gap = clearest_gap(moved.swapped, two, one, confidence)
        return None if gap is None else gap._replace(group=gap.other, other=gap.group)
    known: dict[int, tuple[Tally, Any, float]] = {}
    for cell in reversed(range(len(one.values))):  # of two classes the last is the favorable one
        source = moved.changes(cell, one.values[cell] - two.values[cell], one.groups)
        if not any(_mirrored(source, each) for each, _, _ in known.values()):
            estimates = estimates_of(source, MEAN)
            p_value = homogeneity(source, MEAN, estimates).p_value
            if not np.isnan(p_value):
                known[cell] = source, estimates, p_value
    if not known:
        return None
    p_value = min(1.0, len(known) * min(p for _, _, p in known.values()))
    error, found = (1 - confidence) / len(known), []
    for cell, (_, estimates, _) in known.items():
        values, curves = estimates.values[0], estimates.curves[:, 0]
        clear, group, other = _clearest(values, curves)
        # All pairs of k groups are k / 2 times as many as those with one of them.
        part = 2 * error / np.isfinite(values).sum()
        pair = compare_values(values, curves, estimates.sizes[0], other, "difference", part)
        ends = float(pair.low[group]), float(pair.high[group])
        found.append((clear, Gap(cell, group, other, *ends, p_value)))
    gap = max(found, key=lambda each: each[0])[1]
    return gap._replace(low=min(gap.low, 0.0)) if p_value > 1 - confidence else gap


def _mirrored(source: Tally, other: Tally) -> bool:
    """Whether the rows change as those of another cell: of two classes one says what both do."""
    if source.cells.shape != other.cells.shape or (source.cells != other.cells).any():
        return False
    same = np.allclose(source.sums["yhat²"], other.sums["yhat²"])
    return same and np.allclose(abs(source.sums["yhat"]), abs(other.sums["yhat"]))


def _clearest(values: Floats, curves: Floats) -> tuple[float, int, int]:
    """How many standard errors the two groups are apart that are the most, and which they are."""
    below, above = values - curve_at(curves, -1.0), curve_at(curves, 1.0) - values
    error = np.hypot(below[:, None], above)
    apart = np.nan_to_num(ratio(values[:, None] - values, error))
    group, other = np.unravel_index(int(apart.argmax()), apart.shape)
    if group == other:  # none is: all groups change alike
        seen = np.flatnonzero(np.isfinite(values))
        group, other = seen[:2]
    return float(apart.max()), int(group), int(other)
