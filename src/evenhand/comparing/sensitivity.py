"""One choice at a time made otherwise: what becomes of values, ranks and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand import measures
from evenhand.comparing.evidence import Evidence, Sources
from evenhand.comparing.granularity import Coarser, views
from evenhand.comparing.noise import enough, noise
from evenhand.comparing.question import Question
from evenhand.comparing.ranking import kendall, ranks
from evenhand.comparing.tidy import Tidy, table
from evenhand.statistics import F
from evenhand.uncertainty.multiplicity import holm, verdict

Floats = NDArray[np.float64]

ASKED = ("criterion", "varied", "setting", "model")
COLUMNS = (*ASKED, "value", "rank", "p_value", "verdict", "tau", "best", "best_changes")
ORDERS = (
    *((round(0.1 * k, 1), 2) for k in range(1, 10)),
    (1, 2),
    *((1, round(1 + 0.1 * k, 1)) for k in range(1, 16) if k != 10),
)


@dataclass(frozen=True, eq=False)
class Setting:
    """A question asked in one way, and which choice that was."""

    varied: str
    name: str
    question: Question


def settings_of(
    base: Question,
    asked: Sequence[Question],
    orders: Sequence[tuple[float, float]] | None,
    transforms: Sequence[str],
    aggregates: Sequence[str],
) -> list[Setting]:
    """The default first, then each choice made otherwise, where it makes a difference."""
    found = [Setting("default", base.measure_name, base)]
    others = dict.fromkeys(one.measure for one in asked if one.measure != base.measure)
    for measure in others:
        other = base.with_options(measure=measure)
        found.append(Setting("measure", other.measure_name, other))
    for p, q in ORDERS if orders is None else orders:
        other = base.with_options(measure=partial(measures.pq, p=p, q=q))
        found.append(Setting("orders", other.measure_name, other))
    if measures.is_scale_free(measures.resolve(base.measure)):
        found += [Setting("transform", t, base.with_options(transform=t)) for t in transforms]
    if base.criterion.statistic.over and not isinstance(base.criterion.statistic, F):
        found += [Setting("aggregate", a, base.with_options(aggregate=a)) for a in aggregates]
    return found


def tabulated(
    models: tuple[str, ...],
    evidence: Evidence,
    settings: Sequence[Sequence[Setting]],
    coarser: tuple[int, Mapping[str, Coarser] | None],
    drawing: tuple[int, Any],
    kind: str,
) -> Tidy:
    """A row for every criterion, setting and model."""
    sources = evidence.observed({one[0].question.needs for one in settings})
    wider = [
        (view.name, {need: tuple(map(view.of, found)) for need, found in sources.items()})
        for view in views(evidence.whom.labels, evidence.whom.names, *coarser)
    ]
    rows: list[dict[str, Any]] = []
    for one in settings:
        base = one[0].question
        default = base.values_if_any(sources)
        asked = [(setting, sources) for setting in one]
        asked += [(Setting("groups", name, base), regrouped) for name, regrouped in wider]
        for setting, found in asked:
            rows += _rows(models, setting, found, default, drawing)
    return table(rows, COLUMNS, kind)


def _rows(
    models: tuple[str, ...],
    setting: Setting,
    sources: Sources,
    default: Floats,
    drawing: tuple[int, Any],
) -> Iterator[dict[str, Any]]:
    values = setting.question.values_if_any(sources)
    p_values = _p_values(setting.question, sources, values, drawing)
    best, changed = _best(models, values), _best(models, values) != _best(models, default)
    tau = float(kendall(values, default)) if len(models) > 2 else np.nan
    rows = zip(
        models, values.tolist(), ranks(values).tolist(), p_values, holm(p_values), strict=True
    )
    for model, value, place, p_value, adjusted in rows:
        yield {
            "criterion": setting.question.criterion.name,
            "varied": setting.varied,
            "setting": setting.name,
            "model": model,
            "value": value,
            "rank": place,
            "p_value": p_value,
            "verdict": verdict(value, float(adjusted)),
            "tau": tau,
            "best": best,
            "best_changes": changed,
        }


def _p_values(
    question: Question, sources: Sources, values: Floats, drawing: tuple[int, Any]
) -> list[float]:
    if not drawing[0] or np.isnan(values).any():
        return [np.nan] * len(values)
    replicates = enough(drawing[0], len(values))
    return [one.p_value for one in noise(question, sources, replicates, drawing[1])]


def _best(models: tuple[str, ...], values: Floats) -> str:
    if np.isnan(values).all():
        return ""
    places = ranks(values)
    return ", ".join(models[m] for m in np.flatnonzero(places == places.min()))
