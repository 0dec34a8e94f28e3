"""One-at-a-time sensitivity of values, ranks and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand import measures
from evenhand._columns.bins import Bin
from evenhand._columns.codes import Label, positions, union
from evenhand._columns.encoding import floats
from evenhand._compare.evidence import Evidence, Sources
from evenhand._compare.question import assessed, unevenness, values_if_any
from evenhand._compare.ranking import kendall, ranks
from evenhand._compare.tables import Row
from evenhand._data.summaries import Source
from evenhand._errors import InputError, InputTypeError
from evenhand._uncertainty.homogeneity import holm, verdict
from evenhand.criteria.questions import Question

Coarser = Callable[[Label], Label]


@dataclass(frozen=True, eq=False)
class View:
    """A coarser grouping: its name, and the new group of each group."""

    name: str
    target: NDArray[np.intp]
    labels: tuple[Label, ...]

    def regroup(self, source: Source) -> Source:
        """The tally or distribution of the coarser groups, without counting rows again."""
        return source.regrouped(self.target, self.labels)


def views(
    labels: tuple[Label, ...],
    names: tuple[str, ...],
    depth: int,
    groupings: Mapping[str, Coarser] | None = None,
) -> Iterator[View]:
    """Columns alone and up to `depth` together, merged bins, and groupings of the caller."""
    for size in range(1, min(depth, len(names) - 1) + 1):
        for places in combinations(range(len(names)), size):
            yield _view(" × ".join(names[i] for i in places), labels, partial(_kept, names, places))
    for i, name in enumerate(names):
        bins = [
            part for part in union(_parts(label, names)[i] for label in labels) if _is_bin(part)
        ]
        for wider in _widened(bins):
            called = f"{name} in {len(set(wider.values()))} bins"
            yield _view(called, labels, partial(_renamed, names, i, wider))
    for name, coarser in (groupings or {}).items():
        if not callable(coarser):
            raise InputTypeError(f"groupings[{name!r}] is a function of a label, not {coarser!r}.")
        yield _view(name, labels, coarser)


def _view(name: str, labels: tuple[Label, ...], coarser: Coarser) -> View:
    new_labels = [coarser(label) for label in labels]
    distinct = union(new_labels)
    return View(name, positions(new_labels, distinct), distinct)


def _parts(label: Label, names: tuple[str, ...]) -> tuple[Label, ...]:
    """The label's part in each column; merged groups have none."""
    if len(names) > 1 and isinstance(label, tuple):
        return label
    return (label,) * len(names)


def _kept(names: tuple[str, ...], places: tuple[int, ...], label: Label) -> Label:
    if not isinstance(label, tuple):
        return label
    parts = tuple(_parts(label, names)[i] for i in places)
    return parts[0] if len(parts) == 1 else parts


def _renamed(
    names: tuple[str, ...], place: int, wider: Mapping[Label, Label], label: Label
) -> Label:
    parts = list(_parts(label, names))
    if parts[place] not in wider:
        return label
    parts[place] = wider[parts[place]]
    return parts[0] if len(names) == 1 else tuple(parts)


def _is_bin(part: Label) -> bool:
    return isinstance(part, Bin)


def _widened(bins: list[Any]) -> Iterator[dict[Label, Label]]:
    """Neighboring bins merged two by two, then four by four, down to two bins."""
    width = 2
    while len(bins) > width:
        starts = [i - i % width for i in range(len(bins))]
        ends = [min(start + width, len(bins)) - 1 for start in starts]
        wide = [
            Bin(bins[a].low, bins[b].high, bins[a].lowest)
            for a, b in zip(starts, ends, strict=True)
        ]
        yield dict(zip(bins, wide, strict=True))
        width *= 2


Floats = NDArray[np.float64]

COLUMNS = (
    *("criterion", "varied", "setting", "model", "value", "rank"),
    *("p_value", "verdict", "tau", "best", "best_changes"),
)
ORDERS = (
    *((round(0.1 * k, 1), 2) for k in range(1, 10)),
    (1, 2),
    *((1, round(1 + 0.1 * k, 1)) for k in range(1, 16) if k != 10),
)


@dataclass(frozen=True, eq=False)
class Setting:
    """A question with one option changed, and the name of that option."""

    varied: str
    name: str
    question: Question


