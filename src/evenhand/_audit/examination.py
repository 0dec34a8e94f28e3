"""Examine the evidence: every question by every measure, with uncertainty, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.evidence import Evidence
from evenhand._audit.finding import Finding, GroupValues, Pair
from evenhand._audit.tasks import Ask
from evenhand._columns import Label
from evenhand._tally import Tally
from evenhand._uncertainty import Asked, Assessment, assess
from evenhand._uncertainty.models import effective_rows
from evenhand._uncertainty.multiplicity import holm, rate_bounds
from evenhand.criteria import Reading
from evenhand.criteria.criterion import class_of
from evenhand.statistics import P, Ratio, Statistic
from evenhand.statistics.forms import one_against_rest


def contributions(values: Floats, measure: str) -> Floats:
    """The share of each group in the inequality of a vector; NaN where it was not observed.

    Gini: the share of the differences that a group takes part in. MPD and shortfall: the extreme
    groups, in halves. PQ, and any other measure: the share of the squared deviations.

    >>> contributions(np.array([0.1, 0.1, 0.4]), "mpd").tolist()
    [0.25, 0.25, 0.5]
    """
    shares = np.full(values.shape, np.nan)
    observed = ~np.isnan(values)
    if observed.any():
        weights = SHARES.get(measure, squared_deviations)(values[observed])
        total = weights.sum()
        shares[observed] = weights / total if total > 0 else 0.0
    return shares


def squared_deviations(values: Floats) -> Floats:
    """Each entry's part of the variance."""
    return np.asarray((values - values.mean()) ** 2)


def differences(values: Floats) -> Floats:
    """Each entry's part of all the pairwise differences, from the sorted entries."""
    order = np.argsort(values)
    ordered = values[order]
    below = np.cumsum(ordered) - ordered
    above = ordered.sum() - below - ordered
    rank = np.arange(len(values))
    parts = np.empty_like(values)
    parts[order] = ordered * rank - below + above - ordered * (len(values) - 1 - rank)
    return np.maximum(parts, 0.0)


def extremes(values: Floats) -> Floats:
    """Half for the highest entries, half for the lowest."""
    high, low = values == values.max(), values == values.min()
    if high.all():
        return np.zeros(len(values))
    return np.asarray(high / (2 * high.sum()) + low / (2 * low.sum()))


SHARES: dict[str, Callable[[Floats], Floats]] = {
    "gini": differences,
    "mpd": extremes,
    "shortfall": extremes,
}


Floats = NDArray[np.float64]


def group_bounds(statistic: Statistic, source: Any, sure: Assessment) -> tuple[Floats, Floats]:
    """Lower and upper bounds (cells, groups); NaN where nothing was observed."""
    reading = sure.readings[0]
    sizes = _sizes(statistic, source, reading) if _is_rate(statistic) else None
    if sizes is None:
        return sure.by_group
    unseen = np.isnan(reading.table)
    bounds = rate_bounds(reading.table, sizes, 1 - sure.confidence)
    low, high = (np.where(unseen, np.nan, one) for one in bounds)
    return low, high


def support(statistic: Statistic, source: Any, reading: Reading, of: str = "rows") -> Floats | None:
    """Rows that each value (cells, groups) was computed from, where the statistic is a ratio."""
    if not isinstance(source, Tally) or not isinstance(statistic, P | Ratio):
        return None
    if isinstance(statistic, P):
        axes = [statistic.given, "group"] if statistic.given else ["group"]
        counts = source.table(*axes, of=of).reshape(-1, len(reading.groups))
        asked = {class_of(cell) for cell in reading.cells}
        kept = [label for label in source.labels(statistic.event) if label in asked]
        return np.repeat(counts, len(kept), axis=0)
    outcomes = one_against_rest(source.table("y", "yhat", "group", of=of))
    below = sum(factor * outcomes[name] for name, factor in statistic.denominator.items())
    at = [i for i, label in enumerate(source.labels("y")) if label in reading.cells]
    return np.asarray(below)[at] if statistic.over else np.asarray(below)


def _is_rate(statistic: Statistic) -> bool:
    """Whether it is a share of rows: what is above the line is part of what is below it."""
    if isinstance(statistic, P):
        return True
    if not isinstance(statistic, Ratio):
        return False
    above, below = statistic.numerator, statistic.denominator
    part = below == {"all": 1} or above.items() <= below.items()
    return part and {*above.values(), *below.values()} == {1}


def _sizes(statistic: Statistic, source: Any, reading: Reading) -> Floats | None:
    """How many equally weighted rows vary as much as those of each value."""
    if not isinstance(source, Tally) or "weight" not in source.sums:
        return support(statistic, source, reading)
    weight = support(statistic, source, reading, of="weight")
    squares = support(statistic, source, reading, of="weight²")
    assert weight is not None
    assert squares is not None
    return effective_rows(weight, squares)


WORKERS = 2
FAIR_WORLDS = 2000
DISTRIBUTION, CALIBRATION = "steps", "bins"  # which draw the most counts


class Examined(NamedTuple):
    """The findings, and the groups' values by criterion."""

    findings: tuple[Finding, ...]
    by_group: tuple[GroupValues, ...]


class Precision(NamedTuple):
    """How sure the intervals are, how many fair worlds are drawn, and from which seed."""

    confidence: float
    fair_worlds: int
    seed: int


