"""A comparison as data: what its page, its figure and its first table show, and the words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from math import isfinite
from typing import Any

from evenhand._compare.parts import ComparisonParts
from evenhand._compare.performance import Metric, metrics_of
from evenhand._words import listing, plural, rounded
from evenhand.criteria import Criterion
from evenhand.criteria.questions import Question
from evenhand.measures import resolve
from evenhand.report.formats import apart, within, words

SCHEMA = "evenhand.comparison/2"
MOST_NAMED = 3
BY = {"mpd": "By the largest difference between groups", "gini": "By Gini", "pq": "By PQ"}

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
    most_even: dict[str, list[str]] = {}
    for criterion in criteria:
        known = [one for one in criterion["models"] if one["value"] is not None]
        for best in sorted(known, key=_rank)[:1]:
            text = f"{_words(criterion['name'])} ({amount(best['value'], criterion['is_rate'])})"
            most_even.setdefault(best["model"], []).append(text)
    if most_even:
        first, *others = (f"{model} in {listing(texts)}" for model, texts in most_even.items())
        measures = {one["measure"] for one in criteria if not one["more_is_better"]}
        by = BY.get(measures.pop(), "By what was asked") if len(measures) == 1 else "By each"
        said.append(f"{by}, the least unequal is {'; '.join([first, *others])}.")
    said += _beyond_chance(comparison, criteria)
    return said


def _rank(one: Mapping[str, Any]) -> float:
    return float(one["rank"])


def _best_sentence(comparison: ComparisonParts, metric: Mapping[str, Any]) -> str:
    sign = -1 if metric["more_is_better"] else 1
    best = min(metric["models"], key=lambda one: sign * float(one["value"]))
    low, high = (
        amount(best[end], metric["is_rate"], share=True, toward=toward)
        for end, toward in (("low", -1), ("high", 1))
    )
    has = "is the most accurate" if metric["more_is_better"] else f"has the least {metric['name']}"
    value = amount(best["value"], metric["is_rate"], share=True)
    text = f"{best['model']} {has}: {value} ({low} to {high})"
    if len(comparison.models) == 1:
        return f"{best['model']}: {metric['name']} {value} ({low} to {high})."
    near = [
        {row["model"], row["other"]} - {best["model"]}
        for row in comparison.rows("performance_differences")
        if row["metric"] == metric["key"]
        and best["model"] in (row["model"], row["other"])
        and not row["beyond_chance"]
    ]
    if not near:
        return f"{text}, significantly."
    names = [name for pair in near for name in pair]
    which = listing(names) if len(names) <= MOST_NAMED else plural(len(names), "other")
    return f"{text}, but not significantly more than {which}."


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
            worse.setdefault(model, {})[_words(row["criterion"])] = None
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
    side = "below" if gaps[1] < 0 else "above"
    where = within(row["cell"], asked.formula)
    return (
        f"In {_words(asked.name)}{where}, {groups[0]} is {wide} above {groups[1]} with {models[0]} "
        f"and {narrow} {side} it with {models[1]} "
        f"(difference {low.removesuffix(' pts')} to {high})."
    )


def amount(value: float | None, is_rate: bool, *, share: bool = False, toward: int = 0) -> str:
    """A share in percent, a difference of shares in points, anything else as a number.

    A bound is rounded `toward` its side.

    >>> amount(0.1567, True), amount(0.7931, True, share=True), amount(0.1567, False)
    ('15.7 pts', '79.3%', '0.157')
    """
    if value is not None and is_rate and share:
        return f"{rounded(100 * value, 1, toward):.1f}%"
    return apart(value, is_rate, toward)


def _words(name: str) -> str:
    text = words(name)
    return text[:1].lower() + text[1:]


def _numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"model": row["model"], **{key: _finite(row[key]) for key in ("value", "low", "high")}}


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value


def _plain(rows: Rows) -> list[dict[str, Any]]:
    return [{name: _finite(value) for name, value in row.items()} for row in rows]
