"""A comparison's report: the table of models, the pictures, and what is closed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evenhand._words import UNDEFINED, extent, number, p_value, percent, rounded
from evenhand.report.blocks import (
    Bullets,
    Cell,
    Figure,
    Fold,
    Head,
    Panels,
    Report,
    Row,
    Section,
    Table,
    Terms,
    Text,
)
from evenhand.report.charts import Scatter
from evenhand.report.charts.curves import COLORS
from evenhand.report.charts.scatter import Point
from evenhand.report.formats import (
    count,
    gap,
    gap_interval,
    is_width,
    measure_name,
    measure_phrase,
    phrase,
    words,
)

Document = Mapping[str, Any]

ENDS = (("value", 0), ("low", -1), ("high", 1))  # bounds are rounded outward
MAX_ROWS = 150  # of each table that is closed
NOT_FAIR = (
    "A low score is not “fair”. Each criterion looks at one aspect, and two models that these rows "
    "cannot separate are not thereby equal."
)


def report_of(document: Document) -> Report:
    """The report of a comparison's document."""
    first, *sentences = document["sentences"]
    table = model_table(document)
    models = [table, Text(_reading(document), "quiet")]
    notes = [Bullets(document["notes"], "notes")]
    sections = [
        Section("models", "The models", models, brief=[]),
        *_pictures(document),
        Section("order", "Best first", _orders(document), brief=_orders(document)),
        *([Section("notes", "Notes", notes, brief=notes)] if document["notes"] else []),
        Section("detail", "In detail", list(_detail(document)), brief=[]),
    ]
    return Report(
        kind="comparison",
        brand="comparison",
        title=document["title"] or "Comparison of models",
        lede=first,
        about=[*sentences, document["about"]],
        sections=sections,
        version=document["evenhand"],
        notebook=[table],
    )


def model_table(document: Document) -> Table:
    """A line for each model: accuracy and every criterion by the first measure, with intervals."""
    columns: list[tuple[Document, Callable[[Document, int], Cell]]]
    columns = [(column, _performance) for column in document["performance"]]
    columns += [(column, _evenness) for column in document["criteria"]]
    heads = [Head("Model")]
    heads += [Head(words(column["name"]), True) for column, _ in columns]
    rows = [
        Row([Cell(model, kind=f"c{at % COLORS}"), *(make(column, at) for column, make in columns)])
        for at, model in enumerate(document["models"])
    ]
    return Table("Models, accuracy and criteria", heads, rows, kind="cards models")


def _performance(metric: Document, at: int) -> Cell:
    estimate = metric["models"][at]
    value, low, high = (_share(estimate[part], metric["is_rate"], toward) for part, toward in ENDS)
    return Cell(value, under=f"{low} to {high}")


def _evenness(criterion: Document, at: int) -> Cell:
    estimate = criterion["models"][at]
    is_rate, low, high = criterion["is_rate"], estimate["low"], estimate["high"]
    value = gap(estimate["value"], is_rate)
    between = "" if low is None else gap_interval(low, high, is_rate)
    differs = estimate["verdict"] == "differs"
    return Cell(value + " ●" * differs, under=between, kind="beyond" if differs else "")


def _reading(document: Document) -> str:
    """How to read the table."""
    first, text = document["criteria"][0], ""
    if document["performance"]:
        text = f"{words(document['performance'][0]['name'])} is that of everyone. "
    between = " between groups" if is_width(first["measure"]) else ""
    text += f"Criteria: {measure_phrase(first['measure'])}{between}; "
    text += f"{1 if first['more_is_better'] else 0} is equal"
    if not first["more_is_better"] and any(
        criterion["more_is_better"] for criterion in document["criteria"]
    ):
        text += ", of a ratio 1"
    level = percent(document["confidence"])
    return f"{text}. Below each value: its {level} interval. ● The groups of this model differ."


def _pictures(document: Document) -> list[Section]:
    if not document["performance"]:
        return []
    metric = document["performance"][0]
    direction = "up" if metric["more_is_better"] else "down"
    ratio = any(criterion["more_is_better"] for criterion in document["criteria"])
    text = (
        f"From bottom to top: {_upward(metric)}. From left to right: how unequal. The better a "
        f"model is by both, the further {direction} and to the left"
        f"{', of a ratio to the right' * ratio}. Lines are {percent(document['confidence'])} "
        "intervals, each of one model alone: two that overlap may still differ."
    )
    figures = [
        Figure(f"against-{at}", chart, f"{chart.name}: {chart.across}")
        for at, chart in enumerate(charts(document).values())
    ]
    legend = [(f"c{at % COLORS}", model) for at, model in enumerate(document["models"])]
    blocks = [Text(text), Panels(figures, legend)]
    return [Section("pictures", "Accuracy and inequality", blocks, text=[], brief=[])]


