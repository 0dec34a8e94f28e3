"""A frontier's report: what less disparity costs, in sentences, a chart and a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import Any

from evenhand._words import capitalized, number
from evenhand.report.audit import CAPTION
from evenhand.report.blocks import (
    Bullets,
    Cell,
    Figure,
    Fold,
    Head,
    Report,
    Row,
    Section,
    Table,
    Text,
)
from evenhand.report.charts import Tradeoff
from evenhand.report.charts.frontier import Tested
from evenhand.report.formats import are_shares, measure_phrase, phrase

Document = Mapping[str, Any]
FITTED = ("value", "cost", "accuracy", "error", "gap")
PROOF = Head("Proved to within", True, "proof ±")  # "gap" would be that of groups
ROUNDING = 1e-9  # of costs
COLUMNS = (*FITTED, "test_value", "test_low", "test_high", "test_cost", "test_error")


def report_of(document: Document) -> Report:
    """The report of a frontier's document."""
    first, *sentences = document["sentences"]
    chart = tradeoff(document)
    table = _table(document)
    blocks = [
        Bullets(sentences),
        Figure(
            "frontier-curve",
            chart,
            f"{capitalized(chart.upward)} against {chart.across}. {CAPTION}",
        ),
        *(
            Text(note, "caution" if at == 0 else "quiet")
            for at, note in enumerate(document["notes"])
        ),
        Fold("Every point of the curve", [table]),
    ]
    brief = [Bullets(sentences), *(Text(note) for note in document["notes"]), table]
    return Report(
        kind="frontier",
        brand="frontier",
        title=f"What less disparity costs: {phrase(document['criterion'])}",
        lede=first,
        about=[],
        sections=[Section("frontier", "What closing the gap would cost", blocks, brief=brief)],
        version=document["evenhand"],
        notebook=[table],
    )


def charts(document: Document) -> dict[str, Any]:
    """The curve that no rule can beat, and the model."""
    return {"frontier": tradeoff(document)}


def tradeoff(document: Document) -> Tradeoff:
    """The chart of the curve, with rules on test rows where there are any."""
    curve = document["curve"]
    across = f"{phrase(document['criterion'])} ({measure_phrase(document['measure'])})"
    parts = ("test_value", "test_cost", "test_error")
    tested = zip(*(curve[part] for part in parts), strict=True) if "test_cost" in curve else ()
    return Tradeoff(
        f"{capitalized(document['unit'])} against {across}",
        across,
        document["unit"],
        curve["bound"],
        curve["cost"],
        {name: (at["value"], at["cost"]) for name, at in document["models"].items()},
        [Tested(*rule) for rule in tested if None not in rule],
        are_shares(document["unit"], document["measure"]),
    )


def _table(document: Document) -> Table:
    curve = {name: column for name, column in document["curve"].items() if name in COLUMNS}
    names = [column.replace("_", " ") for column in curve]
    heads = [PROOF if name == "gap" else Head(capitalized(name), True, name) for name in names]
    points = (dict(zip(curve, row, strict=True)) for row in zip(*curve.values(), strict=True))
    rows = [
        Row([Cell(_formatted(column, value)) for column, value in point.items()])
        for point in _cheaper(points)
    ]
    return Table("Points of the curve", heads, rows)


def _cheaper(points: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Points that cost less than those of tighter bounds, and all that were tested."""
    lowest = inf
    for point in points:
        cost = point.get("cost")
        if "test_cost" in point or cost is None or cost < lowest - ROUNDING:
            lowest = inf if cost is None else cost
            yield point


def _formatted(column: str, value: float | None) -> str:
    return f"{value:.0e}" if column == "gap" and value is not None else number(value, 4)
