"""The groups of an audit: their rates as a chart, and the metrics of those that matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evenhand._words import capitalized, percent, plural
from evenhand.report.blocks import Cell, Figure, Fold, Head, Row, Section, Table, Text
from evenhand.report.charts import Rates
from evenhand.report.charts.rates import Rate
from evenhand.report.formats import amount, count, gap, name, share_of

Document = Mapping[str, Any]

MAX_OPEN = 6  # groups in the table that is not closed
MAX_DRAWN = 12  # groups in a chart: it ends within a screen and a half of a phone
FOLDED = 500  # lines of a table that is closed
SIDES = {1: "above", -1: "below", 0: "around"}
SHORT = {
    "base_rate": "base",
    "selection_rate": "selected",
    "true_positive_rate": "TPR",
    "false_positive_rate": "FPR",
    "precision": "prec.",
    "accuracy": "acc.",
    "mean_prediction": "mean",
    "mean_target": "target",
    "mean_error": "bias",
    "first_place": "first",
    "exposure_per_relevance": "exp./rel.",
    "discounted_recall": "recall",
    "pairwise_accuracy": "pairwise",
}


def groups(document: Document) -> Section:
    """The chart of the first rate, its impact ratio, and the groups that matter as a table."""
    summary = document["summary"]
    table, rate = summary["table"], summary["headline"]
    impact = [Text(summary["impact_ratio"]["sentence"])] if summary["impact_ratio"] else []
    chosen = _salient(summary)
    hidden = len(table["groups"]) - len(chosen)
    blocks: list[Any] = [*_rate_figure(document), *impact]
    blocks.append(group_table(table, chosen))
    blocks.append(Text(legend(document), "quiet"))
    if hidden:
        remaining = [i for i in largest(table, FOLDED) if i not in chosen]
        table_of_rest = replace(group_table(table, remaining), foot=())
        title = "The other group" if hidden == 1 else f"The other {plural(hidden, 'group')}"
        if len(remaining) < hidden:
            title = f"The largest {count(len(remaining))} of {plural(hidden, 'other group')}"
        blocks.append(Fold(title, [table_of_rest]))
    title = f"{capitalized(rate['name'])} by group" if rate else "The groups"
    full = group_table(table, range(len(table["groups"])), elastic="group")
    mentioned = _groups_mentioned(summary)
    rows = [
        replace(row, weight=len(row.cells) * ((at in chosen) + (row.data["group"] in mentioned)))
        for at, row in enumerate(full.rows)
    ]
    brief = [Text(" "), replace(full, rows=rows), *impact]
    return Section("groups", title, blocks, brief=brief, link="The groups")


def group_table(table: Document, chosen: Iterable[int], *, elastic: str = "") -> Table:
    """The groups × metrics of some groups, and three lines about all of them."""
    metrics = table["metrics"]
    heads = [Head("Group", short="group"), Head("Rows", True, "n")]
    heads += [Head(m["name"], True, SHORT.get(m["key"], ""), m["meaning"]) for m in metrics]
    everyone = {"label": "Everyone", **table["overall"], "apart": [0] * len(metrics)}
    gaps = [gap(v, m["is_rate"]) for v, m in zip(table["difference"], metrics, strict=True)]
    ratios = [share_of(value) for value in table["ratio"]]
    foot = [_group_row(everyone, metrics, own=False)]
    for label, texts in (("Largest difference", gaps), ("Lowest / highest", ratios)):
        foot.append(Row([Cell(label), Cell(""), *map(Cell, texts)]))
    rows = [_group_row(table["groups"][i], metrics) for i in chosen]
    return Table(
        "Groups and metrics", heads, rows, foot, kind="metrics cards sortable", elastic=elastic
    )


def _group_row(group: Document, metrics: Sequence[Document], *, own: bool = True) -> Row:
    cells = [Cell(name(group["label"])), Cell(count(group["rows"]))]
    for value, metric, side in zip(group["values"], metrics, group["apart"], strict=True):
        cells.append(Cell(amount(value, metric["is_rate"]), side=side))
    return Row(cells, {"group": group["label"]} if own else {})


def _salient(summary: Document) -> list[int]:
    """The groups that the sentence names, those that stand out, and then the largest."""
    groups, mentioned = summary["table"]["groups"], _groups_mentioned(summary)
    if len(groups) <= MAX_OPEN:
        return list(range(len(groups)))

    def weight(i: int) -> tuple[bool, int, int]:
        return groups[i]["label"] in mentioned, sum(map(abs, groups[i]["apart"])), groups[i]["rows"]

    return sorted(sorted(range(len(groups)), key=weight, reverse=True)[:MAX_OPEN])


def _groups_mentioned(summary: Document) -> frozenset[str]:
    """The groups that the sentence names, and those that the impact ratio does."""
    impact, rate = summary["impact_ratio"], summary["headline"]
    ends = (impact["lowest"], impact["highest"]) if impact else ()
    return frozenset((*ends, *(rate.get("named", ()) if rate else ())))


def largest(table: Document, limit: int) -> list[int]:
    """The groups that stand out most, and then the largest, in the table's order."""
    groups = table["groups"]

    def weight(i: int) -> tuple[int, int]:
        return sum(map(abs, groups[i]["apart"])), groups[i]["rows"]

    return sorted(sorted(range(len(groups)), key=weight, reverse=True)[:limit])


