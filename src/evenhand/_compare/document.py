"""A comparison as data: the content of its page, figure and first table, with sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from math import isfinite
from typing import Any

from evenhand._compare.parts import ComparisonParts
from evenhand._compare.performance import Metric, metrics_of
from evenhand._compare.ranking import ranks
from evenhand._result import version
from evenhand._words import capitalized, listing, plural, rounded
from evenhand.criteria import Criterion
from evenhand.criteria.compared import INDICES
from evenhand.criteria.questions import Question
from evenhand.measures import resolve
from evenhand.report.formats import gap, measure_phrase, phrase

SCHEMA = "evenhand.comparison/2"
MOST_NAMED = 3
BY = {
    "mpd": "By the largest difference between groups",
    "shortfall": "By how far the lowest group falls short of the highest",
    "ratio": "By the ratio of the lowest group to the highest",
}

Rows = Sequence[Mapping[str, Any]]


def document(comparison: ComparisonParts) -> dict[str, Any]:
    """The comparison as JSON values."""
    first: dict[str, Question] = {}
    for question in comparison.questions:
        first.setdefault(question.criterion.name, question)
    performance = [_metric(comparison, metric) for metric in metrics_of(comparison.evidence)]
    criteria = [_criterion(comparison, question) for question in first.values()]
    groups = comparison.evidence.groups
    return {
        "schema": SCHEMA,
        "evenhand": version("evenhand"),
        "title": comparison.title,
        "task": comparison.task,
        "rows": comparison.evidence.number,
        "groups": len(groups.labels),
        "columns": list(groups.names),
        "confidence": comparison.confidence,
        "models": list(comparison.models),
        "sentences": _sentences(comparison, performance, criteria),
        "about": (
            f"{plural(len(comparison.models), 'model')} on the same "
            f"{plural(comparison.evidence.number, 'row')}, "
            f"in {plural(len(groups.labels), 'group')} by {' × '.join(groups.names)}."
        ),
        "performance": performance,
        "criteria": criteria,
        "tables": {name: _plain(comparison.rows(name)) for name in comparison.tables},
        "notes": list(comparison.notes),
    }


def _metric(comparison: ComparisonParts, metric: Metric) -> dict[str, Any]:
    rows = [row for row in comparison.rows("performance") if row["metric"] == metric.key]
    return {**metric._asdict(), "models": [_numbers(row) for row in rows]}


def _criterion(comparison: ComparisonParts, question: Question) -> dict[str, Any]:
    name = question.criterion.name
    rows = [
        row
        for row in comparison.rows("values")
        if (row["criterion"], row["measure"]) == (name, question.measure_name)
    ]
    return {
        "name": name,
        "asks": question.criterion.asks,
        "measure": question.measure_name,
        "more_is_better": resolve(question.measure).falls,
        "is_rate": resolve(question.measure).is_width and is_share(question.criterion),
        "models": [
            {**_numbers(row), "rank": row["rank"], "verdict": row["verdict"]} for row in rows
        ],
    }


def is_share(criterion: Criterion) -> bool:
    """Whether differences of its statistic are in percentage points."""
    is_rate = criterion.statistic.bounds == (0.0, 1.0) and criterion.across != "integral"
    return is_rate and criterion.name not in INDICES


def _sentences(
    comparison: ComparisonParts,
    performance: Sequence[Mapping[str, Any]],
    criteria: Sequence[Mapping[str, Any]],
) -> list[str]:
    """Sentences on the best predictions, the least unequal models and significant differences."""
    sentences = [_best_sentence(comparison, performance[0])] if performance else []
    if len(comparison.models) == 1:
        return sentences or [f"{comparison.models[0]} is the only model."]
    sentences += _least_unequal(comparison.models, criteria)
    if any(row["value"] is not None for criterion in criteria for row in criterion["models"]):
        sentences += _beyond_chance(comparison, criteria)
    return sentences


def _least_unequal(models: Sequence[str], criteria: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Sentences on the least unequal model by criterion, on ties, and on missing values."""
    first: dict[tuple[str, ...], list[str]] = {}
    tied, alone, undefined = [], [], []
    for criterion in criteria:
        defined = [row for row in criterion["models"] if row["value"] is not None]
        name = phrase(criterion["name"])
        best = min(defined, key=_rank, default=None)
        if best is None:
            undefined.append(name)
            continue
        text = f"{name} ({amount(best['value'], criterion['is_rate'])})"
        ahead = tuple(row["model"] for row in defined if row["rank"] == best["rank"])
        if len(defined) == 1:
            alone.append(f"Only {best['model']} has a value for {text}.")
        elif len(ahead) == len(models):
            tied.append(text)
        else:
            first.setdefault(ahead, []).append(text)
    by = _measured(criteria)
    if first:
        is_or_are = "is" if all(len(names) == 1 for names in first) else "are"
        phrases = [f"{listing(list(names))} in {listing(texts)}" for names, texts in first.items()]
        yield f"{by}, the least unequal {is_or_are} {'; '.join(phrases)}."
    if tied:
        all_models = "both models" if len(models) == 2 else f"all {len(models)} models"
        head = capitalized(all_models) if first else f"{by}, {all_models}"
        yield f"{head} are tied in {listing(tied)}."
    yield from alone
    if undefined:
        yield f"No model has a value for {listing(undefined)}."


def _measured(criteria: Sequence[Mapping[str, Any]]) -> str:
    """The start of a sentence on these criteria, which names their measure."""
    measures = list(
        dict.fromkeys(
            criterion["measure"] for criterion in criteria if not criterion["more_is_better"]
        )
    )
    if len(measures) > 1:
        return "By the measure of each criterion"
    return BY.get(measures[0], f"By {measure_phrase(measures[0])}") if measures else BY["ratio"]