def examine(evidence: Evidence, asked: Sequence[Ask], precision: Precision) -> Examined:
    """Ask everything that the evidence can answer."""
    pool = ThreadPoolExecutor(WORKERS)
    jobs = [(batch, pool.submit(_ask, evidence, batch, precision)) for batch in _batches(asked)]
    answers: dict[int, tuple[list[Finding], GroupValues]] = {}
    try:
        for batch, job in jobs:
            answers |= zip(batch, job.result(), strict=True)
    finally:
        pool.shutdown(cancel_futures=True)  # so that Ctrl-C waits for no question not yet begun
    findings = [finding for i in range(len(asked)) for finding in answers[i][0]]
    adjusted = holm([finding.p_value for finding in findings])
    settled = tuple(
        replace(finding, p_adjusted=float(p)) for finding, p in zip(findings, adjusted, strict=True)
    )
    return Examined(settled, tuple(answers[i][1] for i in range(len(asked))))


def _batches(asked: Sequence[Ask]) -> list[dict[int, Ask]]:
    """Questions that share the worlds they draw, those that take longest first."""
    together = {i: ask for i, ask in enumerate(asked) if _needs(ask) == DISTRIBUTION}
    alone = [i for i in range(len(asked)) if i not in together]
    alone.sort(key=lambda i: _needs(asked[i]) != CALIBRATION)
    return [one for one in (together, *({i: asked[i]} for i in alone)) if one]


def _needs(ask: Ask) -> str:
    return ask.criterion.statistic.needs


def options_of(evidence: Evidence, ask: Ask) -> dict[str, Any]:
    """The favorable class where the question is about one, and exp where means are negative."""
    options: dict[str, Any] = {}
    if ask.criterion.one_class and evidence.task == "binary":
        options["favorable"] = evidence.favorable
    if ask.criterion.statistic.needs == "moments":
        values = ask.criterion.table(evidence.sources["moments"]).values
        options |= {"transform": "exp"} if np.nanmin(values) < 0 else {}
    return options


def _ask(
    evidence: Evidence, batch: dict[int, Ask], precision: Precision
) -> list[tuple[list[Finding], GroupValues]]:
    asked = list(batch.values())
    options = [options_of(evidence, ask) for ask in asked]
    found = assess(
        evidence.sources[_needs(asked[0])],
        [Asked(ask.criterion, ask.measures, own) for ask, own in zip(asked, options, strict=True)],
        confidence=precision.confidence,
        fair_worlds=precision.fair_worlds,
        random_state=[precision.seed, min(batch)],
    )
    return [
        (
            [_finding(ask, sure, i, evidence.favorable) for i in range(len(ask.measures))],
            _group_values(evidence, ask, sure, own),
        )
        for ask, sure, own in zip(asked, found, options, strict=True)
    ]


def _finding(ask: Ask, sure: Assessment, at: int, favorable: Label) -> Finding:
    reading, noise, bounds = sure.readings[at], sure.chances[at], sure.bounds[at]
    worst, vector = _worst(reading, favorable)
    return Finding(
        criterion=ask.name,
        measure=reading.measure,
        aggregate=reading.aggregate,
        transform=reading.transform,
        value=bounds.value,
        estimate=bounds.estimate,
        low=bounds.low,
        high=bounds.high,
        floor=noise.floor,
        chance_high=noise.high,
        p_value=noise.p_value,
        worst_cell=worst,
        pair=_pair(reading, vector),
        cells=reading.cells if len(reading.cell_values) else (),
        cell_values=reading.cell_values,
        contributions=contributions(vector, reading.measure),
        left_out=reading.left_out,
    )


def _worst(reading: Reading, favorable: Label) -> tuple[Label, np.ndarray[Any, Any]]:
    """The cell with the largest inequality, and the groups' values there.

    By MPD two classes are equally uneven; then it is the favorable one.
    """
    if not len(reading.cells) or np.isnan(reading.cell_values).all():
        return None, np.full(len(reading.groups), np.nan)
    highest = np.nanmax(reading.cell_values)
    tied = [i for i, one in enumerate(reading.cell_values) if np.isclose(one, highest, rtol=1e-9)]
    at = next((i for i in tied if class_of(reading.cells[i]) == favorable), tied[0])
    return reading.cells[at], reading.table[at]


def _pair(reading: Reading, vector: np.ndarray[Any, Any]) -> Pair | None:
    if np.isnan(vector).all():
        return None
    high, low = int(np.nanargmax(vector)), int(np.nanargmin(vector))
    ends = (reading.groups[high], float(vector[high]), reading.groups[low], float(vector[low]))
    return Pair(*ends)


def _group_values(
    evidence: Evidence, ask: Ask, sure: Assessment, options: dict[str, Any]
) -> GroupValues:
    reading = sure.readings[0]
    source = evidence.sources[ask.criterion.statistic.needs]
    low = high = np.full(reading.table.shape, np.nan)
    overall = np.full(len(reading.cells), np.nan)
    if _needs(ask) != DISTRIBUTION:
        low, high = group_bounds(ask.criterion.statistic, source, sure)
        everyone = np.zeros(len(reading.groups), dtype=np.intp)
        pooled = source.regrouped(everyone, ("everyone",))
        overall = ask.criterion.table(pooled, options.get("favorable")).values[:, 0]
    return GroupValues(
        criterion=ask.name,
        formula=ask.criterion.formula,
        statistic=ask.criterion.statistic.formula,
        is_not=ask.criterion.is_not,
        range=ask.criterion.range,
        bounds=ask.criterion.statistic.bounds,
        cells=reading.cells,
        groups=reading.groups,
        values=reading.table,
        low=low,
        high=high,
        overall=overall,
        rows=support(ask.criterion.statistic, source, reading),
    )