def legend(document: Document) -> str:
    """What the marks and the last lines of the table of groups mean."""
    flagged = any(any(g["apart"]) for g in document["summary"]["table"]["groups"])
    level = percent(document["confidence"])
    marks = f"▲ above, ▼ below everyone else, significant at {level} (corrected). "
    note = "Largest difference and ratio are those observed; small groups make them larger."
    return (marks if flagged else "") + note


def _rate_figure(document: Document) -> list[Figure]:
    """The groups' first rate with intervals and sizes, and a line at four-fifths of the highest."""
    summary = document["summary"]
    chart = rate_chart(summary)
    if chart is None:
        return []
    rate, visible = summary["headline"], len(chart.visible)
    caption = f"Dots are observed values, lines {percent(document['confidence'])} intervals; at "
    caption += "the right, value and rows."
    if visible < len(chart.groups):
        total = plural(len(chart.groups), "group")
        caption += f" Shown are the {visible} of {total} furthest from the overall value."
    legend = []
    if rate["overall"] is not None:
        legend.append(("overall", f"everyone: {amount(rate['overall'], rate['is_rate'])}"))
    if chart.line_at is not None:
        highest = name(summary["impact_ratio"]["highest"])
        legend.append(("fifths", f"four-fifths of the highest rate ({highest})"))
    return [Figure("headline-rates", chart, caption, legend)]


def rate_chart(summary: Document) -> Rates | None:
    """The chart of the groups' first rate; None where no group has one."""
    rate = summary["headline"]
    measured = [group for group in (rate["groups"] if rate else []) if group["value"] is not None]
    if not measured:
        return None
    keys = [metric["key"] for metric in summary["table"]["metrics"]]
    at = keys.index(rate["metric"]) if rate["metric"] in keys else None
    marks = {} if at is None else {g["label"]: g["apart"][at] for g in summary["table"]["groups"]}
    impact = summary["impact_ratio"] if rate["metric"] == "selection_rate" else None
    return Rates(
        f"{capitalized(rate['name'])} by group",
        [
            Rate(
                group["label"],
                **{part: group[part] for part in ("value", "low", "high", "rows")},
                kind=SIDES[marks[group["label"]]] if group["label"] in marks else None,
            )
            for group in measured
        ],
        rate["overall"],
        limit=MAX_DRAWN,
        always=_groups_mentioned(summary) if impact else frozenset(),
        greatest=1.0 if rate["is_rate"] else None,
        is_rate=rate["is_rate"],
        line_at=None if impact is None else impact["line"] * impact["highest_rate"],
    )
