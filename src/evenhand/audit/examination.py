"""Examine the evidence: every question by every measure, with uncertainty, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from evenhand.audit.contributions import contributions
from evenhand.audit.evidence import Evidence
from evenhand.audit.finding import Finding, GroupValues, Pair
from evenhand.audit.group_bounds import group_bounds, support
from evenhand.audit.tasks import Ask
from evenhand.columns import Label
from evenhand.criteria import Reading
from evenhand.criteria.criterion import class_of
from evenhand.uncertainty import Asked, Assessment, assess
from evenhand.uncertainty.multiplicity import holm

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
    """The favourable class where the question is about one, and exp where means are negative."""
    options: dict[str, Any] = {}
    if ask.criterion.one_class and evidence.task == "binary":
        options["favourable"] = evidence.favourable
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
            [_finding(ask, sure, i, evidence.favourable) for i in range(len(ask.measures))],
            _group_values(evidence, ask, sure, own),
        )
        for ask, sure, own in zip(asked, found, options, strict=True)
    ]


def _finding(ask: Ask, sure: Assessment, at: int, favourable: Label) -> Finding:
    reading, noise, bounds = sure.readings[at], sure.chances[at], sure.bounds[at]
    worst, vector = _worst(reading, favourable)
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


def _worst(reading: Reading, favourable: Label) -> tuple[Label, np.ndarray[Any, Any]]:
    """The cell with the largest inequality, and the groups' values there.

    By MPD two classes are equally uneven; then it is the favourable one.
    """
    if not len(reading.cells) or np.isnan(reading.cell_values).all():
        return None, np.full(len(reading.groups), np.nan)
    highest = np.nanmax(reading.cell_values)
    tied = [i for i, one in enumerate(reading.cell_values) if np.isclose(one, highest, rtol=1e-9)]
    at = next((i for i in tied if class_of(reading.cells[i]) == favourable), tied[0])
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
        overall = ask.criterion.table(pooled, options.get("favourable")).values[:, 0]
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
