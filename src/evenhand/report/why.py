"""The report of an account: the gap and its parts, by columns and strata where there are any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand._words import capitalized, number, percent
from evenhand.report.blocks import Cell, Figure, Head, Report, Row, Section, Table, Text
from evenhand.report.charts import Step, Waterfall
from evenhand.report.formats import amount, gap, key, name, phrase, words

Document = Mapping[str, Any]

CAPTION = (
    "Bars are parts of the gap, from one group's value to the other's; lines are their intervals."
)
MAX_STRATA = 30


def report_of(document: Document) -> Report:
    """The report of the document of an `Account`."""
    parts = _parts(document)
    first, second = (name(group["label"]) for group in document["groups"])
    blocks = [parts, Figure("waterfall", waterfall(document), CAPTION)]
    notes = [Text(note, "quiet") for note in document["notes"]]
    sections = [
        Section("parts", "What the gap is made of", [*blocks, Text(document["caution"]), *notes])
    ]
    if document["columns"]:
        table = _table_of_parts(document, "columns", "Column", "Part of the composition")
        sections.append(Section("columns", "Which columns", [table]))
    if document["strata"]:
        sections.append(Section("strata", "Where groups differ", [_strata(document)]))
    if document["regions"]:
        sections.append(Section("regions", "Which scores the gap comes from", [_regions(document)]))
    if document["proxies"]:
        sections.append(Section("proxies", "Which columns predict the group", _proxies(document)))
    return Report(
        kind="account",
        brand="account",
        title=f"Why {first} and {second} differ: {phrase(document['criterion'])}",
        lede=document["sentence"],
        about=[],
        sections=sections,
        version=document["evenhand"],
        notebook=[parts],
    )


def charts(document: Document) -> dict[str, Any]:
    """The parts as steps from one group's value to the other's."""
    return {"waterfall": waterfall(document)}


def waterfall(document: Document) -> Waterfall:
    """The chart of an account."""
    first, second = document["groups"]
    steps = [
        Step(title_of(part, document), part["value"], part["low"], part["high"])
        for part in document["parts"]
    ]
    return Waterfall(
        words(document["criterion"]),
        (second["label"], second["value"]),
        steps,
        (first["label"], first["value"]),
        document["is_rate"],
    )


def title_of(part: Mapping[str, Any], document: Document) -> str:
    """A part in a word or two."""
    titles = {
        "composition": f"Composition by {part['words']}",
        "within": "Among people alike",
        "outside": "No counterpart",
    }
    plain = part["words"] if part in document["columns"] else capitalized(part["words"])
    return titles.get(part["name"], plain)


def _parts(document: Document) -> Table:
    return _table_of_parts(document, "parts", "Differences", "Part of the gap")


def _table_of_parts(document: Document, which: str, first: str, second: str) -> Table:
    level = f"{100 * document['confidence']:g}% interval"
    heads = [Head(first), Head(second, True, "part"), Head(level, True, "interval")]
    heads.append(Head("Share of the gap", True, "share"))
    rows = [_row(document, part, title_of(part, document)) for part in document[which]]
    foot = [_row(document, document["gap"], "The gap")] if which == "parts" else []
    return Table(capitalized(which), heads, rows, foot, kind="cards")


def _row(document: Document, part: Mapping[str, Any], label: str) -> Row:
    total, value = document["gap"]["value"], part["value"]
    share = "–" if not total else f"{round(100 * value / total)}%".replace("-", "−")
    cells = [Cell(label), Cell(gap(value, document["is_rate"]), key(value))]
    return Row([*cells, Cell(_ends(document, part), key(part["low"])), Cell(share, key(value))])


def _ends(document: Document, part: Mapping[str, Any]) -> str:
    is_rate = document["is_rate"]
    if part["low"] is None:
        return "–"
    if is_rate:
        ends = [f"{100 * part[end]:.1f}".replace("-", "−") for end in ("low", "high")]
    else:
        ends = [number(part["low"], toward=-1), number(part["high"], toward=1)]
    return f"{ends[0]} to {ends[1]}"


def _proxies(document: Document) -> list[Any]:
    level = f"{100 * document['confidence']:g}% interval, all at once"
    heads = [Head("Column"), Head("AUC alone", True, "AUC")]
    heads.append(Head("AUC of the others", True, "others' AUC"))
    heads += [Head("Part of the gap, alone", True, "part"), Head(level, True, "interval")]
    rows = []
    for column in document["proxies"]:
        areas = [
            Cell(f"{column[area]:.2f}", key(column[area])) for area in ("area", "area_without")
        ]
        part = Cell(gap(column["value"], document["is_rate"]), key(column["value"]))
        rows.append(Row([Cell(name(column["name"])), *areas, part, Cell(_ends(document, column))]))
    text = (
        f"All columns together predict the group with an AUC of {document['area']:.2f} (0.5 is by "
        "chance, 1 always)."
    )
    return [Text(text), Table("Proxies", heads, rows, kind="cards")]


def _strata(document: Document) -> Table:
    is_rate = document["is_rate"]
    heads = [Head(" × ".join(document["by"]))]
    for group in document["groups"]:
        heads += [Head(f"Rows: {name(group['label'])}", True), Head(name(group["label"]), True)]
    level = f"{100 * document['confidence']:g}% interval, all at once"
    heads += [Head("Part of the gap", True, "part"), Head(level, True, "interval")]
    rows = []
    for stratum in document["strata"][:MAX_STRATA]:
        cells = [Cell(name(stratum["name"]))]
        for count, value in zip(stratum["rows"], stratum["values"], strict=True):
            cells += [Cell(f"{count:,}", key(count)), Cell(amount(value, is_rate), key(value))]
        cells.append(Cell(gap(stratum["value"], is_rate), key(stratum["value"])))
        cells.append(Cell(_ends(document, stratum), key(stratum["low"])))
        rows.append(Row(cells))
    hidden = len(document["strata"]) - len(rows)
    more = f"{hidden:,} more, with smaller parts, are in to_frame('strata')." if hidden > 0 else ""
    return Table("Strata", heads, rows, kind="cards", more=more, elastic="stratum")


def _regions(document: Document) -> Table:
    heads = [Head("Scores"), Head("Where")]
    heads += [Head(f"Share of {name(group['label'])}", True) for group in document["groups"]]
    level = f"{100 * document['confidence']:g}% interval, all at once"
    heads += [Head("Part of the gap", True, "part"), Head(level, True, "interval")]
    rows = []
    for region in document["regions"]:
        cells = [Cell(region["name"], key(region["span"][0])), Cell(region["words"])]
        cells += [Cell(percent(share), key(share)) for share in region["shares"]]
        cells.append(Cell(gap(region["value"], document["is_rate"]), key(region["value"])))
        rows.append(Row([*cells, Cell(_ends(document, region), key(region["low"]))]))
    return Table("Scores", heads, rows, kind="cards")