def _rank(row: Mapping[str, Any]) -> float:
    return float(row["rank"])


def _best_sentence(comparison: ComparisonParts, metric: Mapping[str, Any]) -> str:
    rows, is_more_better = metric["models"], metric["more_is_better"]
    place = ranks([-first["value"] if is_more_better else first["value"] for first in rows])
    tied = [first for first, at in zip(rows, place, strict=True) if at == place.min()]
    best, names = tied[0], [first["model"] for first in tied]
    low, high = (
        amount(best[end], metric["is_rate"], share=True, toward=toward)
        for end, toward in (("low", -1), ("high", 1))
    )
    value = amount(best["value"], metric["is_rate"], share=True)
    if all((first["low"], first["high"]) == (best["low"], best["high"]) for first in tied):
        value += f" ({low} to {high})"
    if len(rows) == 1:
        return f"{best['model']}: {metric['name']} {value}."
    if len(tied) == len(rows):
        all_models = "Both models" if len(rows) == 2 else f"All {len(rows)} models"
        return f"{all_models} have the same {metric['name']}: {value}."
    verb, accurate = ("is", "has") if len(tied) == 1 else ("are", "have")
    has = f"{accurate} the {'highest' if is_more_better else 'lowest'} {metric['name']}"
    if metric["key"] == "accuracy":
        has = f"{verb} the most accurate"
    similar = dict.fromkeys(
        second
        for row in comparison.rows("performance_differences")
        if row["metric"] == metric["key"] and not row["beyond_chance"]
        for first, second in permutations((row["model"], row["other"]))
        if first in names and second not in names
    )
    text = f"{listing(names)} {has}: {value}"
    if not similar:
        return f"{text}, significantly."
    listed = listing(list(similar)) if len(similar) <= MOST_NAMED else plural(len(similar), "other")
    return f"{text}, but not significantly {'more' if is_more_better else 'less'} than {listed}."


def _beyond_chance(
    comparison: ComparisonParts, criteria: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Sentences on models that are significantly more unequal, or whose gaps differ."""
    signs = {
        (criterion["name"], criterion["measure"]): -1 if criterion["more_is_better"] else 1
        for criterion in criteria
    }
    more_unequal: dict[str, dict[str, None]] = {}
    mentioned = set()
    for row in comparison.rows("differences"):
        sign = signs.get((row["criterion"], row["measure"]))
        if sign is not None and row["beyond_chance"]:
            model = row["model"] if sign * row["difference"] > 0 else row["other"]
            more_unequal.setdefault(model, {})[phrase(row["criterion"])] = None
            mentioned.add((row["criterion"], row["model"], row["other"]))
    if more_unequal:
        phrases = [f"{model} in {listing(list(names))}" for model, names in more_unequal.items()]
        yield f"Significantly more unequal than another model: {'; '.join(phrases)}."
    gaps = [
        row
        for row in comparison.rows("gaps")
        if row["beyond_chance"] and (row["criterion"], row["model"], row["other"]) not in mentioned
    ]
    if gaps and not more_unequal:
        yield "In none of these do two models differ significantly, but single gaps do."
    elif not more_unequal:
        yield "In none of these do two models differ significantly."
    if gaps:
        yield _gap(comparison, min(gaps, key=lambda row: float(row["p_value"])))
    if len(gaps) > 1:
        further = plural(len(gaps) - 1, "more gap differs", "more gaps differ")
        yield f"Of other models or criteria, {further}."


def _gap(comparison: ComparisonParts, row: Mapping[str, Any]) -> str:
    """Sentence on the two groups whose gap changes most clearly, the wider gap first."""
    models, groups = [row["model"], row["other"]], [row["group"], row["other_group"]]
    gaps = [float(row["gap"]), float(row["other_gap"])]
    if abs(gaps[0]) < abs(gaps[1]):
        models, groups, gaps = models[::-1], groups[::-1], [-gaps[1], -gaps[0]]
    criterion = next(
        question.criterion
        for question in comparison.questions
        if question.criterion.name == row["criterion"]
    )
    is_rate = is_share(criterion)
    wide, narrow = (amount(abs(gap), is_rate) for gap in gaps)
    low, high = (amount(row[end], is_rate, toward=at) for end, at in (("low", -1), ("high", 1)))
    side = f"{narrow} {'below' if gaps[1] < 0 else 'above'} it" if gaps[1] else "equal to it"
    between = high if low == high else f"{low.removesuffix(' pts')} to {high}"
    return (
        f"With {models[0]}, {groups[0]} is {wide} above {groups[1]} in {row['statistic']}; "
        f"with {models[1]}, {side} (difference {between})."
    )


def amount(value: float | None, is_rate: bool, *, share: bool = False, toward: int = 0) -> str:
    """A share in percent, a difference of shares in points, anything else as a number.

    A bound is rounded `toward` its side.

    >>> amount(0.1567, True), amount(0.7931, True, share=True), amount(0.1567, False)
    ('15.7 pts', '79.3%', '0.157')
    """
    if value is not None and is_rate and share:
        return f"{rounded(100 * value, 1, toward):.1f}%"
    return gap(value, is_rate, toward)


def _numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"model": row["model"], **{key: _finite(row[key]) for key in ("value", "low", "high")}}


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value


def _plain(rows: Rows) -> list[dict[str, Any]]:
    return [{name: _finite(value) for name, value in row.items()} for row in rows]