def charts(document: Document) -> dict[str, Any]:
    """A chart for each criterion of accuracy, or error, against it.

    Without the truth there is no accuracy: the models are listed one below another.
    """
    metric = document["performance"][0] if document["performance"] else None
    by_name = {}
    for criterion in document["criteria"]:
        unit = ", percentage points" if criterion["is_rate"] else ""
        unit += "; 1 is equal, further right is better" if criterion["more_is_better"] else ""
        by_name[criterion["name"]] = Scatter(
            f"{metric['name'] if metric else 'models'} against {phrase(criterion['name'])}",
            words(criterion["name"]),
            f"{measure_phrase(criterion['measure'])}{unit}",
            _upward(metric) if metric else "",
            _points(document["models"], criterion, metric),
        )
    return by_name


def _upward(metric: Document) -> str:
    return f"{metric['name']}, %" if metric["is_rate"] else str(metric["name"])


def _points(models: Sequence[str], criterion: Document, metric: Document | None) -> list[Point]:
    across = 100.0 if criterion["is_rate"] else 1.0
    up = 100.0 if metric and metric["is_rate"] else 1.0
    points = []
    for at, model in enumerate(models):
        even = criterion["models"][at]
        place = float(len(models) - 1 - at)
        good = metric["models"][at] if metric else dict.fromkeys(("value", "low", "high"), place)
        if even["value"] is None or good["value"] is None:
            continue
        tip = f"{phrase(criterion['name'])} {gap(even['value'], criterion['is_rate'])}"
        if metric:
            tip = f"{metric['name']} {_share(good['value'], metric['is_rate'])}, {tip}"
        places = _scaled(even, across), _scaled(good, up)
        points.append(Point(at + 1, model, *places, f"{model}: {tip}"))
    return points


def _scaled(estimate: Document, factor: float) -> tuple[float, float, float]:
    value = factor * estimate["value"]
    low, high = (
        value if estimate[end] is None else factor * estimate[end] for end in ("low", "high")
    )
    return value, low, high


def _share(value: float | None, is_rate: bool, toward: int = 0) -> str:
    if value is None or not is_rate:
        return number(value, toward=toward)
    return f"{rounded(100 * value, 1, toward):.1f}%"


def _orders(document: Document) -> list[Any]:
    level = percent(document["confidence"])
    text = f"Best first. < and > are significant at {level}, ~ is not."
    return [Bullets(document["orders"]), Text(text, "quiet")]


def _detail(document: Document) -> Any:
    yield Text(NOT_FAIR, "caution")
    for part, title, columns in TABLES:
        rows = document["tables"][part]
        if rows:
            heads = [Head(head, name not in TEXTS) for head, name in columns]
            lines = [Row([Cell(_text(row, name)) for _, name in columns]) for row in rows]
            hidden = max(0, len(rows) - MAX_ROWS)
            more = f"{count(hidden)} more rows are in to_frame and to_json." if hidden else ""
            yield Fold(title, [Table(title, heads, lines[:MAX_ROWS], more=more)])
    asks = [(words(criterion["name"]), criterion["asks"]) for criterion in document["criteria"]]
    yield Fold("What the criteria ask", [Terms(asks)])
    yield Text(f"evenhand {document['evenhand']}; schema {document['schema']}.", "quiet")


def _text(row: Document, name: str) -> str:
    if name == "interval":
        return UNDEFINED if row["low"] is None else extent(row["low"], row["high"])
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


TEXTS = (
    *("criterion", "other_criterion", "measure", "other_measure", "model", "other", "metric"),
    *("verdict", "beyond_chance", "cell", "group", "other_group"),
)
QUESTION = (("Criterion", "criterion"), ("Measure", "measure"), ("Model", "model"))
OTHER = (("Other", "other"), ("Difference", "difference"))
TEST = (("p, adjusted", "p_adjusted"), ("Significant", "beyond_chance"))
TABLES = (
    (
        "values",
        "Every criterion by every measure",
        (
            *(*QUESTION, ("Value", "value"), ("Interval", "interval"), ("Rank", "rank")),
            *(("p, adjusted", "p_adjusted"), ("Groups", "verdict")),
        ),
    ),
    (
        "differences",
        "Differences between models in inequality",
        (*QUESTION, *OTHER, ("Interval", "interval"), *TEST),
    ),
    (
        "gaps",
        "Gaps between groups that differ between models",
        (
            *(("Criterion", "criterion"), ("Model", "model"), ("Other", "other"), ("Cell", "cell")),
            *(("Group", "group"), ("Group", "other_group"), ("Gap", "gap")),
            *(("Other’s gap", "other_gap"), ("Difference", "difference"), ("Interval", "interval")),
            *TEST,
        ),
    ),
    (
        "performance_differences",
        "Differences between models in accuracy or error",
        (("Metric", "metric"), ("Model", "model"), *OTHER, *TEST),
    ),
    (
        "kendall",
        "Do the rankings agree? (Kendall’s τ-b)",
        (
            *(("Criterion", "criterion"), ("Measure", "measure"), ("Criterion", "other_criterion")),
            *(("Measure", "other_measure"), ("τ", "tau"), ("Range", "interval")),
        ),
    ),
)
