"""A comparison of models as the page shows it: the table, the pictures, and what is folded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._words import number, p_value
from evenhand.report.charts.curves import COLORS
from evenhand.report.charts.scatter import Point, scatter
from evenhand.report.formats import measure_name, words
from evenhand.report.groups import apart

MOST_ROWS = 150  # of each folded table


def by_model(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A line for each model: accuracy and every criterion by the first measure, with intervals."""
    lines = []
    for i, model in enumerate(document["models"]):
        cells = [_performance(metric, i) for metric in document["performance"]]
        cells += [_evenness(criterion, i) for criterion in document["criteria"]]
        lines.append({"number": i + 1, "kind": f"c{i % COLORS}", "model": model, "cells": cells})
    return lines


def panels(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A picture for each criterion of accuracy, or error, against it."""
    if not document["performance"]:
        return []
    metric = document["performance"][0]
    return [
        {
            "name": words(criterion["name"]),
            "across": _across(criterion),
            "chart": scatter(
                f"against-{at}",
                f"{metric['name']} against {words(criterion['name']).lower()}",
                _points(document["models"], criterion, metric),
            ),
        }
        for at, criterion in enumerate(document["criteria"])
    ]


def _across(criterion: Mapping[str, Any]) -> str:
    unit = ", percentage points" if criterion["is_rate"] else ""
    unit += "; 1 is equal, further right is better" if criterion["more_is_better"] else ""
    return f"{measure_name(criterion['measure']).lower()}{unit}"


def upright(document: Mapping[str, Any]) -> dict[str, str]:
    """What the pictures show from bottom to top, and where the best corner is."""
    if not document["performance"]:
        return {}
    metric = document["performance"][0]
    name = f"{metric['name']}, %" if metric["is_rate"] else metric["name"]
    return {"name": name, "better": "up" if metric["more_is_better"] else "down"}


def tables(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tables that are folded, as text, each cut after so many rows."""
    whole = document["tables"]
    chosen = [
        ("values", "Every criterion by every measure", VALUES),
        ("differences", "Differences between models in evenness", DIFFERENCES),
        ("performance_differences", "Differences between models in accuracy or error", PAIRS),
        ("kendall", "Do the rankings agree? (Kendall’s τ-b)", KENDALL),
    ]
    return [
        {
            "title": title,
            "heads": [head for head, _ in columns],
            "numeric": [name not in TEXTS for _, name in columns],
            "rows": [
                [_text(row, name) for _, name in columns] for row in whole[name_of][:MOST_ROWS]
            ],
            "more": max(0, len(whole[name_of]) - MOST_ROWS),
        }
        for name_of, title, columns in chosen
        if whole[name_of]
    ]


TEXTS = (
    *("criterion", "other_criterion", "measure", "other_measure", "model", "other", "metric"),
    *("verdict", "beyond_chance"),
)
QUESTION = (("Criterion", "criterion"), ("Measure", "measure"), ("Model", "model"))
VALUES = (
    *QUESTION,
    *(
        ("Value", "value"),
        ("Interval", "interval"),
        ("Rank", "rank"),
        ("p, adjusted", "p_adjusted"),
    ),
    ("Groups", "verdict"),
)
DIFFERENCES = (
    *QUESTION,
    *(("Other", "other"), ("Difference", "difference"), ("Interval", "interval")),
    *(("p, adjusted", "p_adjusted"), ("Beyond chance", "beyond_chance")),
)
PAIRS = (
    *(("Metric", "metric"), ("Model", "model"), ("Other", "other")),
    *(("Difference", "difference"), ("p, adjusted", "p_adjusted")),
    ("Beyond chance", "beyond_chance"),
)
KENDALL = (
    *(("Criterion", "criterion"), ("Measure", "measure"), ("Criterion", "other_criterion")),
    *(("Measure", "other_measure"), ("τ", "tau"), ("Range", "interval")),
)


def _text(row: Mapping[str, Any], name: str) -> str:
    if name == "interval":
        return "–" if row["low"] is None else f"{number(row['low'])} to {number(row['high'])}"
    value = row[name]
    if name in ("criterion", "other_criterion"):
        return words(value)
    if name in ("measure", "other_measure"):
        return measure_name(value)
    if name == "beyond_chance":
        return "yes" if value else "no"
    if name == "p_adjusted":
        return p_value(value)
    return number(value) if name not in TEXTS else str(value)


def _performance(metric: Mapping[str, Any], at: int) -> dict[str, Any]:
    one = metric["models"][at]
    ends = [_share(one[key], metric["is_rate"]) for key in ("value", "low", "high")]
    name = metric["name"][:1].upper() + metric["name"][1:]
    return {"name": name, "text": ends[0], "interval": f"{ends[1]} to {ends[2]}", "kind": ""}


def _evenness(criterion: Mapping[str, Any], at: int) -> dict[str, Any]:
    one = criterion["models"][at]
    value, low, high = (apart(one[key], criterion["is_rate"]) for key in ("value", "low", "high"))
    return {
        "name": words(criterion["name"]),
        "text": value,
        "interval": "" if one["low"] is None else f"{low.removesuffix(' pts')} to {high}",
        "kind": "beyond" if one["verdict"] == "differs" else "",
    }


def _share(value: float | None, is_rate: bool) -> str:
    return f"{100 * value:.1f}%" if value is not None and is_rate else number(value)


def _points(
    models: Sequence[str], criterion: Mapping[str, Any], metric: Mapping[str, Any]
) -> list[Point]:
    across, up = (100.0 if part["is_rate"] else 1.0 for part in (criterion, metric))
    points = []
    for at, model in enumerate(models):
        even, good = criterion["models"][at], metric["models"][at]
        if even["value"] is not None and good["value"] is not None:
            told = (
                f"{model}: {metric['name']} {_share(good['value'], metric['is_rate'])}, "
                f"{words(criterion['name']).lower()} {apart(even['value'], criterion['is_rate'])}"
            )
            points.append(Point(at + 1, _scaled(even, across), _scaled(good, up), told))
    return points


def _scaled(one: Mapping[str, Any], factor: float) -> tuple[float, float, float]:
    value = factor * one["value"]
    low, high = (value if one[end] is None else factor * one[end] for end in ("low", "high"))
    return value, low, high
