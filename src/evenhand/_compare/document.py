"""A comparison as data: what its page, its figure and its first table show, and the words."""

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
    """Everything that was found, as JSON values."""
    first: dict[str, Question] = {}
    for question in comparison.questions:
        first.setdefault(question.criterion.name, question)
    performance = [_metric(comparison, one) for one in metrics_of(comparison.evidence)]
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
    """Whether a difference of its statistic is one of percentage points."""
    return criterion.statistic.bounds == (0.0, 1.0) and criterion.across != "integral"


def _sentences(
    comparison: ComparisonParts,
    performance: Sequence[Mapping[str, Any]],
    criteria: Sequence[Mapping[str, Any]],
) -> list[str]:
    """Who predicts best, who is least unequal, and who significantly more so than another."""
    said = [_best_sentence(comparison, performance[0])] if performance else []
    if len(comparison.models) == 1:
        return said or [f"{comparison.models[0]} is the only model."]
    said += _least_unequal(comparison.models, criteria)
    if any(one["value"] is not None for criterion in criteria for one in criterion["models"]):
        said += _beyond_chance(comparison, criteria)
    return said


def _least_unequal(models: Sequence[str], criteria: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Which model is the least unequal in what, where models tie, and where there is no value."""
    first: dict[tuple[str, ...], list[str]] = {}
    tied, alone, undefined = [], [], []
    for criterion in criteria:
        known = [one for one in criterion["models"] if one["value"] is not None]
        name = phrase(criterion["name"])
        best = min(known, key=_rank, default=None)
        if best is None:
            undefined.append(name)
            continue
        text = f"{name} ({amount(best['value'], criterion['is_rate'])})"
        ahead = tuple(one["model"] for one in known if one["rank"] == best["rank"])
        if len(known) == 1:
            alone.append(f"Only {best['model']} has a value for {text}.")
        elif len(ahead) == len(models):
            tied.append(text)
        else:
            first.setdefault(ahead, []).append(text)
    by = _measured(criteria)
    if first:
        is_or_are = "is" if all(len(names) == 1 for names in first) else "are"
        each = [f"{listing(list(names))} in {listing(texts)}" for names, texts in first.items()]
        yield f"{by}, the least unequal {is_or_are} {'; '.join(each)}."
    if tied:
        every = "both models" if len(models) == 2 else f"all {len(models)} models"
        head = capitalized(every) if first else f"{by}, {every}"
        yield f"{head} are tied in {listing(tied)}."
    yield from alone
    if undefined:
        yield f"No model has a value for {listing(undefined)}."


def _measured(criteria: Sequence[Mapping[str, Any]]) -> str:
    """How a sentence on these criteria begins; a ratio's name says what it is."""
    measures = list(dict.fromkeys(one["measure"] for one in criteria if not one["more_is_better"]))
    if len(measures) > 1:
        return "By the measure of each criterion"
    return BY.get(measures[0], f"By {measure_phrase(measures[0])}") if measures else BY["ratio"]


def _rank(one: Mapping[str, Any]) -> float:
    return float(one["rank"])


def _best_sentence(comparison: ComparisonParts, metric: Mapping[str, Any]) -> str:
    found, more = metric["models"], metric["more_is_better"]
    place = ranks([-one["value"] if more else one["value"] for one in found])
    tied = [one for one, at in zip(found, place, strict=True) if at == place.min()]
    best, names = tied[0], [one["model"] for one in tied]
    low, high = (
        amount(best[end], metric["is_rate"], share=True, toward=toward)
        for end, toward in (("low", -1), ("high", 1))
    )
    value = amount(best["value"], metric["is_rate"], share=True)
    if all((one["low"], one["high"]) == (best["low"], best["high"]) for one in tied):
        value += f" ({low} to {high})"
    if len(found) == 1:
        return f"{best['model']}: {metric['name']} {value}."
    if len(tied) == len(found):
        every = "Both models" if len(found) == 2 else f"All {len(found)} models"
        return f"{every} have the same {metric['name']}: {value}."
    verb, accurate = ("is", "has") if len(tied) == 1 else ("are", "have")
    has = f"{accurate} the {'highest' if more else 'lowest'} {metric['name']}"
    if metric["key"] == "accuracy":
        has = f"{verb} the most accurate"
    near = dict.fromkeys(
        other
        for row in comparison.rows("performance_differences")
        if row["metric"] == metric["key"] and not row["beyond_chance"]
        for one, other in permutations((row["model"], row["other"]))
        if one in names and other not in names
    )
    text = f"{listing(names)} {has}: {value}"
    if not near:
        return f"{text}, significantly."
    which = listing(list(near)) if len(near) <= MOST_NAMED else plural(len(near), "other")
    return f"{text}, but not significantly {'more' if more else 'less'} than {which}."


def _beyond_chance(
    comparison: ComparisonParts, criteria: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Which models are less even than another by more than chance, or else whose gaps differ."""
    signs = {(one["name"], one["measure"]): -1 if one["more_is_better"] else 1 for one in criteria}
    worse: dict[str, dict[str, None]] = {}
    told = set()
    for row in comparison.rows("differences"):
        sign = signs.get((row["criterion"], row["measure"]))
        if sign is not None and row["beyond_chance"]:
            model = row["model"] if sign * row["difference"] > 0 else row["other"]
            worse.setdefault(model, {})[phrase(row["criterion"])] = None
            told.add((row["criterion"], row["model"], row["other"]))
    if worse:
        each = [f"{model} in {listing(list(names))}" for model, names in worse.items()]
        yield f"Significantly more unequal than another model: {'; '.join(each)}."
    gaps = [
        row
        for row in comparison.rows("gaps")
        if row["beyond_chance"] and (row["criterion"], row["model"], row["other"]) not in told
    ]
    if gaps and not worse:
        yield "In none of these do two models differ significantly, but single gaps do."
    elif not worse:
        yield "In none of these do two models differ significantly."
    if gaps:
        yield _gap(comparison, min(gaps, key=lambda row: float(row["p_value"])))
    if len(gaps) > 1:
        more = plural(len(gaps) - 1, "more gap differs", "more gaps differ")
        yield f"Of other models or criteria, {more}."


def _gap(comparison: ComparisonParts, row: Mapping[str, Any]) -> str:
    """The two groups whose gap changes most clearly, by both models, the wider gap first."""
    models, groups = [row["model"], row["other"]], [row["group"], row["other_group"]]
    gaps = [float(row["gap"]), float(row["other_gap"])]
    if abs(gaps[0]) < abs(gaps[1]):
        models, groups, gaps = models[::-1], groups[::-1], [-gaps[1], -gaps[0]]
    asked = next(
        question.criterion
        for question in comparison.questions
        if question.criterion.name == row["criterion"]
    )
    is_rate = is_share(asked)
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