def settings_of(
    base: Question,
    questions: Sequence[Question],
    *,
    orders: Sequence[tuple[float, float]] | None,
    transforms: Sequence[str],
    aggregates: Sequence[str],
) -> list[Setting]:
    """The default first, then each other option that makes a difference."""
    _check_names("transforms", transforms, ("raw", *measures.TRANSFORMS))
    _check_names("aggregates", aggregates, tuple(measures.AGGREGATES))
    settings = [Setting("default", base.measure_name, base)]
    for measure in dict.fromkeys(question.measure for question in questions):
        if measure == base.measure:
            continue
        changed = base.with_options(measure=measure)
        settings.append(Setting("measure", changed.measure_name, changed))
    for p, q in ORDERS if orders is None else _pairs(orders):
        changed = base.with_options(measure=partial(measures.pq, p=p, q=q))
        settings.append(Setting("orders", changed.measure_name, changed))
    if measures.resolve(base.measure).is_relative:
        settings += [Setting("transform", t, base.with_options(transform=t)) for t in transforms]
    if base.criterion.statistic.over and not base.criterion.statistic.sweeps:
        settings += [Setting("aggregate", a, base.with_options(aggregate=a)) for a in aggregates]
    return settings


def _check_names(what: str, names: Any, choices: Sequence[str]) -> None:
    listed = names if isinstance(names, list | tuple) else [names]
    if isinstance(names, str) or any(name not in choices for name in map(str, listed)):
        raise InputError(f"{what} is a list of {', '.join(map(repr, choices))}; not {names!r}.")


def _pairs(orders: Any) -> list[list[float]]:
    table = floats(orders, "orders")
    if not table.size:
        return []
    if table.ndim != 2 or table.shape[1] != 2:
        raise InputError(f"orders is a list of pairs (p, q), such as [(1, 2)]; not {orders!r}.")
    return [[float(p), float(q)] for p, q in table]


def sensitivity_rows(
    models: tuple[str, ...],
    evidence: Evidence,
    settings: Sequence[Sequence[Setting]],
    coarser: Sequence[View],
    *,
    verdicts: bool,
    level: float,
) -> Iterator[Row]:
    """A row for every setting and model; `settings` are those of each criterion."""
    sources = evidence.observed({of_criterion[0].question.needs for of_criterion in settings})
    regrouped = {
        view.name: {
            need: tuple(map(view.regroup, of_models)) for need, of_models in sources.items()
        }
        for view in coarser
    }
    for of_criterion in settings:
        base = of_criterion[0].question
        default = unevenness(base, values_if_any(base, sources))
        p_values = _p_values(base, sources, verdicts)
        for setting in of_criterion:
            yield from _rows(models, setting, sources, default, p_values, level)
        for name, coarse_sources in regrouped.items():
            p_values = _p_values(base, coarse_sources, verdicts)
            coarse = Setting("groups", name, base)
            yield from _rows(models, coarse, coarse_sources, default, p_values, level)


def _rows(
    models: tuple[str, ...],
    setting: Setting,
    sources: Sources,
    default: Floats,
    p_values: Sequence[float],
    level: float,
) -> Iterator[Row]:
    values = values_if_any(setting.question, sources)
    uneven = unevenness(setting.question, values)
    best, changed = _best(models, uneven), _best(models, uneven) != _best(models, default)
    tau = float(kendall(uneven, default)) if len(models) > 2 else np.nan
    rows = zip(
        models, values.tolist(), ranks(uneven).tolist(), p_values, holm(p_values), strict=True
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
            "verdict": verdict(value, float(adjusted), level),
            "tau": tau,
            "best": best,
            "best_changes": changed,
        }


def _p_values(question: Question, sources: Sources, verdicts: bool) -> Sequence[float]:
    """P-value of equal groups for each model; of the options only the groups matter."""
    if verdicts:
        return assessed(question, sources).p_values
    return [np.nan] * len(sources[question.needs])


def _best(models: tuple[str, ...], values: Floats) -> str:
    if np.isnan(values).all():
        return ""
    places = ranks(values)
    return ", ".join(models[m] for m in np.flatnonzero(places == places.min()))
