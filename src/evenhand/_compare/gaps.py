"""Gaps between groups that differ between two models, independently of a measure.

A measure of many groups gives a weak test of two models, as it does of one (`homogeneity.py`): in a
group of ten rows any model may look very uneven, which makes every difference of two measures
uncertain. So each criterion is tested once: whether the change from one model to the other is the
same in all groups, and so every gap between two of them. The two groups whose gap changes most
clearly are named, with an interval that is corrected for the choice among all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._compare.influences import Influences
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
    """The cell and two groups whose gap changes most clearly, its change, and the p-value."""

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
    gaps: Mapping[tuple[Criterion, int, int], Gap | None],
    confidence: float,
) -> Iterator[Row]:
    """A row for every criterion and two models; p-values adjusted over pairs and criteria."""
    rows: dict[tuple[str, int, int], Row] = {}
    p_values: dict[tuple[str, int, int], float] = {}  # equal hypotheses count once
    for question, of_models in zip(questions, samples, strict=True):
        criterion, favorable = question.criterion, question.settings["favorable"]
        sources = [sample.source for sample in of_models]
        for a, b in combinations(range(len(models)), 2):
            clear = gaps[criterion, a, b]
            if clear is None or (criterion.name, a, b) in rows:
                continue
            first, second = (criterion.table(sources[m], favorable) for m in (a, b))
            widest = 2 * float(np.subtract(*criterion.statistic.bounds[::-1]))  # of two differences
            gap, other_gap = (
                float(table.values[clear.cell, clear.group] - table.values[clear.cell, clear.other])
                for table in (first, second)
            )
            p_values[criterion.statistic.hypothesis, a, b] = clear.p_value
            rows[criterion.name, a, b] = {
                "criterion": criterion.name,
                "statistic": _statistic(criterion, first, clear.cell, favorable),
                "hypothesis": criterion.statistic.hypothesis,
                "model": models[a],
                "other": models[b],
                "cell": show(first.cells[clear.cell]),
                "group": show(first.groups[clear.group]),
                "other_group": show(first.groups[clear.other]),
                "gap": gap,
                "other_gap": other_gap,
                "difference": gap - other_gap,
                "low": max(clear.low, -widest),
                "high": min(clear.high, widest),
                "p_value": clear.p_value,
            }
    adjusted = dict(zip(p_values, holm(list(p_values.values())).tolist(), strict=True))
    for (_, a, b), row in rows.items():
        p_value = adjusted[row.pop("hypothesis"), a, b]
        yield row | {"p_adjusted": p_value, "beyond_chance": bool(p_value <= 1 - confidence)}


def _statistic(criterion: Criterion, table: Table, cell: int, favorable: Label) -> str:
    """The statistic of the cell, in words."""
    parts = [cell_ if isinstance(cell_, tuple) else (cell_,) for cell_ in table.cells]
    labels = dict.fromkeys(label for part in parts for label in part)
    classes = tuple(labels) if len(parts) > 1 else ()
    return with_article(metric_of(criterion.name, table.cells[cell], classes, favorable))


def clearest_gap(
    influences: Influences, first: Table, second: Table, confidence: float
) -> Gap | None:
    """The gap that changes most clearly from one model to the other; None without two groups."""
    rise = (first.values - second.values)[np.isfinite(first.values - second.values)]
    if np.sort(-rise).tolist() < np.sort(rise).tolist():  # both orders of models use the same draws
        gap = clearest_gap(influences.swapped, second, first, confidence)
        return None if gap is None else gap._replace(group=gap.other, other=gap.group)
    by_cell: dict[int, tuple[Tally, Any, float]] = {}
    for cell in reversed(
        range(len(first.values))
    ):  # with two classes the last is the favorable one
        source = influences.changes(cell, first.values[cell] - second.values[cell], first.groups)
        if not any(_mirrored(source, candidate) for candidate, _, _ in by_cell.values()):
            estimates = estimates_of(source, MEAN)
            p_value = homogeneity(source, MEAN, estimates).p_value
            if not np.isnan(p_value):
                by_cell[cell] = source, estimates, p_value
    if not by_cell:
        return None
    p_value = min(1.0, len(by_cell) * min(p for _, _, p in by_cell.values()))
    error, candidates = (1 - confidence) / len(by_cell), []
    for cell, (_, estimates, _) in by_cell.items():
        values, curves = estimates.values[0], estimates.curves[:, 0]
        clear, group, other = _clearest(values, curves)
        # There are k / 2 times as many pairs of k groups as pairs with one of them.
        part = 2 * error / np.isfinite(values).sum()
        pair = compare_values(values, curves, estimates.sizes[0], other, "difference", part)
        ends = float(pair.low[group]), float(pair.high[group])
        candidates.append((clear, Gap(cell, group, other, *ends, p_value)))
    gap = max(candidates, key=lambda candidate: candidate[0])[1]
    return gap._replace(low=min(gap.low, 0.0)) if p_value > 1 - confidence else gap


def _mirrored(source: Tally, other: Tally) -> bool:
    """Whether the rows change as in another cell up to sign, as with two classes."""
    if source.cells.shape != other.cells.shape or (source.cells != other.cells).any():
        return False
    same = np.allclose(source.sums["yhat²"], other.sums["yhat²"])
    return same and np.allclose(abs(source.sums["yhat"]), abs(other.sums["yhat"]))


def _clearest(values: Floats, curves: Floats) -> tuple[float, int, int]:
    """The largest difference of two groups in standard errors, and these groups."""
    below, above = values - curve_at(curves, -1.0), curve_at(curves, 1.0) - values
    error = np.hypot(below[:, None], above)
    differences = np.nan_to_num(ratio(values[:, None] - values, error))
    group, other = np.unravel_index(int(differences.argmax()), differences.shape)
    if group == other:  # all groups change equally
        defined = np.flatnonzero(np.isfinite(values))
        group, other = defined[:2]
    return float(differences.max()), int(group), int(other)
